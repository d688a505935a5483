"""CloudFormation's functions give what CloudFormation would give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.errors import TemplateError
from local.template.intrinsics import get_referenced_id, load_document, resolve


def lookup(name: str, attribute: str | None) -> str:
    return f"<{name}.{attribute}>" if attribute else f"<{name}>"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!Ref A", "<A>"),
        ("!GetAtt A.B.C", "<A.B.C>"),
        ("!GetAtt [A, B]", "<A.B>"),
        ("{Ref: A}", "<A>"),
        ("!Sub 'x-${A}-${A.B}-${!kept}'", "x-<A>-<A.B>-${kept}"),
        ("!Sub ['${Own}/${A}', {Own: !Ref B}]", "<B>/<A>"),
        ("!Join ['-', [a, !Ref A]]", "a-<A>"),
        ("[plain, !Ref A]", ["plain", "<A>"]),
        ("{key: !Ref A}", {"key": "<A>"}),
        ("12", 12),
    ],
)
def test_a_value_is_resolved(tmp_path: Path, text: str, value: Any) -> None:
    (tmp_path / "t.yaml").write_text(f"value: {text}")
    assert resolve(load_document(tmp_path / "t.yaml")["value"], lookup) == value


def test_a_function_that_is_not_understood_is_refused_when_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("value: !FindInMap [A, B, C]")
    document = load_document(tmp_path / "t.yaml")
    with pytest.raises(TemplateError, match="FindInMap"):
        resolve(document["value"], lookup)


def test_only_a_reference_has_a_target() -> None:
    assert get_referenced_id({"Fn::GetAtt": ["Queue", "Arn"]}) == "Queue"
    with pytest.raises(TemplateError):
        get_referenced_id("arn:aws:sqs:us-east-1:1:Queue")


@pytest.mark.parametrize("text", ["- no mapping", "{unclosed"])
def test_a_file_that_is_no_template_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.yaml").write_text(text)
    with pytest.raises(TemplateError, match=r"t\.yaml"):
        load_document(tmp_path / "t.yaml")
