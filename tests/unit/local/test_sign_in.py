"""The local sign-in gives a token for the key, or for the cookie that it set, and to no other page of the browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local.gateway.events import HttpRequest, HttpResponse
from local.gateway.sign_in import SIGN_IN_PATH, SignIn
from local.gateway.tokens import Tokens

TOKENS = Tokens("s" * 32)
KEY = "k" * 32
HOST = "127.0.0.1:8700"
PERSON = {"tenant": "acme", "user": "ada", "role": "viewer"}


def sign_in(body: Any, **headers: str) -> HttpResponse:
    """Send a request to sign in; a header of an empty value is left out."""
    every = {"host": HOST, "content-type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    pairs = [(name, value) for name, value in every.items() if value]
    return SignIn(TOKENS, lambda: KEY).handle(HttpRequest("POST", SIGN_IN_PATH, "", pairs, raw, "127.0.0.1"))


def test_the_key_gives_a_token_of_the_person_and_a_cookie_that_does_it_again() -> None:
    first = sign_in({**PERSON, "key": KEY}, origin=f"http://{HOST}")
    assert first.status == 200
    claims = TOKENS.check(json.loads(first.body)["idToken"])
    assert (claims["custom:tenant_id"], claims["sub"], claims["cognito:groups"]) == ("acme", "ada", ["viewer"])
    cookie, *attributes = dict(first.headers)["set-cookie"].split("; ")
    assert set(attributes) == {"HttpOnly", "SameSite=Strict", f"Path={SIGN_IN_PATH}"}
    assert sign_in({**PERSON, "key": ""}, cookie=f"other=1; {cookie}").status == 200
    assert sign_in({**PERSON, "key": ""}, cookie=cookie, host="127.0.0.1:8701").status == 401


@pytest.mark.parametrize(
    ("changes", "headers", "status"),
    [
        ({"key": "x" * 32}, {}, 401),
        ({"key": ""}, {}, 401),
        ({"key": None}, {"cookie": "exhibit-ingest-8700="}, 401),
        ({"key": 7}, {}, 401),
        ({}, {"origin": "http://evil.example"}, 403),
        ({}, {"origin": "http://127.0.0.1:8701"}, 403),
        ({}, {"host": "evil.example:8700"}, 403),
        ({}, {"content_type": "text/plain"}, 400),
        ({"role": "owner"}, {}, 400),
        ({"role": ["admin"]}, {}, 400),
        ({"tenant": ""}, {}, 400),
        ({"user": "u" * 65}, {}, 400),
    ],
)
def test_any_other_request_gets_no_token(changes: dict[str, Any], headers: dict[str, str], status: int) -> None:
    response = sign_in({**PERSON, "key": KEY, **changes}, **headers)
    assert (response.status, b"idToken" in response.body) == (status, False)
    assert "set-cookie" not in dict(response.headers)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff"])
def test_a_body_that_is_no_request_is_refused(body: bytes) -> None:
    assert sign_in(body).status == 400
