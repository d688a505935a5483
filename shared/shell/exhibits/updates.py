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
from core.slices import slice_by_size
from shell.db.bulk_insert import overwrite_versioned
from shell.db.group_concat import select_packed_rows
from shell.db.sql_literals import execute_literal, format_match
from shell.exhibits.numbers import find_claimants
from shell.tables.name_kinds import NameKind
from shell.utils.document_properties import Properties, order_properties, parse_properties

SLICE_BYTES, SLICE_ROWS = 1_000_000, 500
_KEY_COLUMNS = (
    "id, control_number, bates_begin, version, row_hash, COALESCE(LENGTH(document_properties), 0) AS size, "
    "page_set_id, text_id"
)
_VALUES = (*OVERLAID_COLUMNS, "document_properties", "row_hash")
# Columns without a default need values, which an existing row does not get.
_WRITTEN = ("id", "case_id", "control_number", "import_id", "line_no", *_VALUES)
_NEVER_STORED = (0, "", 0, 0)
_DELETE_LINKS = """
    DELETE pair FROM JSON_TABLE(:pairs, '$[*]' COLUMNS (exhibit BIGINT PATH '$[0]', name BIGINT PATH '$[1]')) AS gone
    STRAIGHT_JOIN {table} AS pair FORCE INDEX (PRIMARY) ON pair.exhibit_id = gone.exhibit AND pair.{key} = gone.name
"""
_FILE_COLUMNS = text(
    "SELECT i.id, JSON_EXTRACT(i.layout, '$.names') AS names "
    "FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS creators "
    "STRAIGHT_JOIN imports AS i FORCE INDEX (PRIMARY) ON i.id = creators.id"
)
# Of custodians; the names of the table and the column are replaced for tags.
_SET_MAKERS = """
    UPDATE JSON_TABLE(:links, '$[*]' COLUMNS (
      exhibit BIGINT PATH '$[0]', name BIGINT PATH '$[1]', maker VARCHAR(255) PATH '$[2]'
    )) AS made STRAIGHT_JOIN custodian_exhibits AS pair FORCE INDEX (PRIMARY)
      ON pair.exhibit_id = made.exhibit AND pair.custodian_id = made.name
    SET pair.user_id = made.maker
"""


class KeyedExhibit(NamedTuple):
    """An exhibit as its keys are read, with the bytes of its properties, its pages and its text."""

    id: int
    control_number: str
    bates_begin: str | None
    version: int
    row_hash: bytes | None
    size: int
    page_set_id: int | None = None
    text_id: int | None = None


class FileColumns:
    """The columns of the files of these imports, which are read together when the first of them is needed."""

    def __init__(self, transaction: Session, import_ids: Collection[int]) -> None:
        self._transaction, self._import_ids = transaction, import_ids
        self._found: dict[int, Sequence[str]] | None = None

    def get(self, import_id: int) -> Sequence[str]:
        """Return the names of the columns in their order; none for an import without a layout."""
        if self._found is None:
            rows = self._transaction.execute(_FILE_COLUMNS, {"ids": json.dumps(sorted(self._import_ids))})
            self._found = {row.id: json.loads(row.names) for row in rows if row.names}
        return self._found.get(import_id, ())


class StoredDocument(NamedTuple):
    """The values of an exhibit, also by column, the stored form of its properties, and the import that created it.

    `files` has the columns of that import's file, in whose order properties are stored.
    """

    document: OverlaidDocument
    columns: Mapping[str, Any]
    properties: str | None
    import_id: int
    files: FileColumns

    def order(self, properties: Properties) -> dict[str, str | None]:
        """Return properties of the exhibit in the order in which they are stored."""
        return order_properties(properties, self.files.get(self.import_id))


class ExhibitUpdate(NamedTuple):
    """The values of an exhibit after a change: all of OVERLAID_COLUMNS, the properties as stored, and the row hash."""

    id: int
    columns: Mapping[str, Any]
    properties: str | None
    row_hash: bytes | None


def find_by_key(
    transaction: Session, case_id: int, key: OverlayKey, values: Collection[str], *, any_number: bool = False
) -> dict[str, list[KeyedExhibit]]:
    """Return the case's exhibits by the value of their key, without locking them; sorted by control number.

    With `any_number`, an exhibit is also found by the begin of each other range that it was delivered under.
    """
    found: dict[str, list[KeyedExhibit]] = {}
    if values:
        where = f"case_id = {case_id} AND {format_match(key.value, sorted(values))}"
        for exhibit in _select(transaction, f"WHERE {where} ORDER BY control_number"):
            value = getattr(exhibit, key.value)
            if value in values:
                found.setdefault(value, []).append(exhibit)
    if any_number and key is OverlayKey.BATES_BEGIN:
        _add_claimants(transaction, case_id, found, find_claimants(transaction, case_id, values))
    return found


def find_numbers(transaction: Session, case_id: int, values: Sequence[str], *, but_of_import: int) -> list[str]:
    """Return which of these control numbers, at least one, the case has, without those that an import created."""
    where = f"case_id = {case_id} AND import_id <> {but_of_import} AND {format_match('control_number', values)}"
    statement = f"SELECT control_number FROM exhibits WHERE {where}"  # noqa: S608 - literals
    found: Iterable[Any] = execute_literal(transaction.connection(), statement, "SELECT exhibits")
    return [row[0] for row in found]


