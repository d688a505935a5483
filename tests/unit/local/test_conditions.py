"""What a template's conditions leave is what CloudFormation would make of it with the parameters' defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.errors import TemplateError
from local.template.conditions import apply_conditions
from local.template.intrinsics import load_document

PARAMETERS = {"Kind": "", "Size": 2, "AWS::Region": "us-east-1"}


@pytest.fixture
def after(tmp_path: Path) -> Any:
    """What is left of a template that is written so."""

    def read(text: str) -> dict[str, Any]:
        (tmp_path / "t.yaml").write_text(text, encoding="utf-8")
        return apply_conditions(load_document(tmp_path / "t.yaml"), PARAMETERS)

    return read


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ('!Equals [!Ref Kind, ""]', True),
        ('!Not [!Equals [!Ref Kind, ""]]', False),
        ('!Equals [!Ref Size, "2"]', True),
        ('!Equals [!Sub "${AWS::Region}a", us-east-1a]', True),
        ("!And [!Equals [a, a], !Equals [a, b]]", False),
        ("!Or [!Equals [a, b], !Condition Other]", True),
    ],
)
def test_a_resource_is_there_if_its_condition_holds(after: Any, rule: str, holds: bool) -> None:
    left = after(
        f"Conditions:\n  Requested: {rule}\n  Other: !Equals [a, a]\n"
        "Resources:\n  Always: {Type: A}\n  Sometimes: {Type: A, Condition: Requested}\n"
    )
    assert ("Sometimes" in left["Resources"]) is holds
    assert "Always" in left["Resources"]


def test_an_if_is_what_it_chooses_however_deep(after: Any) -> None:
    left = after(
        "Conditions: {Right: !Equals [a, a], Wrong: !Equals [a, b]}\n"
        "Resources:\n  It:\n    Type: A\n    Properties:\n"
        "      Name: !If [Right, !If [Wrong, x, !Ref Kind], z]\n"
        "      List: [!If [Wrong, x, !Ref AWS::NoValue], y]\n"
        "      Gone: !If [Right, !Ref AWS::NoValue, x]\n"
    )
    assert left["Resources"]["It"]["Properties"] == {"Name": {"Ref": "Kind"}, "List": ["y"]}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Resources: {It: {Type: A, Condition: Nowhere}}", "Nowhere"),
        ("Conditions: {C: !Equals [!Ref It, x]}\nResources: {It: {Type: A, Condition: C}}", "It"),
        ("Conditions: {C: !FindInMap [A, B, C]}\nResources: {It: {Type: A, Condition: C}}", "FindInMap"),
    ],
)
def test_what_cannot_be_decided_is_named(after: Any, text: str, named: str) -> None:
    with pytest.raises(TemplateError, match=named):
        after(text)
