"""The OpenAPI document is what the handlers say, and names every route; `test_responses.py` asks by it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.exhibit_history import Action
from tests.support.api.client import template
from tools import openapi

DOCUMENT: dict[str, Any] = json.loads(openapi.DOCUMENT.read_text(encoding="utf-8"))


def test_the_committed_document_is_up_to_date(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert openapi.main(["--check"]) == 0
    (tmp_path / "openapi.json").write_text("{}")
    monkeypatch.setattr(openapi, "DOCUMENT", tmp_path / "openapi.json")
    assert openapi.main(["--check"]) == 1, "an outdated one is found"


def test_a_name_of_two_schemas_is_refused() -> None:
    """The history's actions were once those of imports, which another function names the same."""
    schemas = {"Action": {"enum": ["run"]}}
    openapi.add_schemas(schemas, {"Action": {"enum": ["run"]}, "Other": {}})
    with pytest.raises(ValueError, match="Action"):
        openapi.add_schemas(schemas, {"Action": {"enum": ["edited"]}})
    assert set(DOCUMENT["components"]["schemas"]["Action"]["enum"]) == set(Action)


def test_the_template_has_the_documents_routes() -> None:
    routes = {
        (route.method.lower(), re.sub(r"{\w+}", "{}", route.path)) for route in template().routes if not route.is_open
    }
    documented = {
        (method, re.sub(r"{\w+}", "{}", path))
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
    }
    assert routes == documented


# A check is a POST because of its body.
WRITES_NOTHING = {"/productions/check"}


def test_every_post_that_writes_requires_a_key_and_no_get_has_one() -> None:
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            keys = [p["required"] for p in operation.get("parameters", []) if p["name"] == "Idempotency-Key"]
            if path in WRITES_NOTHING:
                method = "get"
            assert keys == {"post": [True], "get": [], "put": [False], "patch": [False], "delete": [False]}[method]
