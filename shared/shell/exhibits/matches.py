"""Decide how the exhibits that match a list's filters are found: by the fewest that an index leads to, or in order.

Guaranteed: what is found is what all filters select; a request reads at most MAX_SEARCHED exhibits for conditions that
no index decides, or is refused. The number of statements depends on the filters alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import DeclarativeBase, Session

from core.contracts.exhibit_queries import ExhibitQuery
from core.errors import FilterTooBroadError, NotFoundError
from core.exhibit_fields import FILTERED_TEXTS
from shell.exhibits import search
from shell.exhibits.filters import build_exhibit_filters
from shell.exhibits.leads import (
    BROAD,
    HIGHEST,
    LOOKBACK,
    NARROW,
    SORTED,
    Lead,
    Link,
    exclude_tag,
    grade_leads,
    has_link,
    is_long,
    lead_by_bates_range,
    lead_by_ids,
    lead_by_import,
    lead_by_link,
    lead_by_overlay,
)
from shell.families.members import list_attachments, list_family
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.imports import Imports
from shell.tables.links import CustodianExhibits, Taggings
from shell.utils.key_validation import is_storable
from shell.utils.named_rows import find_named

# Filters that no index of the case decides; an import that created many exhibits is one, too.
_SEARCHED = (
    *("date_from", "date_to", "bates_from", "bates_to", "has_native", "has_text", "has_images"),
    *("import_id", "changed_by_import", *(field.name for field in FILTERED_TEXTS)),
)


class Matches(NamedTuple):
    """The exhibits of a case that match all filters: they meet the conditions, have the links, and are in the lead.

    `filters` is the number of filters. `exact` is the lead that has the matches and nothing else, also if these are too
    many to lead.
    """

    case_id: int
    conditions: tuple[ColumnElement[bool], ...] = ()
    links: tuple[Link, ...] = ()
    lead: Lead | None = None
    filters: int = 0
    exact: Lead | None = None


class _NoMatchError(Exception):
    """A filter names what the case does not have."""


def find_matches(reading: Session, case_id: int, query: ExhibitQuery) -> Matches | None:
    """Return how the exhibits that match the query are found; None if there are none.

    Raises FilterTooBroadError if too many exhibits would have to be read.
    """
    try:
        named = _find_links(reading, case_id, query)
        known = [*named, *_list_imports(reading, case_id, query), *_list_families(reading, case_id, query)]
    except _NoMatchError:
        return None
    without = _find_without(reading, case_id, query)
    graded = grade_leads(reading, [*known, *without], is_rough=not without and not _is_searched(query))
    excluded = [each for each in graded if each.is_excluded]
    lead = _choose_lead(reading, case_id, query, [each for each in graded if not each.is_excluded], excluded)
    conditions = (
        *build_exhibit_filters(case_id, None, None, query.control_number),
        *search.build_search_conditions(case_id, query),
        *_build_conditions([*known, *without], lead),
    )
    links = tuple(each.link for each in named if each.link)
    filters = len(list(query.list_filters()))
    exact = known[0] if filters == 1 and known and known[0].is_exact and len(known) == 1 else None
    return Matches(case_id, conditions, links, lead, filters, exact)


def find_conditions(reading: Session, case_id: int, query: ExhibitQuery) -> list[ColumnElement[bool]] | None:
    """Return conditions that select the matches among exhibits which are found otherwise; None if there are none.

    No filter is too broad for this: nothing is looked for by it.
    """
    try:
        named = _find_links(reading, case_id, query)
        known = [*named, *_list_imports(reading, case_id, query), *_list_families(reading, case_id, query)]
    except _NoMatchError:
        return None
    return [
        *build_exhibit_filters(case_id, None, None, query.control_number),
        *search.build_search_conditions(case_id, query),
        *_build_conditions([*known, *_find_without(reading, case_id, query)], None),
        *(has_link(each.link) for each in named if each.link),
    ]


def _find_links(reading: Session, case_id: int, query: ExhibitQuery) -> list[Lead]:
    """Return a lead for each custodian and tag. Raises _NoMatchError for a name that the case does not have."""
    wanted: dict[type[DeclarativeBase], list[str]] = {Custodians: query.custodian, Tags: query.tag}
    if not all(is_storable(name, model.__tablename__, "name") for model in wanted for name in wanted[model]):
        raise _NoMatchError
    found = find_named(reading, case_id, wanted)
    if any(name not in found[model] for model in wanted for name in wanted[model]):
        raise _NoMatchError
    return [
        *(
            lead_by_link(Link(CustodianExhibits, row.id), f"have the custodian {name!r}")
            for name, row in found[Custodians].items()
        ),
        *(lead_by_link(Link(Taggings, row.id), f"have the tag {name!r}") for name, row in found[Tags].items()),
    ]


def require_imports(reading: Session, case_id: int, filters: Mapping[str, object]) -> None:
    """Raise NotFoundError for a filter by an import that the case does not have; `filters` by their names in the API.

    A list has no matches then; what stores its filters is refused, so that no id of another tenant is kept.
    """
    for import_id in (filters.get("importId"), filters.get("changedByImport")):
        if import_id is not None and reading.scalar(select(Imports.case_id).where(Imports.id == import_id)) != case_id:
            raise NotFoundError(f"The case has no import {import_id}; name one of this case.")


def _list_imports(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[Lead]:
    """Yield a lead for each import. Raises _NoMatchError for one of another case, whose size is no one's business."""
    for import_id, lead in ((query.import_id, lead_by_import), (query.changed_by_import, lead_by_overlay)):
        if import_id is not None:
            if reading.scalar(select(Imports.case_id).where(Imports.id == import_id)) not in (None, case_id):
                raise _NoMatchError
            yield lead(import_id)


