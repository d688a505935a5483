"""Read how many rejections and warnings an import has, by code and column.

Guaranteed: the sums are those of `import_rejections` and `import_warnings` at one commit: either all counts of
`import_codes` that are not in the sums of folded chunks, and these, in one statement; or, where an earlier version
wrote something that is not counted, the rows themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.statuses import CodeKind
from shell.imports.state.codes import FOLDED, IS_MISSING, TABLES, build_sums

# The completion counts what it writes; until then an import that an earlier version began has no counts. Where there
# was no completion, or a part of one, a chunk or what a completion writes may be that of an earlier version.
_IS_COUNTED = text(
    "SELECT codes_generation = generation OR codes_generation = -generation AND status NOT IN ('completed', "  # noqa: S608
    "'completed_with_rejections', 'undoing', 'undone', 'undone_with_conflicts', 'undo_failed') "
    "AND (status NOT IN ('cancelled', 'failed') OR chunks_left > 0 AND NOT EXISTS "
    f"(SELECT 1 FROM import_chunks AS chunk WHERE chunk.import_id = imports.id AND {IS_MISSING})) AS is_counted "
    "FROM imports WHERE id = :import_id"
)
_SUMS = text(
    "SELECT c.kind, c.code, c.column_name, SUM(c.errors) AS errors, SUM(c.row_count) AS row_count, "  # noqa: S608
    "MIN(c.first_line) AS first_line, SUBSTRING(MIN(CONCAT(LPAD(c.first_line, 20, '0'), c.message)), 21) AS message "
    "FROM imports AS i STRAIGHT_JOIN import_codes AS c FORCE INDEX (PRIMARY) ON c.import_id = i.id "
    "AND (c.chunk_no <= 0 OR c.chunk_no > i.codes_folded) "
    f"AND (c.chunk_no < {FOLDED} OR i.codes_folded > 0) WHERE i.id = :import_id "
    "GROUP BY c.kind, c.code, c.column_name"
)
_DERIVED = text(
    " UNION ALL ".join(
        build_sums(kind, f"{table} AS found FORCE INDEX (PRIMARY) WHERE found.import_id = :import_id", None)
        for kind, table in TABLES.items()
    )
)


class CodeSum(NamedTuple):
    """The rejections or warnings of one code and column: how many, about how many rows, and the first of them."""

    kind: CodeKind
    code: str
    column: str | None
    errors: int
    rows: int
    first_line: int
    message: str


def read_codes(reading: Session, import_id: int) -> list[CodeSum]:
    """Return the sums of an import that exists, the most frequent codes first."""
    place = {"import_id": import_id}
    is_counted = reading.execute(_IS_COUNTED, place).scalar_one()
    rows = reading.execute(_SUMS if is_counted else _DERIVED, place).all()
    return sorted(map(_build, rows), key=lambda each: (each.kind, -each.errors, each.code, each.column or ""))


def _build(row: Any) -> CodeSum:
    column = bytes(row.column_name).decode() or None
    return CodeSum(
        CodeKind(row.kind), row.code, column, int(row.errors), int(row.row_count), int(row.first_line), row.message
    )


def select_codes(sums: Sequence[CodeSum], kind: CodeKind, code: str | None, column: str | None) -> list[CodeSum]:
    """Return those of a kind that have this code and column; None: any."""
    return [
        each
        for each in sums
        if each.kind is kind and code in (None, each.code) and (column is None or column == each.column)
    ]
