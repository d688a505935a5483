"""Read and insert the exhibits of a case and their links to custodians and tags, a chunk at a time.

Guaranteed: existing exhibits and links stay unchanged.
Statements with a thousand values contain them as literals of `shell.db.sql_literals`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import Rejection
from core.load_file.rows import RowError
from shell.db.bulk_insert import InsertResult, insert_bisecting, insert_missing, insert_missing_literals
from shell.db.group_concat import BETWEEN_VALUES, select_packed, select_packed_rows
from shell.db.ids import INCREMENT
from shell.db.sql_literals import format_match, format_row_literals
from shell.imports.rows.coercion import COLUMNS, StorableRow
from shell.tables.name_kinds import NameKind

_CONTROL_NUMBER, _IMPORT_ID, _LINE_NO = map(COLUMNS.index, ("control_number", "import_id", "line_no"))

# Every change of a value or a link raises the version.
_AS_MADE = "version = 1 AND row_hash IS NOT NULL"
_CHECKSUM = text(
    "SELECT COUNT(*), SUM(CRC32(CONCAT_WS(':', id, line_no))) FROM exhibits "
    # Between them there may be exhibits of other chunks.
    "WHERE id BETWEEN :first AND :last AND import_id = :import_id AND line_no BETWEEN :first_line AND :last_line"
)


class StoredExhibit(NamedTuple):
    """An exhibit of the case, as an import compares it; `row_hash` is None after a user changed the exhibit."""

    id: int
    import_id: int
    line_no: int
    row_hash: bytes | None


class NewExhibits(NamedTuple):
    """Rows in the order of their key, and their values as literals; None if a value cannot be sent."""

    rows: Sequence[StorableRow]
    literals: Sequence[str] | None


class InsertedExhibits(NamedTuple):
    """The ids of inserted exhibits by line, as far as they are known, and the refused rows with the error number.

    A row in neither may have existed before and has to be looked up.
    """

    ids: Mapping[int, int]
    refused: Sequence[tuple[StorableRow, int | None]]


def may_hold(transaction: Session, case_id: int, control_numbers: Sequence[str]) -> bool:
    """Return whether the case has an exhibit between the lowest and the highest number; a new case has none.

    Where the server orders numbers differently from Python a False may be wrong. That costs only time, because
    `insert_exhibits` leaves existing exhibits unchanged.
    """
    if not control_numbers:
        return False
    lowest, highest = min(control_numbers), max(control_numbers)
    statement = "SELECT 1 FROM exhibits WHERE case_id = %s AND control_number BETWEEN %s AND %s LIMIT 1"
    found = transaction.connection().exec_driver_sql(statement, (case_id, lowest, highest))
    return found.first() is not None


def find_exhibits(transaction: Session, case_id: int, control_numbers: Sequence[str]) -> dict[str, StoredExhibit]:
    """Return the case's exhibits with these control numbers, by control number."""
    if not control_numbers:
        return {}
    columns = "HEX(CONVERT(control_number USING utf8mb4)), id, import_id, line_no, COALESCE(HEX(row_hash), '')"
    rows = f"FROM exhibits WHERE case_id = {case_id} AND {format_match('control_number', control_numbers)}"
    found = select_packed_rows(transaction, columns, rows)
    return {
        bytes.fromhex(number).decode(): StoredExhibit(int(i), int(of), int(line), bytes.fromhex(digest) or None)
        for number, i, of, line, digest in found
    }


def find_as_made(transaction: Session, case_id: int, import_id: int, first_line: int, last_line: int) -> dict[int, int]:
    """Return the ids of the exhibits that these lines of an import made and that nothing has changed since, by line."""
    rows = (
        f"FROM exhibits FORCE INDEX (ix_exhibits_import) WHERE import_id = {import_id} AND case_id = {case_id} "
        f"AND line_no BETWEEN {first_line} AND {last_line} AND {_AS_MADE}"
    )
    return {int(line): int(exhibit_id) for line, exhibit_id in select_packed_rows(transaction, "line_no, id", rows)}


def prepare_exhibits(rows: Iterable[StorableRow]) -> NewExhibits:
    """Sort the rows by their key and format their values."""
    ordered = sorted(rows, key=lambda row: str(row.control_number))
    try:
        return NewExhibits(ordered, format_row_literals([row.values for row in ordered]))
    except UnicodeEncodeError:
        return NewExhibits(ordered, None)


def insert_exhibits(transaction: Session, new: NewExhibits) -> InsertedExhibits:
    """Insert the rows that the case does not hold yet.

    The first attempt is one statement per megabyte. Only after an error that blames a value are the rows bisected.
    """
    done: list[InsertResult] = []
    by_line = {row.source.line_no: row for row in new.rows}

    def insert(values: Sequence[tuple[Any, ...]]) -> None:
        if values is whole and new.literals is not None:
            done.extend(insert_missing_literals(transaction, "exhibits", COLUMNS, new.literals))
        else:
            done.extend(insert_missing(transaction, "exhibits", COLUMNS, values, key=_CONTROL_NUMBER + 1))

    whole = [row.values for row in new.rows]
    refused = insert_bisecting(transaction, insert, whole)
    ids = {} if refused or not whole else _find_generated_ids(transaction, new.rows, done)
    return InsertedExhibits(ids, [(by_line[values[_LINE_NO]], number) for values, number in refused])


def build_refusal(number: int | None) -> RowError:
    """Return the error of a row with a value that the server refused with this error number."""
    return RowError(Rejection.VALUE_REFUSED, None, f"the database refused a value of the row (error {number})")


def _find_generated_ids(
    transaction: Session, rows: Sequence[StorableRow], done: Sequence[InsertResult]
) -> dict[int, int]:
    """Return the exhibits' ids by line if the server generated them in the order of the rows, else an empty dict.

    It does so if all rows were new and ids increase by INCREMENT; a checksum of ids and lines verifies it.
    """
    generated = [first + INCREMENT * nth for first, count, _ in done for nth in range(count)]
    if len(generated) != len(rows):
        # A first attempt that failed midway was repeated in parts.
        return {}
    ids = {row.source.line_no: generated_id for row, generated_id in zip(rows, generated, strict=True)}
    span = {"first": generated[0], "last": generated[-1], "first_line": min(ids), "last_line": max(ids)}
    stored = transaction.execute(_CHECKSUM, {"import_id": rows[0].values[_IMPORT_ID], **span}).one()
    expected = (len(ids), sum(crc32(f"{generated_id}:{line_no}".encode()) for line_no, generated_id in ids.items()))
    return ids if tuple(stored) == expected else {}


def find_missing_links(
    transaction: Session, links: Mapping[NameKind, Collection[tuple[int, int]]]
) -> dict[int, set[tuple[NameKind, int]]]:
    """Return the `links` that do not exist, by exhibit id: the kind and the name's id.

    `links` are pairs of exhibit id and name id by kind.
    """
    missing: dict[int, set[tuple[NameKind, int]]] = {}
    for kind, pairs in links.items():
        expected = {f"{exhibit_id}{BETWEEN_VALUES}{name_id}": (exhibit_id, name_id) for exhibit_id, name_id in pairs}
        if expected:
            ids = list({exhibit_id for exhibit_id, _ in pairs})
            rows = f"FROM {kind.link_table} WHERE {format_match('exhibit_id', ids)}"
            stored = select_packed(transaction, f"exhibit_id, {kind.key_column}", rows)
            for exhibit_id, name_id in (expected[link] for link in expected.keys() - set(stored)):
                missing.setdefault(exhibit_id, set()).add((kind, name_id))
    return missing
