"""The OpenAPI document is what the handlers say, names every route, and every answer keeps to it."""

from __future__ import annotations

import json
import os
import re
from typing import Any
from zlib import crc32

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi import checks

from tests.integration.api.conftest import Matter
from tests.support.api import TOKENS, template
from tests.support.api_wsgi import application
from tools import openapi

DOCUMENT: dict[str, Any] = json.loads(openapi.DOCUMENT.read_text(encoding="utf-8"))
EXAMPLES = 250 if os.environ.get("RACE_COUNTS") == "full" else 25
NOT_OURS = [
    # API Gateway answers a method that a path does not have with 404, and names no others.
    checks.unsupported_method,
    # A schema cannot say all that is refused: control characters in names, a key that is taken, a stale version.
    checks.positive_data_acceptance,
]
schema = schemathesis.openapi.from_dict(DOCUMENT)
schema.app = application


@schema.auth()
class Bearer:
    """A token of the tenant whose case the examples meet."""

    def get(self, _case: Case[Any], _context: object) -> str:
        """A token."""
        return TOKENS.issue("acme", "ada")

    def set(self, case: Case[Any], data: str, _context: object) -> None:
        """Into the header."""
        case.headers["Authorization"] = f"Bearer {data}"


def test_the_committed_document_is_up_to_date() -> None:
    assert openapi.main(["--check"]) == 0


def test_an_outdated_document_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "openapi.json").write_text("{}")
    monkeypatch.setattr(openapi, "DOCUMENT", tmp_path / "openapi.json")
    assert openapi.main(["--check"]) == 1


def test_the_template_has_the_documents_routes() -> None:
    routes = {(route.method.lower(), re.sub(r"{\w+}", "{}", route.path)) for route in template().routes}
    documented = {
        (method, re.sub(r"{\w+}", "{}", path))
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
    }
    assert routes == documented


def test_every_post_requires_a_key_and_no_get_has_one() -> None:
    for operations in DOCUMENT["paths"].values():
        for method, operation in operations.items():
            keys = [p["required"] for p in operation.get("parameters", []) if p["name"] == "Idempotency-Key"]
            assert keys == {"post": [True], "get": [], "patch": [False], "delete": [False]}[method]


def meeting(case: Case[Any], acme: Matter) -> Case[Any]:
    """Half of what is well asked for exists: else all answers would be 404."""
    if case.meta is None or case.meta.generation.mode is GenerationMode.NEGATIVE or heads(case):
        return case
    if "exhibitId" in case.path_parameters:
        case.path_parameters["exhibitId"] = acme.exhibits[0]
    if "case" in case.query:
        case.query["case"] = acme.name
    if isinstance(case.body, dict) and "exhibitIds" in case.body:
        case.body["exhibitIds"] = list(acme.exhibits)
    return case


def heads(case: Case[Any]) -> bool:
    """A coin that falls alike for the same case."""
    return crc32(repr((case.path_parameters, case.query, case.body)).encode("utf-8", "replace")) % 2 == 0


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_every_answer_keeps_to_the_document(case: Case[Any], acme: Matter) -> None:
    meeting(case, acme).call_and_validate(excluded_checks=NOT_OURS)
