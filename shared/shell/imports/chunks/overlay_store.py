"""Find, lock, read and update the exhibits that the rows of a chunk overlay.

Guaranteed: only exhibits of the import's case are found; they are locked in the order of their ids, on the primary key,
before anything is written. Keys are compared byte for byte, whatever the column's collation.
Every statement is for all rows of a chunk, or for a slice of them that is bounded by the bytes it holds.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.exhibit_history import describe_fields
from core.imports.overlay import OVERLAID_COLUMNS, OverlaidDocument
from core.load_mode import OverlayKey
from shell.db.sql_literals import execute_literal, format_in_list
from shell.tables.name_kinds import NameKind
from shell.utils.db_helpers import VALUES_PER_LIST
from shell.utils.document_properties import parse_properties

SLICE_BYTES, SLICE_ROWS = 1_000_000, 500
_KEY_COLUMNS = "id, control_number, bates_begin, version, row_hash, COALESCE(LENGTH(document_properties), 0) AS size"
_TEXT_COLUMNS = {
    **dict.fromkeys(OVERLAID_COLUMNS, "VARCHAR(1024) CHARACTER SET utf8mb4"),
    "document_properties": "TEXT CHARACTER SET utf8mb4",
}
_DELETE_LINKS = """
    DELETE pair FROM JSON_TABLE(:pairs, '$[*]' COLUMNS (exhibit BIGINT PATH '$[0]', name BIGINT PATH '$[1]')) AS gone
    STRAIGHT_JOIN {table} AS pair FORCE INDEX (PRIMARY) ON pair.exhibit_id = gone.exhibit AND pair.{key} = gone.name
"""


class KeyedExhibit(NamedTuple):
    """An exhibit as its keys are read: `size` are the bytes of its properties."""

    id: int
    control_number: str
    bates_begin: str | None
    version: int
    row_hash: bytes | None
    size: int


class StoredDocument(NamedTuple):
    """The values of an exhibit, also by column, and the stored form of its properties."""

    document: OverlaidDocument
    columns: Mapping[str, Any]
    properties: str | None


class ExhibitUpdate(NamedTuple):
    """The values of an exhibit after an overlay: all of OVERLAID_COLUMNS, and the stored form of its properties.

    The row hash is kept if only links change.
    """

    id: int
    columns: Mapping[str, Any]
    properties: str | None
    keeps_hash: bool


def find_by_key(
    transaction: Session, case_id: int, key: OverlayKey, values: Collection[str]
) -> dict[str, list[KeyedExhibit]]:
    """Return the case's exhibits by the value of their key, without locking them; sorted by control number."""
    found: dict[str, list[KeyedExhibit]] = {}
    if values:
        where = f"case_id = {case_id} AND {key.value} IN ({format_in_list(sorted(values))})"
        for exhibit in _select(transaction, f"WHERE {where} ORDER BY control_number"):
            value = getattr(exhibit, key.value)
            if value in values:
                found.setdefault(value, []).append(exhibit)
    return found


def lock_exhibits(transaction: Session, ids: Collection[int]) -> dict[int, KeyedExhibit]:
    """Lock the exhibits in the order of their ids and return them as they are now, by id; one may be gone."""
    if not ids:
        return {}
    ordered = sorted(ids)
    lists = [ordered[start : start + VALUES_PER_LIST] for start in range(0, len(ordered), VALUES_PER_LIST)]
    where = " OR ".join(f"id IN ({format_in_list(each)})" for each in lists)
    rest = f"FORCE INDEX (PRIMARY) WHERE {where} ORDER BY id FOR UPDATE"
    return {exhibit.id: exhibit for exhibit in _select(transaction, rest)}


def _select(transaction: Session, rest: str) -> Iterator[KeyedExhibit]:
    statement = f"SELECT {_KEY_COLUMNS} FROM exhibits {rest}"  # noqa: S608 - literals
    yield from map(KeyedExhibit._make, execute_literal(transaction.connection(), statement, "SELECT exhibits"))


