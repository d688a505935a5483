"""What the reconciliation of pages must find, by comparing every page with every row; for small files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from core.checks.page_facts import PageRow

_NUMBER = re.compile(r"([A-Z]+)([0-9]+)")


class Page(NamedTuple):
    """A page of a document: its key, and its line."""

    key: str
    line: int


class Document(NamedTuple):
    """A document of the image load file, whose key is that of its first page."""

    pages: Sequence[Page]

    @property
    def key(self) -> str:
        """The image key of the document."""
        return self.pages[0].key

    @property
    def line(self) -> int:
        """The line of its first page."""
        return self.pages[0].line


Found = set[tuple[object, ...]]


def _number(key: str) -> tuple[str, int]:
    found = _NUMBER.fullmatch(key)
    assert found
    return found[1], int(found[2])


def _numbers(row: PageRow) -> set[tuple[str, int]]:
    prefix, first = _number(row.bates_begin)
    return {(prefix, number) for number in range(first, _number(row.bates_end)[1] + 1)}


def find_differences(rows: Sequence[PageRow], documents: Sequence[Document]) -> Found:
    """Return what differs, as tuples that begin with the code; rows are found by their begin number."""
    by_key = {row.control_number: row for row in rows}
    found: Found = set()
    elsewhere: dict[str, set[tuple[str, int]]] = {row.control_number: set() for row in rows}
    numbered = [each for each in documents if not _has_one_key(each)]
    for document in (each for each in documents if _has_one_key(each)):
        row = by_key.get(document.key)
        if row:
            size, pages = len(_numbers(row)), len(document.pages)
            expected = row.page_count if row.page_count is not None else size
            if expected != pages and (size > 1 or row.page_count is not None):
                found.add(("PAGE_COUNT_DIFFERS", document.line, row.control_number))
    for document in numbered:
        row = by_key.get(document.key)
        stated = _numbers(row) if row else set()
        for page in document.pages:
            number = _number(page.key)
            if number in stated:
                continue
            other = _find_other(rows, row, number)
            if other is not None:
                elsewhere[other.control_number].add(number)
                found.add(("PAGE_OF_OTHER_DOCUMENT", page.line, other.control_number))
            elif row is not None:
                found.add(("PAGE_KEY_GAP outside", page.line))
    for document in numbered:
        row = by_key.get(document.key)
        found |= _compare(row, document, elsewhere) if row else _find_gaps(document)
        found |= _find_disorder(document, _numbers(row) if row else None)
    return found


def _has_one_key(document: Document) -> bool:
    return len(document.pages) > 1 and len({page.key for page in document.pages}) == 1


def _find_other(rows: Sequence[PageRow], own: PageRow | None, number: tuple[str, int]) -> PageRow | None:
    others = [row for row in rows if row is not own and number in _numbers(row)]
    return min(others, key=lambda row: (-_number(row.bates_end)[1], row.line), default=None)


def _compare(row: PageRow, document: Document, elsewhere: dict[str, set[tuple[str, int]]]) -> Found:
    stated, pages = _numbers(row), [_number(page.key) for page in document.pages]
    missing = stated - set(pages) - elsewhere[row.control_number]
    found: Found = {("PAGES_MISSING", document.line, row.control_number, frozenset(missing))} if missing else set()
    if row.page_count is not None and row.page_count != len(pages) and row.page_count != len(stated):
        found.add(("PAGE_COUNT_DIFFERS", document.line, row.control_number))
    return found


def _find_gaps(document: Document) -> Found:
    pages = [_number(page.key) for page in document.pages]
    pairs = pairwise(pages)
    gaps = any(before[0] == after[0] and after[1] > before[1] + 1 for before, after in pairs)
    return {("PAGE_KEY_GAP", document.line)} if gaps else set()


def _find_disorder(document: Document, stated: set[tuple[str, int]] | None) -> Found:
    """Return the first page that repeats a number or goes back; pages outside of a stated range do not count."""
    pages = [(_number(page.key), page.line) for page in document.pages]
    kept = [each for each in pages if stated is None or each[0] in stated]
    for (before, _), (after, line) in pairwise(kept):
        if before[0] == after[0] and after[1] <= before[1]:
            return {("PAGE_KEY_GAP order", line)}
    return set()
