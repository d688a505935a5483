"""What a replacement production lacks is counted, and the first documents are named."""

from __future__ import annotations

from core.checks.bates_entry import BatesEntry
from core.checks.bates_sweep import CASE, DOCUMENT
from core.checks.findings import MAX_LISTED, FactNames, Finding
from core.checks.lacking_documents import LackingDocuments


def entry(number: int, line: int = 0) -> BatesEntry:
    """A document of one page, of the file if it has a line."""
    return BatesEntry("", "A", number, number, line, DOCUMENT if line else CASE, 3, "")


def find(file: set[int], case: set[int]) -> list[Finding]:
    """The findings of a series; the file has the documents with these numbers on the lines of the same number."""
    lacking = LackingDocuments(FactNames(bates_begin="BEGDOC"))
    for number in sorted(file | case):
        # A document of the case under another control number has the same numbers.
        if number in case:
            lacking.add_case(entry(number))
        if number in file:
            lacking.add_document(entry(number, number))
    return list(lacking.end())


def test_the_documents_between_those_of_the_file_are_named() -> None:
    (finding,) = find({10, 11, 13, 15}, {9, 12, 14, 16})
    assert (finding.line, finding.column, finding.control_number) == (10, "BEGDOC", "A010")
    assert finding.message == (
        "Line 10: the case has 2 documents with numbers between A010 and A015 that this file lacks: A012, A014. "
        "If the file replaces an earlier production, ask the sender whether they were withdrawn."
    )


def test_a_number_that_the_file_has_under_another_id_is_not_lacking() -> None:
    assert find({10, 11, 12}, {11}) == []


def test_a_part_of_a_production_is_not_a_replacement() -> None:
    assert find({10, 20}, {11, 12, 13}) == []


def test_the_list_is_bounded_and_the_count_is_not() -> None:
    (finding,) = find(set(range(0, 200, 2)), set(range(1, 199, 2)))
    assert "the case has 99 documents" in finding.message
    assert f"and {99 - MAX_LISTED} more. If" in finding.message
