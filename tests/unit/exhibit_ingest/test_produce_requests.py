"""The selection and the draft of a production, as options and files of users say them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from core.contracts.productions import MAX_EXHIBITS_BY_ID, NewProduction
from core.productions.bates import MAX_DIGITS as MAX_DIGITS_OF_CORE
from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.productions.arguments import MAX_DIGITS
from exhibit_ingest.productions.drafts import MOST_CONTROL_NUMBERS, build_selection, describe_findings


def parse(*arguments: str) -> Namespace:
    return build_parser().parse_args(["produce", "--case", "Case", "--prefix", "P", *arguments])


def test_filters_are_what_the_api_takes() -> None:
    names = ["--custodian", "Ada", "--custodian", "Grace", "--tag", "Hot", "--without-tag", "Privileged"]
    others = ["--import", "7", "--no-native", "--images", "--date-from", "2019-01-31", "--title", "board budget"]
    selection = build_selection(parse(*names, *others, "--include-families"))
    body = {"case": "Case", "volume": "V", "prefix": "P", "digits": 7, **selection}
    query = NewProduction.model_validate(body).query
    assert query is not None
    assert query.model_dump(mode="json", by_alias=True, exclude_defaults=True) == selection["query"]
    assert selection == {
        "query": {
            "custodian": ["Ada", "Grace"],
            "tagTree": ["Hot"],
            "withoutTag": "Privileged",
            "title": "board budget",
            "importId": 7,
            "hasNative": False,
            "hasImages": True,
            "dateFrom": "2019-01-31",
        },
        "includeFamilies": True,
    }
    assert build_selection(parse("--all")) == {"query": {}}


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_has_a_control_number_on_each_line(tmp_path: Path, coding: str) -> None:
    file = tmp_path / "numbers.txt"
    file.write_text("A 1\r\n  Ü-2 \r\n\r\nA 1", encoding=coding)
    assert build_selection(parse("--from-file", str(file))) == {"controlNumbers": ["A 1", "Ü-2"]}
    assert build_selection(parse("B", "A", "B")) == {"controlNumbers": ["B", "A"]}
    both = parse("B", "--from-file", str(file), "A 1")
    assert build_selection(both) == {"controlNumbers": ["B", "A 1", "Ü-2"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no control number"),
        (b"\n \n", "has no control number"),
        (b"\xff", "is not a text"),
        (b"".join(b"%d\n" % number for number in range(10_001)), "are more than 10,000"),
        (b"x" * 50_000_001, "has more than 50 MB"),
    ],
)
def test_a_file_without_a_list_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "numbers.txt"
    file.write_bytes(content)
    with pytest.raises(WrongUsageError, match=message):
        build_selection(parse("--from-file", str(file)))


def test_limits_are_those_of_the_api() -> None:
    assert (MOST_CONTROL_NUMBERS, MAX_DIGITS) == (MAX_EXHIBITS_BY_ID, MAX_DIGITS_OF_CORE)


def test_findings_of_others_do_not_control_the_terminal() -> None:
    finding = {"code": "FILE_MISSING", "blocks": True, "count": 12, "message": "Send them.", "exhibitIds": []}
    numbers = [f"A\x1b[31m{number}" for number in range(11)]
    [line] = describe_findings([{**finding, "controlNumbers": numbers}])
    assert line.startswith("  FILE_MISSING (refuses the production), 12 documents: A\ufffd[31m0, ")
    assert line.endswith(" and 2 more. Send them.")
