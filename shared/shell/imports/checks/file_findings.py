"""Reduce the facts of all chunks of a file to the findings that need the whole file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice

from core.checks.bates_sweep import BatesSweep, FileNumbering, NumberingEvidence
from core.checks.facts import unescape, unpack_facts
from core.checks.family_ranges import FamilyRanges
from core.checks.findings import FactNames, Finding
from core.checks.limits import DEFAULT_LIMITS, Limits
from shell.imports.checks.bates_lines import read_entries
from shell.imports.checks.equal_natives import find_equal_natives
from shell.imports.checks.id_groups import CaseRow, FindInCase, IdGroups, format_case_rows
from shell.imports.checks.parent_cycles import find_parent_cycles
from shell.imports.checks.row_spill import SpilledRows
from shell.imports.checks.waiting_entries import PostponedFamilies, WaitingEntries

CASE_ROWS = 2_000
# Measured with python -m benchmarks.file_checks; ids and hashes that are longer take more.
DISK_BYTES_PER_ROW = 300
_NO_NAMES = FactNames()


def find_file_findings(
    chunks: Iterable[bytes],
    case_rows: Iterable[CaseRow],
    find_in_case: FindInCase,
    folder: str,
    names: FactNames = _NO_NAMES,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Finding]:
    """Yield the findings of a file; see the package for the arguments and what is guaranteed.

    Both iterables are used up before the first finding that needs several rows. Raises UnavailableError if a chunk's
    bytes are damaged or unknown, OSError if the disk is full. Close the generator if it is not read to its end.
    """
    with closing(SpilledRows(folder, names, limits)) as rows:
        for finding in _find_all(chunks, case_rows, find_in_case, folder, rows, names, limits):
            yield _restore(finding)


def _find_all(
    chunks: Iterable[bytes],
    case_rows: Iterable[CaseRow],
    find_in_case: FindInCase,
    folder: str,
    rows: SpilledRows,
    names: FactNames,
    limits: Limits,
) -> Iterator[Finding]:
    for packed in chunks:
        yield from rows.add(unpack_facts(packed, escaped=True))
    remaining = iter(case_rows)
    while batch := list(islice(remaining, CASE_ROWS)):
        rows.ids.add(format_case_rows(batch))
    rows.index.freeze()
    groups = IdGroups(rows, find_in_case, names, limits)
    yield from groups.find()
    yield from find_parent_cycles(rows.index, names)
    yield from find_equal_natives(rows.natives, rows.index, names)
    yield from _sweep(rows, folder, names, limits, with_case=groups.has_case_ranges)


def _sweep(rows: SpilledRows, folder: str, names: FactNames, limits: Limits, *, with_case: bool) -> Iterator[Finding]:
    numbering = FileNumbering(rows.suffix, rows.has_ends or _is_by_document(rows), with_case)
    with (
        closing(WaitingEntries(folder, limits)) as waiting,
        closing(PostponedFamilies(folder, names, limits)) as postponed,
    ):
        ranges = FamilyRanges(names, postponed.add, limits.families)
        yield from BatesSweep(numbering, names, ranges, waiting, limits.entries).find(read_entries(rows.bates))
        yield from postponed.find_gaps()


def _is_by_document(rows: SpilledRows) -> bool:
    evidence = NumberingEvidence()
    evidence.add(read_entries(rows.bates))
    return evidence.is_by_document


def _restore(finding: Finding) -> Finding:
    """Return the finding with its texts as in the file; they were escaped for the files that are sorted."""
    if "\x01" not in finding.message and "\x01" not in finding.control_number:
        return finding
    message, number = unescape(finding.message), unescape(finding.control_number)
    return finding._replace(message=message, control_number=number)
