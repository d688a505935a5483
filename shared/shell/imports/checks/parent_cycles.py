"""Describe the cycles of parents: rows whose parents lead back to them."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest

from core.checks.findings import MAX_LISTED, FactNames, Finding, list_lines, warn
from core.codes import CheckCode
from shell.imports.checks.row_index import RowIndex


def find_parent_cycles(index: RowIndex, names: FactNames) -> Iterator[Finding]:
    """Yield a finding for each row of each cycle; the index has the parents."""
    for start in index.find_cycles():
        count = sum(1 for _ in index.follow(start))
        lines = nsmallest(MAX_LISTED, map(index.line, index.follow(start)))
        circle = f"lines {list_lines(lines, count)} are each other's parents, directly or through others."
        for row in index.follow(start):
            message = f"Line {index.line(row)}: {circle} Correct one of the parents."
            yield warn(CheckCode.PARENT_CYCLE, index.line(row), names.parent, message, index.control_number(row))
