"""What a sender's letter says, compared with what came."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest

from exhibit_ingest.import_request import Expected
from exhibit_ingest.importing.expectations import Difference, list_differences, print_differences
from exhibit_ingest.importing.expected_arguments import parse_expected
from exhibit_ingest.importing.result import BatesRange, ImportResult
from tests.unit.exhibit_ingest.import_states import state

FILES = {"nativesLinked": 1_292, "textsLinked": 300}
PAGES = {"linesSeen": 520, "rejected": 20}
ROWS = ImportResult(
    Path("a.dat"),
    state(imported=200, unchanged=90, updated=10, rejected=5, details={"files": FILES}),
    None,
    1.0,
    bates=BatesRange("SMITH0000001", "SMITH0000520"),
)
IMAGES = ImportResult(Path("a.opt"), state(imported=9, details={"pages": PAGES}), None, 1.0)
BROKEN = ImportResult(Path("a.dat"), None, "the server has gone away", 1.0)


@pytest.mark.parametrize(
    ("text", "bates"),
    [
        ("bates=SMITH0000001-SMITH0000520", ("SMITH0000001", "SMITH0000520")),
        ("bates=ABC-001-ABC-520", ("ABC-001", "ABC-520")),
        ("bates=A-1-000001-A-1-000520", ("A-1-000001", "A-1-000520")),
        ("bates=A001-B520", ("A001", "B520")),
    ],
)
def test_a_range_is_split_between_ends_of_one_form(text: str, bates: tuple[str, str]) -> None:
    assert parse_expected(text) == Expected(bates=bates)


def test_counts_and_a_range_are_read() -> None:
    text = "documents=300, pages=520,natives=292,texts=0,bates=A1-A9"
    assert parse_expected(text) == Expected(300, 520, 292, 0, ("A1", "A9"))


@pytest.mark.parametrize(
    "text", ["", "documents", "documents=", "documents=-1", "rows=3", "bates=A-B", "bates=A1", "pages=1,pages=1"]
)
def test_anything_else_is_wrong_usage(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        parse_expected(text)


@pytest.mark.parametrize(
    ("text", "differences"),
    [
        ("documents=300,pages=500,natives=1292,texts=300,bates=SMITH0000001-SMITH0000520", []),
        ("documents=305", [Difference("documents", 305, 300)]),
        ("pages=520", [Difference("pages", 520, 500)]),
        ("natives=1293,texts=301", [Difference("natives", 1293, 1292), Difference("texts", 301, 300)]),
        ("bates=A1-A9", [Difference("bates", "A1-A9", "SMITH0000001-SMITH0000520")]),
    ],
)
def test_what_differs_is_named(text: str, differences: list[Difference]) -> None:
    assert list_differences(parse_expected(text), [ROWS, IMAGES]) == differences


def test_of_a_file_that_did_not_come_nothing_is_found() -> None:
    found = list_differences(parse_expected("documents=0,bates=A1-A9"), [BROKEN])
    assert found == [Difference("documents", 0, None), Difference("bates", "A1-A9", None)]


def test_a_load_file_alone_is_compared_by_the_paths_that_it_names() -> None:
    alone = ImportResult(Path("a.dat"), state(details={"storedPaths": {"natives": 3, "texts": 0}}), None, 1.0)
    assert list_differences(parse_expected("natives=3,texts=0"), [alone]) == []


def test_differences_are_a_table_for_people() -> None:
    output = io.StringIO()
    print_differences([Difference("documents", 1_300, 300), Difference("bates", "A1-A9", None)], output)
    assert [" ".join(line.split()) for line in output.getvalue().splitlines() if "A1" in line or "1,300" in line] == [
        "documents 1,300 300",
        "bates A1-A9 nothing",
    ]