def slice_by_size(exhibits: Sequence[KeyedExhibit]) -> Iterator[list[KeyedExhibit]]:
    """Yield lists of exhibits that take a bounded amount of memory together; an exhibit takes up to 64 KB."""
    part: list[KeyedExhibit] = []
    size = 0
    for exhibit in exhibits:
        if part and (len(part) == SLICE_ROWS or size + exhibit.size > SLICE_BYTES):
            yield part
            part, size = [], 0
        part.append(exhibit)
        size += exhibit.size
    if part:
        yield part


def read_documents(transaction: Session, ids: Sequence[int]) -> dict[int, StoredDocument]:
    """Return the stored values of exhibits by their ids."""
    if not ids:
        return {}
    columns = ", ".join(OVERLAID_COLUMNS)
    statement = f"SELECT id, document_properties, {columns} FROM exhibits WHERE id IN ({format_in_list(ids)})"  # noqa: S608
    found: Iterable[Any] = execute_literal(transaction.connection(), statement, "SELECT exhibits")
    return {exhibit_id: _read_document(properties, values) for exhibit_id, properties, *values in found}


def _read_document(properties: str | None, values: Sequence[Any]) -> StoredDocument:
    columns = dict(zip(OVERLAID_COLUMNS, values, strict=True))
    entries = {} if properties is None else parse_properties(properties)
    return StoredDocument(OverlaidDocument(describe_fields(columns), entries), columns, properties)


def update_exhibits(transaction: Session, updates: Sequence[ExhibitUpdate]) -> None:
    """Write the values and raise the versions, in one statement; the caller holds the locks."""
    rows = [{"id": each.id, "keeps_hash": int(each.keeps_hash), **_list_values(each)} for each in updates]
    transaction.execute(_UPDATE, {"updates": json.dumps(rows, ensure_ascii=False)})


def _list_values(update: ExhibitUpdate) -> dict[str, str]:
    """Return the values by column, without those that are NULL."""
    values = {**update.columns, "document_properties": update.properties}
    return {name: str(value) for name, value in values.items() if value is not None}


def _build_update() -> str:
    columns = ", ".join(
        f"{name} {kind} PATH '$.{name}' NULL ON EMPTY ERROR ON ERROR" for name, kind in _TEXT_COLUMNS.items()
    )
    values = ", ".join(f"kept.{name} = given.{name}" for name in _TEXT_COLUMNS)
    return f"""
        UPDATE JSON_TABLE(:updates, '$[*]' COLUMNS (
                 id BIGINT PATH '$.id', keeps_hash INT PATH '$.keeps_hash', {columns})) AS given
        STRAIGHT_JOIN exhibits AS kept FORCE INDEX (PRIMARY) ON kept.id = given.id
        SET {values}, kept.row_hash = IF(given.keeps_hash, kept.row_hash, NULL), kept.version = kept.version + 1
    """  # noqa: S608 - our columns


_UPDATE = text(_build_update())


def list_links(transaction: Session, kind: NameKind, ids: Sequence[int]) -> dict[int, dict[int, str]]:
    """Return the names that exhibits are linked to, by exhibit: each name by its id."""
    found: dict[int, dict[int, str]] = {}
    if ids:
        statement = (
            f"SELECT link.exhibit_id, link.{kind.key_column}, named.name FROM {kind.link_table} AS link "  # noqa: S608
            f"JOIN {kind.table} AS named ON named.id = link.{kind.key_column} "
            f"WHERE link.exhibit_id IN ({format_in_list(sorted(ids))})"
        )
        rows: Iterable[Any] = execute_literal(transaction.connection(), statement, "SELECT links")
        for exhibit_id, name_id, name in rows:
            found.setdefault(exhibit_id, {})[name_id] = name
    return found


def delete_links(transaction: Session, kind: NameKind, pairs: Sequence[tuple[int, int]]) -> None:
    """Delete pairs of an exhibit and a name that exist, in one statement, which locks no other pair."""
    if pairs:
        statement = _DELETE_LINKS.format(table=kind.link_table, key=kind.key_column)
        transaction.execute(text(statement), {"pairs": json.dumps(pairs)})
