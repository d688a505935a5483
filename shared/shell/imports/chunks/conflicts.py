"""Explain the rows whose exhibits the case holds with other values: which columns differ, and where those came from.

Guaranteed: it only reads, and only exhibits of the import's tenant and case;
two stored forms of the same properties are not a difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.errors import UnavailableError
from core.exhibit_dates import EVENT_DATES
from core.exhibit_fields import KEYS, TEXTS
from core.imports.conflicts import Differences, Origin, describe_conflict
from core.load_file.layout import Layout
from core.load_file.rows import RowError
from shell.imports.rows.coercion import COLUMNS, StorableRow
from shell.tables.imports import Imports
from shell.utils.document_properties import parse_properties

# An exhibit can take 64 KB.
EXHIBITS_PER_STATEMENT = 100
REMOVED_MEANWHILE = "An exhibit was removed by an undo after the chunk was read; the chunk is read again."
_FIELDS = (*KEYS[1:], *TEXTS, "document_date")
_STORED = text(
    "SELECT e.*, e.row_hash IS NULL AS edited, COALESCE(i.file_name, '') AS source_file "
    "FROM exhibits AS e JOIN cases AS c ON c.id = e.case_id LEFT JOIN imports AS i ON i.id = e.import_id "
    "WHERE e.id IN :ids AND e.case_id = :case_id AND c.tenant_id = :tenant_id"
).bindparams(bindparam("ids", expanding=True))


def explain_conflicts(
    transaction: Session, import_record: Imports, layout: Layout, rows: Sequence[tuple[StorableRow, int]]
) -> Iterator[tuple[StorableRow, Sequence[RowError]]]:
    """Yield the rows of an import, given with the ids of their exhibits, each with its error.

    Raises UnavailableError for an exhibit that the import's case does not have any more.
    """
    stored = _read_stored(transaction, import_record, [exhibit_id for _, exhibit_id in rows])
    for (row, _), theirs in zip(rows, stored, strict=True):
        differences = _find_differences(layout, dict(zip(COLUMNS, row.values, strict=True)), theirs)
        yield row, [describe_conflict(differences, _read_origin(theirs))]


def find_origins(transaction: Session, import_record: Imports, exhibit_ids: Sequence[int]) -> dict[int, Origin]:
    """Return where the values of exhibits came from, by the ids of the exhibits.

    Raises UnavailableError for an exhibit that the import's case does not have any more.
    """
    return {row["id"]: _read_origin(row) for row in _read_stored(transaction, import_record, exhibit_ids)}


def _read_stored(
    transaction: Session, import_record: Imports, exhibit_ids: Sequence[int]
) -> Iterator[Mapping[Any, Any]]:
    """Yield the exhibits in the order of their ids in the list."""
    case = {"case_id": import_record.case_id, "tenant_id": import_record.tenant_id}
    for start in range(0, len(exhibit_ids), EXHIBITS_PER_STATEMENT):
        ids = exhibit_ids[start : start + EXHIBITS_PER_STATEMENT]
        stored = {row["id"]: row for row in transaction.execute(_STORED, {"ids": ids, **case}).mappings()}
        if len(stored) < len(ids):
            raise UnavailableError(REMOVED_MEANWHILE)
        yield from (stored[exhibit_id] for exhibit_id in ids)


def _read_origin(stored: Mapping[Any, Any]) -> Origin:
    return Origin(stored["import_id"], stored["source_file"], stored["line_no"], bool(stored["edited"]))


def _find_differences(layout: Layout, ours: Mapping[str, Any], theirs: Mapping[Any, Any]) -> Differences:
    """Return the texts that differ by column, in the order of the file; columns that it does not have come last."""
    # Exhibits that an earlier version stored do not have the other dates; their texts are compared as properties.
    fields = _FIELDS if theirs["date_precision"] is None else (*_FIELDS, *EVENT_DATES)
    pairs = {layout.titles.get(field, field): (_text(ours[field]), _text(theirs[field])) for field in fields}
    here, there = _parse(ours["document_properties"]), dict(_parse(theirs["document_properties"]))
    for field, index in layout.moved_texts:
        # So is a text of which they made a property.
        name = layout.names[index]
        if theirs[field] is None and name in there:
            pairs[name] = (pairs[name][0], there.pop(name))
    differing = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    for name in sorted(here.keys() | there.keys()):
        if here.get(name) != there.get(name):
            differing.setdefault(name, (here.get(name), there.get(name)))
    order = {name: index for index, name in enumerate(layout.names)}
    return dict(sorted(differing.items(), key=lambda item: order.get(item[0], len(order))))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _parse(stored: str | None) -> Mapping[str, str | None]:
    return {} if stored is None else parse_properties(stored)
