"""Merge the facts of a data file and of its image load files into findings.

Guaranteed: the findings are exact, in order of line, and the same in whatever order the chunks come. Pages are compared
with the range of their own document as they come; only those outside of it are looked for in the ranges of all others,
in one pass by series and number. Memory holds one document, the two ranges that reach furthest, and the buffers of the
sorts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, groupby, islice

from core.checks.bates import BatesRange
from core.checks.facts import CELL_END
from core.checks.page_facts import DocumentPages, PageRow, unpack_documents, unpack_rows
from core.checks.page_findings import LISTED_INTERVALS, PageFinding, Stated, describe_missing, show
from core.checks.page_ranges import compare_pages, number_runs, read_stated_range
from core.codes import WarningCode
from shell.imports.pages.entries import (
    BY_BEGIN,
    BY_NUMBER,
    DOCUMENT,
    MissingEntry,
    format_document,
    format_missing,
    format_pages,
    format_range,
    format_row,
    parse_document,
    parse_missing,
    parse_row,
)
from shell.imports.pages.number_pass import NumberPass
from shell.utils.external_sort import ExternalSort

LINES_IN_MEMORY = 50_000
_BATCH = 1_000


class PageMerge:
    """One reconciliation; `folder` is an empty folder for temporary files, which the caller deletes.

    Rows are added first, then documents.
    """

    def __init__(self, folder: str, max_lines: int = LINES_IN_MEMORY) -> None:
        names = ("page_keys", "page_numbers", "pages_missing", "page_findings")
        self._keys, self._numbers, self._missing, self._found = (
            ExternalSort(folder, name, max_lines) for name in names
        )
        self._has_rows = self._lists_pages = False
        # The pairs of columns whose ranges number pages.
        self._by_page = set[int]()

    def add_rows(self, packed: bytes, rank: int) -> None:
        """Add the rows of a chunk; of rows with one control number, that with the lowest rank counts."""
        rows = unpack_rows(packed)
        self._has_rows = self._has_rows or bool(rows)
        self._keys.add([line for row in rows for line in format_row(row, rank)])
        ranges = [(row, read_stated_range(row)) for row in rows]
        self._by_page |= {row.seq for row, stated in ranges if stated and stated.last > stated.first}
        self._numbers.add([format_range(row, stated) for row, stated in ranges if stated])

    def add_documents(self, packed: bytes, *, is_own: bool) -> None:
        """Add the documents of a chunk; `is_own`: findings about them are wanted."""
        documents = unpack_documents(packed)
        self._lists_pages = self._lists_pages or any(not each.is_one_file for each in documents)
        self._keys.add([format_document(each, is_own=is_own) for each in documents])

    def find(self) -> Iterator[PageFinding]:
        """Yield all findings in order of line. Raises OSError if the disk is full."""
        self._keep(self._compare_documents())
        self._keep(NumberPass(self._missing).find(self._numbers))
        self._keep(self._list_missing())
        for batch in self._found.read():
            for line in batch:
                code, at, message, document = json.loads(line.split(CELL_END, 1)[1])
                yield PageFinding(WarningCode(code), at, message, document)

    def _keep(self, findings: Iterable[PageFinding]) -> None:
        remaining = iter(findings)
        while batch := list(islice(remaining, _BATCH)):
            self._found.add([f"{each.line:012d}{CELL_END}{json.dumps(each)}" for each in batch])

    def _compare_documents(self) -> Iterator[PageFinding]:
        """Compare each document with its row, by the key that more documents have."""
        column = self._choose_column()
        for _, lines in self._read_keys():
            rows: list[PageRow] = []
            for kind, rest in lines:
                if kind == DOCUMENT:
                    yield from self._compare(_choose_row(rows, column), *parse_document(rest))
                elif kind == column and len(rows) < 2:
                    _add_row(rows, parse_row(rest), column)

    def _choose_column(self) -> str:
        """Return the column that has more of the keys; the control number if both have equally many."""
        matches = {BY_NUMBER: 0, BY_BEGIN: 0}
        for _, lines in self._read_keys():
            there = set[str]()
            for kind, _ in lines:
                for column in there if kind == DOCUMENT else ():
                    matches[column] += 1
                if kind != DOCUMENT:
                    there.add(kind)
        return BY_BEGIN if matches[BY_BEGIN] > matches[BY_NUMBER] else BY_NUMBER

    def _read_keys(self) -> Iterator[tuple[str, Iterator[Sequence[str]]]]:
        """Yield each key with the kind and the rest of its lines: rows before documents."""
        cells = (line.split(CELL_END, 2) for line in chain.from_iterable(self._keys.read()))
        for key, group in groupby(cells, key=lambda parts: parts[0]):
            yield key, (parts[1:] for parts in group)

    def _compare(self, row: PageRow | None, is_own: bool, document: DocumentPages) -> Iterator[PageFinding]:
        if self._lists_pages and document.is_by_page:
            document = document._replace(pages=document.pages or 1, is_one_file=False)
        found = compare_pages(row, document, by_page=(row.seq if row else 0) in self._by_page)
        if is_own:
            yield from found.findings
        owner = (row.control_number, document.key, document.line, _describe_range(row)) if row else ()
        outside = found.outside
        if row is None and self._has_rows:
            owner, outside = ("", document.key, document.line, ""), number_runs(document)
        for run in outside if owner else ():
            lines = format_pages(run, (is_own, *owner))
            while batch := list(islice(lines, _BATCH)):
                self._numbers.add(batch)
        if row is not None and found.stated is not None:
            self._add_missing(row, document, found.stated, found.missing, is_own=is_own)

    def _add_missing(
        self,
        row: PageRow,
        document: DocumentPages,
        numbers: BatesRange,
        missing: Iterable[tuple[int, int]],
        *,
        is_own: bool,
    ) -> None:
        ends = (row.bates_begin, row.bates_end)
        stated = Stated(row.line, row.control_number, *ends, document.line, document.pages or 0)
        self._missing.add([format_missing(stated, row.seq, numbers, *each, is_own=is_own) for each in missing])

    def _list_missing(self) -> Iterator[PageFinding]:
        """Yield a finding for each row with numbers that no document has a page for."""
        entries = map(parse_missing, chain.from_iterable(self._missing.read()))
        for _, group in groupby(entries, key=lambda each: each[0]):
            yield from _describe_row(entry for _, entry in group)

    def close(self) -> None:
        """Close and delete the files."""
        for each in (self._keys, self._numbers, self._missing, self._found):
            each.close()


def find_page_findings(
    rows: Iterable[tuple[int, bytes]], documents: Iterable[tuple[bool, bytes]], folder: str, max_lines: int
) -> Iterator[PageFinding]:
    """Yield the findings of packed rows with their ranks, and of packed documents with whether they are its own."""
    with closing(PageMerge(folder, max_lines)) as merge:
        for rank, packed in rows:
            merge.add_rows(packed, rank)
        for is_own, packed in documents:
            merge.add_documents(packed, is_own=is_own)
        yield from merge.find()


def _add_row(rows: list[PageRow], row: PageRow, column: str) -> None:
    """Keep the first row of a control number; of a begin Bates number, the first row of each of two documents."""
    if not rows or (column == BY_BEGIN and row.control_number != rows[0].control_number):
        rows.append(row)


def _choose_row(rows: Sequence[PageRow], column: str) -> PageRow | None:
    """Return the row of a key; None if there is none, or if several documents have the begin Bates number.

    A range of the fields counts more than another one.
    """
    if column == BY_BEGIN and len(rows) > 1:
        rows = [row for row in rows if not row.seq]
    return rows[0] if rows and (column == BY_NUMBER or len(rows) == 1) else None


def _describe_range(row: PageRow) -> str:
    return f"{show(row.bates_begin)} to {show(row.bates_end)} (line {row.line} of the data file)"


def _describe_row(entries: Iterable[MissingEntry]) -> Iterator[PageFinding]:
    """Yield the finding of a row, whose entries come in order of number: what is missing, less what is elsewhere."""
    about: MissingEntry | None = None
    listed: list[tuple[int, int]] = []
    pages = parts = 0
    for first, last, entry in _subtract(entries):
        about = about or entry
        pages, parts = pages + last - first + 1, parts + 1
        if parts <= LISTED_INTERVALS:
            listed.append((first, last))
    if about and about.is_own and about.stated and about.numbers:
        yield describe_missing(about.stated, about.numbers, listed, pages, parts)


def _subtract(entries: Iterable[MissingEntry]) -> Iterator[tuple[int, int, MissingEntry]]:
    """Yield the numbers of the missing entries that no page under another document has, with their entry."""
    held: MissingEntry | None = None
    following = 0
    for entry in entries:
        if entry.stated is not None:
            if held and following <= held.last:
                yield following, held.last, held
            held, following = entry, entry.first
        elif held and following <= entry.first <= held.last:
            if following < entry.first:
                yield following, entry.first - 1, held
            following = entry.first + 1
    if held and following <= held.last:
        yield following, held.last, held
