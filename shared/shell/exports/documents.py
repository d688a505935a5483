"""Read the documents of an export, and the rows of those kinds that have one row for each document or tag.

Guaranteed: the number of statements for a window does not depend on its documents; each document comes with its own
rows, in the order of the window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.exhibit_dates import describe_precisions
from shell.exhibits.match_keys import MatchKey
from shell.exhibits.search import has_native, has_text
from shell.exhibits.summaries import build_document, list_names
from shell.families.reading import find_parents
from shell.tables.custodians_tags import Tags
from shell.tables.exhibits import Exhibits
from shell.tables.links import Taggings
from shell.tables.pages import PageSets
from shell.utils.db_helpers import force_index, is_in
from shell.utils.document_properties import parse_properties

Row = dict[str, Any]
Found = Iterator[tuple[MatchKey, Iterator[Row]]]
# Columns of exhibits that others are found or made from.
_NEEDED = ("id", "control_number", "bates_begin", "parent_control_number", "import_id", "line_no")
_STORED = {"line": "line_no", "properties": "document_properties"}
_FILES = {"has_native": has_native, "has_text": has_text}


def read_documents(reading: Session, case_id: int, keys: Sequence[MatchKey], columns: Collection[str]) -> Found:
    """Yield each document with its row, which has these columns."""
    ids = [each.id for each in keys]
    rows = {row.id: row for row in reading.execute(_select(ids, columns))}
    parents: Mapping[int, Any] = {}
    if "parent_control_number" in columns:
        parents = find_parents(reading, case_id, [build_document(rows[each]) for each in ids])
    names = {kind: list_names(reading, kind, ids) for kind in ("custodians", "tags") if kind in columns}
    for key in keys:
        row, parent = rows[key.id]._asdict(), parents.get(key.id)
        made: Row = {kind: named.get(key.id, []) for kind, named in names.items()}
        made["parent_control_number"] = parent.control_number if parent else None
        yield key, iter([{name: _convert(name, row, made) for name in columns}])


def _select(ids: Sequence[int], columns: Collection[str]) -> Any:
    stored = dict.fromkeys((*_NEEDED, *(_STORED.get(name, name) for name in columns)))
    chosen: list[Any] = [getattr(Exhibits, name) for name in stored if name in Exhibits.__table__.columns]
    chosen += [build().label(name) for name, build in _FILES.items() if name in columns]
    statement = select(*chosen, PageSets.page_count).outerjoin(PageSets, PageSets.id == Exhibits.page_set_id)
    return force_index(statement.where(is_in(Exhibits.id, sorted(ids))), Exhibits, "PRIMARY")


def _convert(name: str, row: Mapping[str, Any], made: Mapping[str, Any]) -> Any:
    if name in made:
        return made[name]
    value = row[_STORED.get(name, name)]
    if name == "properties":
        return parse_properties(value) if value else {}
    if name == "date_precision":
        return describe_precisions(value)
    if name == "page_count":
        return value or 0
    return bool(value) if name in _FILES else value


def read_tags(reading: Session, keys: Sequence[MatchKey]) -> Found:
    """Yield each document with a row for each of its tags, by name."""
    statement = select(Taggings.exhibit_id, Tags.name, Taggings.user_id).join(Tags, Tags.id == Taggings.tag_id)
    statement = statement.where(is_in(Taggings.exhibit_id, sorted(each.id for each in keys)))
    found: dict[int, list[Row]] = {}
    for row in reading.execute(statement.order_by(Taggings.exhibit_id, Tags.name)):
        found.setdefault(row.exhibit_id, []).append({"tag": row.name, "user_id": row.user_id})
    for key in keys:
        yield key, (name_document(key) | row for row in found.get(key.id, ()))


def name_document(key: MatchKey) -> dict[str, Any]:
    """Return the columns that say to which document a row belongs."""
    return {"exhibit_id": key.id, "control_number": key.control_number}
