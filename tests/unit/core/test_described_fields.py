"""What clients show of fields, users and versions."""

from __future__ import annotations

import json
from importlib import metadata

import pytest

from core.caller import MAX_USER_CHARACTERS, Caller
from core.contracts.common import API_VERSION
from core.contracts.field_names import describe_fields
from core.load_file.field_mapping import FIELDS
from tools.openapi import DOCUMENT, TITLE

CLAIMS = {"tenant": "acme", "sub": "ada"}


def test_each_field_that_a_column_can_have_is_described() -> None:
    described = describe_fields()
    assert set(described["enum"]) == {each["const"] for each in described["oneOf"]} == FIELDS
    for each in described["oneOf"]:
        assert each["title"]
        assert each["title"][0].isupper()
        assert each["description"].endswith(".")
    schemas = json.loads(DOCUMENT.read_text(encoding="utf-8"))["components"]["schemas"]
    assert schemas["FieldName"]["oneOf"] == described["oneOf"]
    for name in ("Options", "SingleFileOptions"):
        columns = schemas[name]["properties"]["columns"]
        assert columns["additionalProperties"] == {"$ref": "#/components/schemas/FieldName"}


def test_the_version_is_that_of_the_package() -> None:
    assert metadata.version(TITLE) == API_VERSION


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("ada@example.com", "ada@example.com"),
        (" Ada Lovelace ", "Ada Lovelace"),
        ("👍", "👍"),
        ("x" * 300, "x" * MAX_USER_CHARACTERS),
        (None, None),
        ("", None),
        ("a\nb", None),
        ("\u202e", None),
    ],
)
def test_a_name_is_what_the_claim_says_as_far_as_it_can_be_shown(claim: str | None, name: str | None) -> None:
    assert Caller.from_claims({**CLAIMS, "email": claim}, "tenant", name_claim="email").user_name == name
    assert Caller.from_claims(CLAIMS, "tenant").user_name is None
