"""Every difference between ranges and pages is found, none is invented, whatever the chunks and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.checks.page_facts import (
    DocumentPages,
    PageRow,
    PageRun,
    build_runs,
    pack_documents,
    pack_rows,
    unpack_documents,
    unpack_rows,
)
from core.checks.page_findings import LISTED_INTERVALS, PageFinding
from core.errors import UnavailableError
from shell.imports.pages.merge import find_page_findings
from tests.unit.shell.page_reference import Document, Found, Page, find_differences

_PAGE = re.compile(r"pages? (\S+)(?: to (\S+))? under")
_OTHER = re.compile(r"in document (\S+) \(line")
_MISSING = re.compile(r"Missing: (.*) \([0-9,]+ pages?\)\.")


def find(rows: Sequence[PageRow], documents: Sequence[DocumentPages], *, size: int = 100) -> list[PageFinding]:
    """Return the findings of files that are cut into chunks, of which the last comes first."""
    parts = [pack_rows(rows[start : start + size]) for start in range(0, len(rows), size)]
    others = [pack_documents(documents[start : start + size]) for start in range(0, len(documents), size)]
    with TemporaryDirectory() as folder:
        found = find_page_findings(
            ((0, part) for part in reversed(parts)), ((True, part) for part in reversed(others)), folder, 3
        )
        return list(found)


def build(document: Document) -> DocumentPages:
    """Return the facts of a document that has a line for each page."""
    runs = build_runs((page.key, page.line) for page in document.pages)
    return DocumentPages(document.line, document.key, len(document.pages), None, len(document.pages) == 1, False, runs)


def one_file(line: int, key: str, pages: int | None, frames: int | None = None) -> DocumentPages:
    """Return the facts of a document that is one line."""
    return DocumentPages(line, key, pages, frames, True, False, [PageRun(key, 1, line)])


def normalise(findings: Iterable[PageFinding]) -> Found:
    """Return the findings as the reference has them: a page each."""
    return {each for finding in findings for each in _normalise(finding)}


def _normalise(finding: PageFinding) -> Iterable[tuple[object, ...]]:
    code, message = finding.code.value, finding.message
    pages = _PAGE.search(message)
    if code == "PAGES_MISSING":
        listed = _MISSING.search(message)
        assert listed
        return [(code, finding.line, finding.document, frozenset(_expand(listed[1])))]
    if pages and code == "PAGE_OF_OTHER_DOCUMENT":
        other = _OTHER.findall(message)
        return [(code, finding.line + index, other[-1]) for index in range(len(_expand_pair(*pages.groups())))]
    if pages and "no document of the data file" in message:
        return [(f"{code} outside", finding.line + index) for index in range(len(_expand_pair(*pages.groups())))]
    if " comes after " in message:
        return [(f"{code} order", finding.line)]
    return [(code, finding.line, *([finding.document] if code == "PAGE_COUNT_DIFFERS" else []))]


def _expand(text: str) -> list[tuple[str, int]]:
    return [number for part in text.split(", ") for number in _expand_pair(*part.split(" to "))]


def _expand_pair(first: str | None, last: str | None = None) -> list[tuple[str, int]]:
    assert first
    numbers = [re.fullmatch(r"([A-Z]+)([0-9]+)", each) for each in (first, last or first)]
    assert all(numbers)
    begin, end = ((found[1], int(found[2])) for found in numbers if found)
    return [(begin[0], number) for number in range(begin[1], end[1] + 1)]


@st.composite
def files(draw: st.DrawFn) -> tuple[list[PageRow], list[Document]]:
    """Rows whose ranges mostly follow each other, and documents that mostly have their pages."""
    rows: list[PageRow] = []
    documents: list[Document] = []
    number, line = 1, 1
    moved: list[str] = []
    for row_line in range(2, 2 + draw(st.integers(1, 7))):
        number = max(1, number + draw(st.sampled_from([0, 0, 0, 0, 2, -2])))
        prefix, size = draw(st.sampled_from("AAAB")), draw(st.integers(1, 5))
        begin, end = f"{prefix}{number:03d}", f"{prefix}{number + size - 1:03d}"
        count = draw(st.sampled_from([None, size, size, size + 1]))
        if begin not in {row.control_number for row in rows}:
            rows.append(PageRow(row_line, begin, begin, end, count))
        keys = [f"{prefix}{each:03d}" for each in range(number, number + size)]
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            place = draw(st.integers(1, len(keys)))
            other = f"{draw(st.sampled_from('AB'))}{draw(st.integers(1, 30)):03d}"
            keys[place : place + draw(st.integers(0, 2))] = draw(st.sampled_from([[], [other]]))
        keys, moved = keys + moved, []
        # The last page of a document is listed under the next one.
        if len(keys) > 2 and draw(st.booleans()):
            moved = [keys.pop()]
        number += size
        if draw(st.integers(0, 5)) and keys[0] not in {each.key for each in documents} and len(keys) > 1:
            documents.append(Document([Page(key, line + index) for index, key in enumerate(keys)]))
            line += len(keys)
    return rows, documents


@settings(max_examples=200, deadline=None)
# A range of one page in a file of such ranges; a key that is repeated before the next one.
@example(([PageRow(2, "A1", "A1", "A1", 1)], [Document([Page("A1", 1), Page("A2", 2)])]), 1)
@example(([PageRow(2, "A1", "A1", "A2", None)], [Document([Page("A1", 1), Page("A1", 2), Page("A2", 3)])]), 1)
@given(files(), st.integers(1, 4))
def test_everything_is_found_that_a_comparison_of_all_pages_finds(
    given_files: tuple[list[PageRow], list[Document]], size: int
) -> None:
    rows, documents = given_files
    facts = [build(document) for document in documents]
    assert normalise(find(rows, facts, size=size)) == find_differences(rows, documents)


def test_the_chunks_and_their_order_do_not_matter() -> None:
    rows = [PageRow(number, f"A{number:03d}", f"A{number:03d}", f"A{number + 2:03d}", 3) for number in range(1, 40, 3)]
    ends = [(row.line, row.bates_begin, row.bates_end) for row in rows]
    documents = [build(Document([Page(first, 2 * line), Page(last, 2 * line + 1)])) for line, first, last in ends]
    assert {tuple(find(rows, documents, size=size)) for size in range(1, 14)} == {tuple(find(rows, documents))}
    assert len(find(rows, documents)) == len(rows)


def test_the_message_says_what_was_stated_and_what_was_found() -> None:
    row = PageRow(2, "PG001", "PG001", "PG003", 3)
    (finding,) = find([row], [build(Document([Page("PG001", 1), Page("PG003", 2)]))])
    assert finding.message == (
        "Line 1: the data file states PG001 to PG003 (3 pages, line 2 of the data file), and the image load file has "
        "2 pages. Missing: PG002 (1 page). Ask the sender for these pages, or for the right range."
    )


@pytest.mark.parametrize(
    ("row", "document", "expected"),
    [
        # One file with as many pages as stated, and one that was not counted.
        (PageRow(2, "A1", "A1", "A5", 5), one_file(1, "A1", 5), []),
        (PageRow(2, "A1", "A1", "A5", 5), one_file(1, "A1", None, 5), []),
        (PageRow(2, "A1", "A1", "A5", 5), one_file(1, "A1", None), ["PAGE_COUNT_DIFFERS"]),
        (PageRow(2, "A1", "A1", "A5", 5), one_file(1, "A1", 5, 4), ["PAGE_COUNT_DIFFERS"]),
        (PageRow(2, "A1", "", "", 5), one_file(1, "A1", None, 1), ["PAGE_COUNT_DIFFERS"]),
        (PageRow(2, "A1", "", "", None), one_file(1, "A1", None), []),
        # A number for each document, and not for each page.
        (PageRow(2, "A1", "A1", "A1", None), one_file(1, "A1", 5), []),
        (PageRow(2, "A1", "A1", "A1", 2), build(Document([Page("A1", 1), Page("A1.0002", 2)])), []),
        (PageRow(2, "A1", "A1", "A1", 3), build(Document([Page("A1", 1), Page("A1.0002", 2)])), ["PAGE_COUNT_DIFFERS"]),
        # Image keys that are not Bates numbers.
        (PageRow(2, "DOC1", "A1", "A2", None), build(Document([Page("DOC1", 1), Page("DOC2", 2)])), []),
        (
            PageRow(2, "DOC1", "A1", "A3", None),
            build(Document([Page("DOC1", 1), Page("DOC2", 2)])),
            ["PAGE_COUNT_DIFFERS"],
        ),
        # The document's key on each line.
        (PageRow(2, "A1", "A1", "A2", None), build(Document([Page("A1", 1), Page("A1", 2)])), []),
        (PageRow(2, "A1", "A1", "A3", None), build(Document([Page("A1", 1), Page("A1", 2)])), ["PAGE_COUNT_DIFFERS"]),
        # A range that is wrong, or has no end, states no pages.
        (PageRow(2, "A1", "A9", "A1", None), build(Document([Page("A1", 1), Page("A2", 2)])), []),
        (PageRow(2, "A1", "A1", "", None), build(Document([Page("A1", 1), Page("A2", 2)])), []),
        (PageRow(2, "A1", "A1", "", None), build(Document([Page("A1", 1), Page("A3", 2)])), ["PAGE_KEY_GAP"]),
        # A key without a number.
        (
            PageRow(2, "A1", "A1", "A2", None),
            build(Document([Page("A1", 1), Page("X", 2)])),
            ["PAGES_MISSING", "PAGE_KEY_GAP"],
        ),
    ],
)
def test_one_document_alone(row: PageRow, document: DocumentPages, expected: list[str]) -> None:
    assert sorted(finding.code.value for finding in find([row], [document])) == expected


def test_a_tiff_counts_as_one_page_where_others_are_listed_page_by_page() -> None:
    rows = [PageRow(2, "A1", "A1", "A2", None), PageRow(3, "A3", "A3", "A4", None)]
    single = DocumentPages(1, "A1", None, None, True, True, [PageRun("A1", 1, 1)])
    assert [each.code for each in find(rows, [single])] == ["PAGE_COUNT_DIFFERS"]
    listed = build(Document([Page("A3", 2), Page("A4", 3)]))
    assert [each.code for each in find(rows, [single, listed])] == ["PAGES_MISSING"]


def test_pages_of_another_import_are_not_missing_and_not_reported() -> None:
    rows = [PageRow(2, "A1", "A1", "A3", None), PageRow(3, "A4", "A4", "A5", None)]
    own, other = build(Document([Page("A1", 1), Page("A2", 2)])), build(Document([Page("A4", 1), Page("A3", 2)]))
    with TemporaryDirectory() as folder:
        packed = [(True, pack_documents([own])), (False, pack_documents([other]))]
        assert not list(find_page_findings([(0, pack_rows(rows))], packed, folder, 100))


def test_a_newer_row_of_a_document_counts() -> None:
    old, new = PageRow(2, "A1", "A1", "A5", None), PageRow(2, "A1", "A1", "A2", None)
    packed = [(1, pack_rows([old])), (0, pack_rows([new]))]
    with TemporaryDirectory() as folder:
        own = pack_documents([build(Document([Page("A1", 1), Page("A2", 2)]))])
        assert not list(find_page_findings(packed, [(True, own)], folder, 100))


def test_ranges_of_one_row_are_apart() -> None:
    first, other = PageRow(2, "C1", "SM1", "SM3", None), PageRow(2, "C1", "PG1", "PG3", None, 1)
    # PG2 is under another document, which does not give SM2 back.
    second = PageRow(3, "C2", "SM4", "SM5", None)
    documents = [
        build(Document([Page("SM1", 1), Page("SM3", 2)])),
        build(Document([Page("SM4", 3), Page("SM5", 4), Page("PG2", 5)])),
    ]
    found = [(each.code, each.line) for each in find([first, other, second], documents)]
    assert found == [("PAGES_MISSING", 1), ("PAGE_OF_OTHER_DOCUMENT", 5)]


def test_a_range_whose_first_number_is_the_key_is_compared() -> None:
    row, other = PageRow(2, "PG1", "SM1", "SM2", None), PageRow(2, "PG1", "PG1", "PG3", None, 1)
    document = build(Document([Page("PG1", 1), Page("PG2", 2)]))
    assert ["PG3" in each.message for each in find([row, other], [document])] == [True]
    # One number for each document does not number pages, whatever the other ranges do.
    row, other = PageRow(2, "C1", "D1", "D1", None), PageRow(2, "C1", "PG1", "PG3", None, 1)
    assert not find([row, other], [one_file(1, "D1", 3)])


def test_a_number_of_the_fields_counts_more_than_another_one() -> None:
    rows = [
        PageRow(2, "C1", "A1", "A2", None),
        PageRow(3, "C2", "B1", "B2", None),
        PageRow(3, "C2", "A1", "A9", None, 1),
    ]
    assert not find(rows, [build(Document([Page("A1", 1), Page("A2", 2)]))])


def test_a_list_in_a_message_is_bounded(tmp_path: Path) -> None:
    row = PageRow(2, "A001", "A001", "A999", None)
    document = build(Document([Page(f"A{number:03d}", number) for number in range(1, 999, 2)]))
    (finding,) = find([row], [document])
    assert finding.message.count("A0") < LISTED_INTERVALS + 5
    assert "more ranges (500 pages)" in finding.message


@settings(max_examples=50)
@given(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 10**9)), max_size=5))
def test_facts_are_unpacked_as_they_were_packed(values: list[tuple[str, int]]) -> None:
    rows = [PageRow(number, text, text, text, None) for text, number in values]
    documents = [one_file(number, text, None, 1) for text, number in values]
    assert unpack_rows(pack_rows(rows)) == rows
    assert unpack_documents(pack_documents(documents)) == documents


def test_facts_of_an_unknown_version_are_refused() -> None:
    with pytest.raises(UnavailableError):
        unpack_rows(b"pages 2\n")


def test_a_run_takes_the_place_of_its_pages() -> None:
    keys = [("A9", 1), ("A10", 2), ("A11", 3), ("A11", 4), ("B12", 5), ("B13", 7)]
    assert build_runs(keys) == [("A9", 3, 1), ("A11", 1, 4), ("B12", 1, 5), ("B13", 1, 7)]
