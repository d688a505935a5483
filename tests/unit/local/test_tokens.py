"""The secret that tokens are signed with, and where the tenant stands in them; what is refused: tests/torture."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

from core.caller import EVERY_CASE
from local.gateway.tokens import Tokens
from local.private_files import read_or_create_secret
from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template


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


def test_tenant_and_roles_stand_where_the_functions_of_the_template_look(tmp_path: Path) -> None:
    template = Template.load(DEFAULT_TEMPLATE)
    looked_for = template.environment("ImportsApiFunction", "http://127.0.0.1:1")
    tokens = Tokens.load(tmp_path, template)
    claims = tokens.check(tokens.issue("acme", "ada", roles=("viewer", "editor")))
    assert claims[looked_for["TENANT_CLAIM"]] == "acme"
    assert claims[looked_for["ROLES_CLAIM"]] == ["viewer", "editor"]
    assert tokens.check(tokens.issue("acme", "ada"))[looked_for["ROLES_CLAIM"]] == ["admin"]
    assert looked_for["ROLES_CLAIM"] not in tokens.check(tokens.issue("acme", "ada", roles=None))
    assert looked_for["DEFAULT_ROLE"] == "viewer"


def test_tokens_have_what_the_parameters_of_the_template_require(tmp_path: Path) -> None:
    template = Template.load(DEFAULT_TEMPLATE)
    required = {**template.parameters, "RolesPrefix": "app:", "CasesRequired": "true"}
    plain, strict = (Tokens.load(tmp_path, each) for each in (template, replace(template, parameters=required)))
    claims = strict.check(strict.issue("acme", "ada"))
    assert (claims["cognito:groups"], claims["custom:cases"]) == (["app:admin"], EVERY_CASE)
    assert strict.check(strict.issue("acme", "ada", cases=["A"]))["custom:cases"] == '["A"]'
    assert "custom:cases" not in plain.check(plain.issue("acme", "ada"))