def _add_claimants(
    transaction: Session, case_id: int, found: dict[str, list[KeyedExhibit]], claimants: Mapping[str, set[int]]
) -> None:
    """Add the exhibits that claim each number to those whose fields have it."""
    ids = sorted(set().union(*claimants.values()))
    where = f"WHERE {format_match('id', ids)} AND case_id = {case_id}" if ids else ""
    by_id = {exhibit.id: exhibit for exhibit in _select(transaction, where)} if ids else {}
    for number, exhibit_ids in claimants.items():
        own = found.get(number, [])
        more = [by_id[each] for each in exhibit_ids - {exhibit.id for exhibit in own} if each in by_id]
        if more:
            found[number] = sorted([*own, *more], key=lambda exhibit: exhibit.control_number)


def has_key(transaction: Session, case_id: int, key: OverlayKey, exhibits: Mapping[str, KeyedExhibit]) -> bool:
    """Return whether each locked exhibit still has the key by which it was found, as a field or as a claim."""
    others = {value: each.id for value, each in exhibits.items() if getattr(each, key.value) != value}
    if not others or key is not OverlayKey.BATES_BEGIN:
        return not others
    claimants = find_claimants(transaction, case_id, others.keys())
    return all(exhibit_id in claimants.get(value, ()) for value, exhibit_id in others.items())


def lock_exhibits(transaction: Session, ids: Collection[int]) -> dict[int, KeyedExhibit]:
    """Lock the exhibits in the order of their ids and return them as they are now, by id; one may be gone."""
    if not ids:
        return {}
    rest = f"FORCE INDEX (PRIMARY) WHERE {format_match('id', sorted(ids))} ORDER BY id FOR UPDATE"
    return {exhibit.id: exhibit for exhibit in _select(transaction, rest)}


def _select(transaction: Session, rest: str) -> Iterator[KeyedExhibit]:
    statement = f"SELECT {_KEY_COLUMNS} FROM exhibits {rest}"  # noqa: S608 - literals
    yield from map(KeyedExhibit._make, execute_literal(transaction.connection(), statement, "SELECT exhibits"))


def slice_exhibits(exhibits: Sequence[KeyedExhibit]) -> Iterator[list[KeyedExhibit]]:
    """Yield lists of exhibits that take a bounded amount of memory together; an exhibit takes up to 64 KB."""
    return slice_by_size(exhibits, lambda exhibit: exhibit.size, SLICE_BYTES, SLICE_ROWS)


def read_stored_documents(transaction: Session, ids: Sequence[int]) -> dict[int, StoredDocument]:
    """Return the stored values of exhibits by their ids."""
    if not ids:
        return {}
    columns = ", ".join(OVERLAID_COLUMNS)
    statement = f"SELECT id, import_id, document_properties, {columns} FROM exhibits WHERE {format_match('id', ids)}"  # noqa: S608
    found: list[Any] = list(execute_literal(transaction.connection(), statement, "SELECT exhibits"))
    files = FileColumns(transaction, {import_id for _, import_id, *_ in found})
    return {
        exhibit_id: StoredDocument(*_read_document(properties, values), import_id, files)
        for exhibit_id, import_id, properties, *values in found
    }


def _read_document(
    properties: str | None, values: Sequence[Any]
) -> tuple[OverlaidDocument, Mapping[str, Any], str | None]:
    columns = dict(zip(OVERLAID_COLUMNS, values, strict=True))
    entries = {} if properties is None else parse_properties(properties)
    return OverlaidDocument(describe_fields(columns), entries), columns, properties


def update_exhibits(transaction: Session, updates: Sequence[ExhibitUpdate]) -> None:
    """Write the values and raise the versions, in one statement for each megabyte; the caller holds the locks."""
    rows = [
        (each.id, *_NEVER_STORED, *(each.columns[name] for name in OVERLAID_COLUMNS), each.properties, each.row_hash)
        for each in updates
    ]
    overwrite_versioned(transaction, "exhibits", _WRITTEN, rows, _VALUES)


def list_links(transaction: Session, kind: NameKind, ids: Sequence[int]) -> dict[int, dict[int, str]]:
    """Return the names that exhibits are linked to, by exhibit: each name by its id; two statements."""
    found: dict[int, dict[int, str]] = {}
    if ids:
        rows = f"FROM {kind.link_table} WHERE {format_match('exhibit_id', sorted(ids))}"
        pairs = [(int(e), int(n)) for e, n in select_packed_rows(transaction, f"exhibit_id, {kind.key_column}", rows)]
        names = _find_names(transaction, kind, {name_id for _, name_id in pairs})
        for exhibit_id, name_id in pairs:
            # Without locks on the exhibits, a link and its name can be deleted meanwhile.
            if name_id in names:
                found.setdefault(exhibit_id, {})[name_id] = names[name_id]
    return found


def _find_names(transaction: Session, kind: NameKind, ids: Collection[int]) -> dict[int, str]:
    if not ids:
        return {}
    statement = f"SELECT id, name FROM {kind.table} WHERE {format_match('id', sorted(ids))}"  # noqa: S608 - literals
    rows: Iterable[Any] = execute_literal(transaction.connection(), statement, f"SELECT {kind.table}")
    return {row[0]: row[1] for row in rows}


def delete_links(transaction: Session, kind: NameKind, pairs: Sequence[tuple[int, int]]) -> None:
    """Delete pairs of an exhibit and a name that exist, in one statement, which locks no other pair."""
    if pairs:
        statement = _DELETE_LINKS.format(table=kind.link_table, key=kind.key_column)
        transaction.execute(text(statement), {"pairs": json.dumps(pairs)})


def update_link_makers(transaction: Session, kind: NameKind, links: Sequence[tuple[int, int, str]]) -> None:
    """Set the user who made each link, given as an exhibit, a name and the user; in one statement."""
    statement = _SET_MAKERS.replace("custodian_exhibits", kind.link_table).replace("custodian_id", kind.key_column)
    transaction.execute(text(statement), {"links": json.dumps(links)})
