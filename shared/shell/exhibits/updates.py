"""Find, lock, read and update the exhibits that the rows of a chunk overlay.

Guaranteed: only exhibits of the import's case are found; they are locked in the order of their ids, on the primary key,
before anything is written. Keys are compared byte for byte, whatever the column's collation.
Every statement is for all rows of a chunk, or for a slice of them that is bounded by the bytes it holds.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import DatabaseUnavailableError
from core.exhibit_dates import DATE_FIELDS
from core.exhibit_history import describe_fields
from core.imports.overlay import OVERLAID_COLUMNS, OverlaidDocument
from core.load_mode import OverlayKey
from core.slices import slice_by_size
from shell.db.bulk_insert import overwrite_versioned
from shell.db.group_concat import BETWEEN_VALUES, select_json_rows, select_packed
from shell.db.sql_literals import execute_literal, format_match
from shell.exhibits.numbers import find_claimants
from shell.tables.name_kinds import NameKind
from shell.utils.document_properties import Properties, order_properties, parse_properties

SLICE_BYTES, SLICE_ROWS = 1_000_000, 500
_KEY_COLUMNS = (
    "id, control_number, bates_begin, version, {row_hash}, COALESCE(LENGTH(document_properties), 0), "
    "page_set_id, text_id"
)
# A date as text has the form of the history.
_VALUE_COLUMNS = ", ".join(f"CAST({each} AS CHAR)" if each in DATE_FIELDS else each for each in OVERLAID_COLUMNS)
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
    """Lock the exhibits in the order of their ids and return them as they are now, by id; one may be gone.

    The server locks what it reads in the order of the index.
    """
    if not ids:
        return {}
    columns = _KEY_COLUMNS.format(row_hash="HEX(row_hash)")
    rest = f"FROM exhibits FORCE INDEX (PRIMARY) WHERE {format_match('id', sorted(ids))} FOR UPDATE"
    found = sorted(map(KeyedExhibit._make, select_json_rows(transaction, columns, rest)), key=attrgetter("id"))
    return {each.id: each._replace(row_hash=each.row_hash and bytes.fromhex(str(each.row_hash))) for each in found}


def _select(transaction: Session, rest: str) -> Iterator[KeyedExhibit]:
    statement = f"SELECT {_KEY_COLUMNS.format(row_hash='row_hash')} FROM exhibits {rest}"  # noqa: S608 - literals
    yield from map(KeyedExhibit._make, execute_literal(transaction.connection(), statement, "SELECT exhibits"))


def slice_exhibits(exhibits: Sequence[KeyedExhibit]) -> Iterator[list[KeyedExhibit]]:
    """Yield lists of exhibits that take a bounded amount of memory together; an exhibit takes up to 64 KB."""
    return slice_by_size(exhibits, lambda exhibit: exhibit.size, SLICE_BYTES, SLICE_ROWS)


def select_values(transaction: Session, ids: Sequence[int]) -> list[Sequence[Any]]:
    """Return id, import, stored properties and OVERLAID_COLUMNS of exhibits; dates have the form of the history.

    What is more than the server packs into one result is read in halves.
    """
    columns = f"id, import_id, document_properties, {_VALUE_COLUMNS}"
    try:
        return select_json_rows(transaction, columns, f"FROM exhibits WHERE {format_match('id', ids)}")
    except DatabaseUnavailableError:
        middle = len(ids) // 2
        if not middle:
            raise
    return [*select_values(transaction, ids[:middle]), *select_values(transaction, ids[middle:])]


def read_stored_documents(transaction: Session, ids: Sequence[int]) -> dict[int, StoredDocument]:
    """Return the stored values of exhibits by their ids; dates are texts."""
    return build_documents(transaction, select_values(transaction, ids) if ids else [])


def build_documents(transaction: Session, found: Sequence[Sequence[Any]]) -> dict[int, StoredDocument]:
    """Return what `select_values` returned as documents, by id."""
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


def update_columns(transaction: Session, ids: Sequence[int], columns: Mapping[str, Sequence[Any]]) -> None:
    """Write the values of these columns, at least one, and raise the versions, as `update_exhibits` does."""
    rows = [(exhibit_id, *_NEVER_STORED, *values) for exhibit_id, *values in zip(ids, *columns.values(), strict=True)]
    overwrite_versioned(transaction, "exhibits", (*_WRITTEN[: 1 + len(_NEVER_STORED)], *columns), rows, list(columns))


def list_links(transaction: Session, kind: NameKind, ids: Sequence[int]) -> dict[int, dict[int, str]]:
    """Return the names that exhibits are linked to, by exhibit: each name by its id; two statements."""
    found: dict[int, dict[int, str]] = {}
    if ids:
        pairs = list(map(split_link, select_links(transaction, kind, ids)))
        names = read_names(transaction, kind, {name_id for _, name_id in pairs})
        for exhibit_id, name_id in pairs:
            # Without locks on the exhibits, a link and its name can be deleted meanwhile.
            if name_id in names:
                found.setdefault(exhibit_id, {})[name_id] = names[name_id]
    return found


def select_links(transaction: Session, kind: NameKind, ids: Collection[int]) -> list[str]:
    """Return what exhibits, at least one, are linked to, each link as `write_link` writes it."""
    rows = f"FROM {kind.link_table} WHERE {format_match('exhibit_id', sorted(ids))}"
    return select_packed(transaction, f"exhibit_id, {kind.key_column}", rows)


def write_link(exhibit_id: int, name_id: int) -> str:
    """Return a link as a text, which is compared in sets."""
    return f"{exhibit_id}{BETWEEN_VALUES}{name_id}"


def split_link(link: str) -> tuple[int, int]:
    """Return the ids of the exhibit and the name."""
    exhibit_id, name_id = link.split(BETWEEN_VALUES)
    return int(exhibit_id), int(name_id)


def read_names(transaction: Session, kind: NameKind, ids: Collection[int]) -> dict[int, str]:
    """Return the names with these ids, by id; one that was deleted is missing."""
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
