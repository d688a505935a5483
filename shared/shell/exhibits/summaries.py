"""Describe exhibits of one case as lists have them.

Guaranteed: a few statements for any number of exhibits, two more for their custodians and tags. An exhibit that was
removed meanwhile is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.contracts import exhibit_lists as schemas
from core.exhibit_fields import LISTED_TEXTS
from core.families.resolution import Document
from shell.exhibits.search import has_native, has_text
from shell.families.reading import find_parents
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits, Taggings
from shell.tables.pages import PageSets
from shell.utils.db_helpers import force_index, is_in

_COLUMNS = (
    *("id", "control_number", "bates_begin", "bates_end", "parent_control_number", "title", "file_name"),
    *("document_date", "import_id", "line_no", "version"),
)
_SELECTED = tuple(dict.fromkeys((*_COLUMNS, *LISTED_TEXTS)))


def describe_exhibits(
    reading: Session, case_id: int, ids: Sequence[int], include: Collection[str]
) -> list[schemas.ExhibitSummary]:
    """Return the exhibits of the case with these ids, in the order of the ids; `include` are fields of the summary."""
    if not ids:
        return []
    rows = {row.id: row for row in reading.execute(_select(case_id, ids))}
    found = [rows[each] for each in ids if each in rows]
    parents = find_parents(reading, case_id, [build_document(row) for row in found])
    names = {kind: list_names(reading, kind, ids) for kind in include}
    return [
        _describe(
            row,
            parent_control_number=parents[row.id].control_number if row.id in parents else None,
            **{kind: named.get(row.id, []) for kind, named in names.items()},
        )
        for row in found
    ]


def build_document(row: Any) -> Document:
    """Return the exhibit as families see it."""
    return Document(row.id, row.control_number, row.bates_begin, row.parent_control_number, row.import_id, row.line_no)


def _select(case_id: int, ids: Sequence[int]) -> Any:
    columns = [getattr(Exhibits, name) for name in _SELECTED]
    statement = select(*columns, has_native().label("has_native"), has_text().label("has_text"), PageSets.page_count)
    statement = statement.outerjoin(PageSets, PageSets.id == Exhibits.page_set_id)
    statement = statement.where(is_in(Exhibits.id, sorted(ids)), Exhibits.case_id == case_id)
    return force_index(statement, Exhibits, "PRIMARY")


def _describe(row: Any, **found: Any) -> schemas.ExhibitSummary:
    values = {**row._mapping, **found, "page_count": row.page_count or 0}
    return schemas.ExhibitSummary(
        **{name: values[name] for name in schemas.ExhibitSummary.model_fields if name in values}
    )


def list_names(reading: Session, kind: str, ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the names of the exhibits' custodians or tags, by exhibit, in the order of the names; one statement."""
    statement = select(CustodianExhibits.exhibit_id, Custodians.name)
    exhibit_id, name = CustodianExhibits.exhibit_id, Custodians.name
    statement = statement.join(Custodians, Custodians.id == CustodianExhibits.custodian_id)
    if kind == "tags":
        exhibit_id, name = Taggings.exhibit_id, Tags.name
        statement = select(exhibit_id, name).join(Tags, Tags.id == Taggings.tag_id)
    found: dict[int, list[str]] = {}
    for exhibit, each in reading.execute(statement.where(is_in(exhibit_id, sorted(ids))).order_by(exhibit_id, name)):
        found.setdefault(exhibit, []).append(each)
    return found
