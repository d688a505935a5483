"""What an import recorded of each record, in the words of the truth: lines, codes, columns, places.

Reads the database alone; whether it is right is for `tests.support.imports.accounting` to say.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from samples.oracle import collation_key
from tests.support.database.committed_state import Queried


class Rejected(NamedTuple):
    """A row of import_rejections."""

    line: int
    code: str
    column: str | None
    message: str
    control_number: str | None
    byte_start: int
    byte_len: int
    row_count: int


class Warned(NamedTuple):
    """A row of import_warnings, without its texts."""

    line: int
    code: str
    column: str | None


@dataclass(frozen=True)
class Accounts:
    """All that the database says about one import."""

    status: str
    counts: dict[str, int]
    chunks_left: int
    exhibits: dict[int, tuple[str, int]]
    rejected: list[Rejected]
    warned: list[Warned]

    def codes(self) -> dict[int, set[str]]:
        """The codes of every rejected line; a failed chunk is under its first line."""
        codes: dict[int, set[str]] = defaultdict(set)
        for each in self.rejected:
            codes[each.line].add(each.code)
        return dict(codes)


_COUNTS = ("rows_seen", "imported", "unchanged", "updated", "rejected", "warnings", "custodians_created")
COUNTS = (*_COUNTS, "tags_created")


def accounts(world: Queried, import_id: int) -> Accounts:
    """Read what an import recorded."""
    upload = world.query(f"SELECT status, chunks_left, {', '.join(COUNTS)} FROM imports WHERE id = :id", id=import_id)
    exhibits = world.query(
        "SELECT line_no, control_number, line_count FROM exhibits WHERE import_id = :id", id=import_id
    )
    rejected = world.query(
        "SELECT line_no, code, column_name, message, control_number, byte_start, byte_len, row_count "
        "FROM import_rejections WHERE import_id = :id ORDER BY line_no, seq",
        id=import_id,
    )
    warned = world.query(
        "SELECT line_no, code, column_name FROM import_warnings WHERE import_id = :id ORDER BY line_no, seq",
        id=import_id,
    )
    status, left, *counts = upload[0]
    return Accounts(
        status,
        dict(zip(COUNTS, map(int, counts), strict=True)),
        left,
        {line: (control, lines) for line, control, lines in exhibits},
        [Rejected(*row) for row in rejected],
        [Warned(*row) for row in warned],
    )


def summed_over_chunks(world: Queried, import_id: int) -> dict[str, int]:
    """The counters of the chunks, added up."""
    names = ("imported", "unchanged", "updated", "rejected", "row_count")
    row = world.query(
        f"SELECT {', '.join(f'COALESCE(SUM({name}), 0)' for name in names)} FROM import_chunks WHERE import_id = :id",
        id=import_id,
    )[0]
    return dict(zip(names, map(int, row), strict=True))


def links(world: Queried, import_id: int, kind: str) -> set[tuple[str, str]]:
    """(control number, name as collated) of the exhibits that the import wrote; `kind` is custodians or tags."""
    table, column = {"custodians": ("custodian_exhibits", "custodian_id"), "tags": ("taggings", "tag_id")}[kind]
    rows = world.query(
        f"SELECT e.control_number, n.name FROM {table} l JOIN exhibits e ON e.id = l.exhibit_id "
        f"JOIN {kind} n ON n.id = l.{column} WHERE e.import_id = :id",
        id=import_id,
    )
    return {(control, collation_key(name)) for control, name in rows}


def names(world: Queried, import_id: int, kind: str) -> tuple[set[str], bool]:
    """The names that the import's case holds, and whether no other import wrote into it."""
    rows = world.query(
        f"SELECT n.name FROM {kind} n JOIN imports i ON i.case_id = n.case_id WHERE i.id = :id", id=import_id
    )
    others = world.query(
        "SELECT COUNT(*) FROM imports o JOIN imports i ON i.case_id = o.case_id WHERE i.id = :id", id=import_id
    )
    return {row[0] for row in rows}, others[0][0] == 1
