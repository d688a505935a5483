"""Only tokens that were made here, for this API, and that still hold, are taken."""

from __future__ import annotations

import base64
import json
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import jwt
import pytest

from local.gateway.tokens import InvalidTokenError, Tokens, read_or_create_secret
from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template

SECRET = "s" * 64
OURS = Tokens(SECRET, "https://issuer", "audience", "custom:tenant_id")


def signed(secret: str = SECRET, algorithm: str = "HS256", **changes: Any) -> str:
    claims = {"iss": "https://issuer", "aud": "audience", "sub": "ada", "custom:tenant_id": "acme"}
    given = claims | {"exp": int(time.time()) + 60} | changes
    return jwt.encode({name: value for name, value in given.items() if value is not None}, secret, algorithm=algorithm)


def with_claims(token: str, **changes: Any) -> str:
    """The token with other claims under its old signature."""
    head, body, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "==")) | changes
    return ".".join((head, base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("="), signature))


def test_a_token_of_ours_names_tenant_and_user() -> None:
    claims = OURS.check(OURS.issue("acme", "ada"))
    assert (claims["custom:tenant_id"], claims["sub"]) == ("acme", "ada")
    assert 3590 < claims["exp"] - time.time() <= 3600


def test_what_the_other_tests_change_is_all_that_is_wrong_with_it() -> None:
    assert OURS.check(signed())["sub"] == "ada"


# Made when they are used: a token's text tells its second, and two workers would not agree on the tests' names.
WRONG: dict[str, Callable[[], str]] = {
    "none": lambda: "",
    "no token": lambda: "nonsense",
    "looks like one": lambda: "a.b.c",
    "expired": lambda: signed(exp=int(time.time()) - 1),
    "endless": lambda: signed(exp=None),
    "for another audience": lambda: signed(aud="another"),
    "for no audience": lambda: signed(aud=None),
    "of another issuer": lambda: signed(iss="https://another"),
    "of no issuer": lambda: signed(iss=None),
    "for nobody": lambda: signed(sub=None),
    "not valid yet": lambda: signed(nbf=int(time.time()) + 60),
    "signed by another": lambda: signed(secret="t" * 64),
    "signed with another algorithm": lambda: signed(algorithm="HS512"),
    "not signed": lambda: signed(secret="", algorithm="none"),
    "tampered with": lambda: with_claims(signed(), **{"custom:tenant_id": "another"}),
    "cut": lambda: signed()[:-4],
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_token_that_is_wrong_in_one_thing_is_refused(kind: str) -> None:
    with pytest.raises(InvalidTokenError):
        OURS.check(WRONG[kind]())


def test_a_token_ends_to_the_second() -> None:
    with pytest.raises(InvalidTokenError, match="expired"):
        OURS.check(OURS.issue("acme", "ada", lifetime_s=0))


def test_only_its_owner_can_read_the_secret(tmp_path: Path) -> None:
    path = tmp_path / "state" / "secret"
    secret = read_or_create_secret(path)
    assert len(secret) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_or_create_secret(path) == secret


def test_commands_that_start_together_agree_on_the_secret(tmp_path: Path) -> None:
    start = Barrier(8)

    def ask(_: int) -> str:
        start.wait()
        return read_or_create_secret(tmp_path / "secret")

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_the_tenant_stands_where_the_functions_of_the_template_look(tmp_path: Path) -> None:
    template = Template.load(DEFAULT_TEMPLATE)
    looked_for = template.environment("ImportsApiFunction", "http://127.0.0.1:1")["TENANT_CLAIM"]
    tokens = Tokens.load(tmp_path, template)
    assert tokens.check(tokens.issue("acme", "ada"))[looked_for] == "acme"
