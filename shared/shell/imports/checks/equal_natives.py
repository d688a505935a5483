"""Read the lines by the hash of the native: groups of equal natives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from core.checks.facts import CELL_END
from core.checks.findings import MAX_LISTED, FactNames, Finding, list_lines, warn
from core.codes import CheckCode
from shell.imports.checks.row_index import RowIndex
from shell.utils.external_sort import ExternalSort


def find_equal_natives(natives: ExternalSort, index: RowIndex, names: FactNames) -> Iterator[Finding]:
    """Yield a finding for each hash that several rows have."""
    before, first, lines, count = "", 0, [0], 0
    for text in chain.from_iterable(natives.read()):
        digest, line, row = text.split(CELL_END)
        if digest == before:
            count += 1
            if count <= MAX_LISTED:
                lines.append(int(line))
            continue
        if count > 1:
            yield _describe(before, lines, count, index.control_number(first), names)
        before, first, lines, count = digest, int(row), [int(line)], 1
    if count > 1:
        yield _describe(before, lines, count, index.control_number(first), names)


def _describe(digest: str, lines: list[int], count: int, control_number: str, names: FactNames) -> Finding:
    message = (
        f"Line {lines[0]}: {count} documents have the same native, by its hash {digest}: lines"
        f" {list_lines(lines, count)}. Find out whether they are copies."
    )
    return warn(CheckCode.NATIVE_DUPLICATE, lines[0], names.native_hash, message, control_number)
