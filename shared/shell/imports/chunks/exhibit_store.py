"""Exhibits of a case: what it already holds, what is added, and what they are linked to.

Where a statement has a thousand values they are literals of `shell.utils.literals`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from shell.fitting_ops import COLUMNS, FittedRow
from shell.utils.bulk_insert import Inserted, insert_bisecting, insert_missing
from shell.utils.literals import list_literal
from shell.utils.packed_rows import BETWEEN_VALUES, packed, packed_rows

_CONTROL_NUMBER, _IMPORT_ID, _LINE_NO = map(COLUMNS.index, ("control_number", "import_id", "line_no"))
_LINKS = {"custodians": ("custodian_exhibits", "custodian_id"), "tags": ("taggings", "tag_id")}


class StoredExhibit(NamedTuple):
    """What the case holds under a control number."""

    id: int
    import_id: int
    line_no: int
    row_hash: bytes | None


class Added(NamedTuple):
    """What became of new rows: the ids of exhibits by line where they are known, and who was refused, by which error.

    A row that is in neither has to be looked up: the case may have held it.
    """

    ids: Mapping[int, int]
    refused: Sequence[tuple[FittedRow, int | None]]


def may_hold(transaction: Session, case_id: int, control_numbers: Sequence[str]) -> bool:
    """Whether the case has any exhibit between the lowest and the highest of them: in a new case it has none.

    A False that is wrong, where the server orders numbers otherwise than Python does, costs time and nothing else: who
    inserts finds out.
    """
    if not control_numbers:
        return False
    lowest, highest = min(control_numbers), max(control_numbers)
    statement = "SELECT 1 FROM exhibits WHERE case_id = %s AND control_number BETWEEN %s AND %s LIMIT 1"
    found = transaction.connection().exec_driver_sql(statement, (case_id, lowest, highest))
    return found.first() is not None


def stored_exhibits(transaction: Session, case_id: int, control_numbers: Sequence[str]) -> dict[str, StoredExhibit]:
    """What the case holds under these control numbers, by control number."""
    if not control_numbers:
        return {}
    # Where a user changed the exhibit it has no hash.
    columns = "HEX(CONVERT(control_number USING utf8mb4)), id, import_id, line_no, COALESCE(HEX(row_hash), '')"
    rows = f"FROM exhibits WHERE case_id = {case_id} AND control_number IN ({list_literal(control_numbers)})"
    found = packed_rows(transaction, columns, rows)
    return {
        bytes.fromhex(number).decode(): StoredExhibit(int(i), int(of), int(line), bytes.fromhex(digest) or None)
        for number, i, of, line, digest in found
    }


def insert_exhibits(transaction: Session, rows: Sequence[FittedRow]) -> Added:
    """Insert what the case does not hold yet.

    The first attempt is one statement a megabyte; only after an error that blames a value are rows tried apart.
    """
    done: list[Inserted] = []
    by_line = {fitted.source.line_no: fitted for fitted in rows}

    def insert(values: Sequence[tuple[Any, ...]]) -> None:
        done.extend(insert_missing(transaction, "exhibits", COLUMNS, values, key=_CONTROL_NUMBER + 1))

    refused = insert_bisecting(transaction, insert, [fitted.values for fitted in rows])
    ids = {} if refused or not rows else _generated(transaction, rows, done)
    return Added(ids, [(by_line[values[_LINE_NO]], number) for values, number in refused])


def _generated(transaction: Session, rows: Sequence[FittedRow], done: Sequence[Inserted]) -> dict[int, int]:
    """The exhibits' ids by line, if the server gave them in the order of the rows; else none.

    It does where all rows were new and ids grow by one, which is asked here and not assumed.
    """
    # In the order in which `insert_missing` inserted them: all are of one case.
    lines = [fitted.source.line_no for fitted in sorted(rows, key=lambda fitted: str(fitted.control_number))]
    given = [first + place for first, count, _ in done for place in range(count)]
    if len(given) != len(lines):
        # A first attempt that failed half-way was made again in parts.
        return {}
    import_id = rows[0].values[_IMPORT_ID]
    ranges = " OR ".join(f"id BETWEEN {first} AND {first + count - 1}" for first, count, _ in done)
    stored = packed_rows(transaction, "id, line_no", f"FROM exhibits WHERE import_id = {import_id} AND ({ranges})")
    expected = dict(zip(lines, given, strict=True))
    return expected if {int(line): int(i) for i, line in stored} == expected else {}


def missing_links(transaction: Session, links: Mapping[str, Collection[tuple[int, int]]]) -> set[int]:
    """The exhibits that lack a link; `links` are pairs of an exhibit's id and that of a custodian or tag, by kind."""
    lacking: set[int] = set()
    for kind, (table, column) in _LINKS.items():
        wanted = {f"{exhibit_id}{BETWEEN_VALUES}{name_id}": exhibit_id for exhibit_id, name_id in links[kind]}
        if wanted:
            rows = f"FROM {table} WHERE exhibit_id IN ({list_literal(list(set(wanted.values())))})"
            stored = packed(transaction, f"exhibit_id, {column}", rows)
            lacking |= {wanted[link] for link in wanted.keys() - set(stored)}
    return lacking