def _list_families(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[Lead]:
    """Yield a lead for each family or parent. Raises _NoMatchError if it has no exhibits."""
    for number, find in ((query.parent, list_attachments), (query.family, list_family)):
        if number is not None:
            ids = find(reading, case_id, number) if is_storable(number, "exhibits", "control_number") else []
            if not ids:
                raise _NoMatchError
            yield lead_by_ids(ids, "are of the family")


def _find_without(reading: Session, case_id: int, query: ExhibitQuery) -> list[Lead]:
    """Return the lead to those that have the tag which the matches lack; none if the case does not have the tag."""
    name = query.without_tag
    if name is None or not is_storable(name, "tags", "name"):
        return []
    found = find_named(reading, case_id, {Tags: [name]})[Tags]
    return [exclude_tag(row.id, f"have the tag {name!r}") for row in found.values()]


def _build_conditions(known: Sequence[Lead], lead: Lead | None) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of the leads besides the one that is used."""
    for each in known:
        if each.condition is not None and (
            lead is None or lead.grade >= SORTED or each.condition is not lead.condition
        ):
            yield each.condition


def _choose_lead(
    reading: Session, case_id: int, query: ExhibitQuery, known: list[Lead], without: Sequence[Lead]
) -> Lead | None:
    """Return the lead to the fewest exhibits, if it is needed. Raises FilterTooBroadError.

    A control number needs none. Without conditions that no index decides, neither is one needed.
    """
    few = [each for each in known if each.grade < NARROW]
    if query.control_number is not None or few:
        return few[0] if few and query.control_number is None else None
    if (any(map(_is_broad, without)) or _is_searched(query)) and is_long(reading, case_id):
        if not known or _is_broad(known[0]):
            known = sorted([*known, *_lead_by_range(reading, case_id, query)], key=lambda each: each.grade)
        if not known or _is_broad(known[0]):
            raise FilterTooBroadError(_describe_refusal([*known, *without]))
    return known[0] if known and not _is_broad(known[0]) else None


def _lead_by_range(reading: Session, case_id: int, query: ExhibitQuery) -> list[Lead]:
    """Return the lead by the Bates range, if there is one: it has all ranges that begin before, where they are few."""
    for lookback in (HIGHEST, LOOKBACK):
        ranges = lead_by_bates_range(case_id, query.bates_from, query.bates_to, lookback)
        graded = grade_leads(reading, [ranges] if ranges else [])
        if graded and graded[0].grade < NARROW:
            break
    return graded


def _is_searched(query: ExhibitQuery) -> bool:
    return any(getattr(query, name) is not None for name in _SEARCHED)


def _is_broad(lead: Lead) -> bool:
    return lead.grade == BROAD


def _describe_refusal(leads: Sequence[Lead]) -> str:
    most = f"{search.MAX_SEARCHED:,}"
    broad = ", ".join(dict.fromkeys(each.description for each in leads if _is_broad(each)))
    return (
        f"These filters read every exhibit that the others leave, at most {most}, and the case has more: add a "
        f"custodian or a tag that at most {most} exhibits have, an import that created or changed as few, a narrower "
        "Bates range, a parent, a family or a control number."
    ) + (f" More than {most} exhibits {broad}." if broad else "")
