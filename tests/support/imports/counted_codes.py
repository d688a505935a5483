"""Whether the counts of `import_codes` are the sums of rejections and warnings, computed without the application."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.support.database.committed_state import Queried

FOLDED = 2**31 - 1
_IMPORTS = "SELECT id, generation, codes_generation, codes_folded FROM imports ORDER BY id"
_REJECTIONS = (
    "SELECT 'rejection' AS kind, code, column_name, line_no, seq, row_count, message FROM import_rejections "
    "WHERE import_id = :id ORDER BY line_no, seq"
)
_WARNINGS = (
    "SELECT 'warning' AS kind, code, column_name, line_no, seq, 1 AS row_count, message FROM import_warnings "
    "WHERE import_id = :id ORDER BY line_no, seq"
)
_COUNTED = (
    "SELECT chunk_no, kind, code, column_name, errors, row_count, first_line, message FROM import_codes "
    "WHERE import_id = :id ORDER BY first_line, chunk_no"
)
Key = tuple[str, str, str]


class Sum(NamedTuple):
    """How many, about how many rows, and the first."""

    errors: int
    rows: int
    first_line: int
    message: str


def add_up(at: Queried, import_id: int) -> dict[Key, Sum]:
    """What the rows of both tables add up to, by kind, code and column."""
    groups: dict[Key, list[Any]] = defaultdict(list)
    for statement in (_REJECTIONS, _WARNINGS):
        for row in at.query(statement, id=import_id):
            groups[row.kind, row.code, row.column_name or ""].append(row)
    return {key: _add_up_rows(rows) for key, rows in groups.items()}


def _add_up_rows(rows: list[Any]) -> Sum:
    by_line: dict[int, int] = {}
    for row in rows:
        by_line[row.line_no] = max(by_line.get(row.line_no, 0), row.row_count)
    return Sum(len(rows), sum(by_line.values()), rows[0].line_no, rows[0].message)


def add_up_counts(at: Queried, import_id: int, folded: int = 0) -> dict[Key, Sum]:
    """What the counts add up to: those of all chunks, or those of the folded ones as their sums say it."""
    groups: dict[Key, list[Any]] = defaultdict(list)
    for row in at.query(_COUNTED, id=import_id):
        is_sum = row.chunk_no == FOLDED
        if (is_sum and folded) or (not is_sum and not 0 < row.chunk_no <= folded):
            groups[row.kind, row.code, bytes(row.column_name).decode()].append(row)
    return {
        key: Sum(
            sum(int(row.errors) for row in rows),
            sum(int(row.row_count) for row in rows),
            int(rows[0].first_line),
            rows[0].message,
        )
        for key, rows in groups.items()
    }


def list_miscounts(at: Queried) -> Iterator[str]:
    """What is wrong with the counts of any import; nothing of one that an earlier version wrote."""
    for each in at.query(_IMPORTS):
        if abs(each.codes_generation) != each.generation:
            continue
        expected = add_up(at, each.id)
        for folded in {0, each.codes_folded}:
            got = add_up_counts(at, each.id, folded)
            differing = sorted(key for key in expected.keys() | got.keys() if expected.get(key) != got.get(key))
            for key in differing:
                yield f"codes of import {each.id}, folded to {folded}, {key}: {got.get(key)} of {expected.get(key)}"
