"""Decide how the exhibits that match a list's filters are found: by few that an index leads to, or in order.

Guaranteed: what is found is what all filters select; no filter is refused. Where no index leads to few exhibits, those
of the case are searched in the order of the list, and `Matches.searched` says how many of them for one page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import DeclarativeBase, Session

from core.contracts.exhibit_queries import ExhibitQuery
from core.errors import NotFoundError
from shell.exhibits import search
from shell.exhibits.filters import build_exhibit_filters
from shell.exhibits.leads import (
    FEW,
    FEW_IN_RANGE,
    FEW_LINKED,
    HIGHEST,
    LOOKBACK,
    Lead,
    Link,
    has_link,
    is_long,
    lacks_tag,
    lead_by_bates_range,
    lead_by_ids,
    lead_by_import,
    lead_by_link,
    lead_by_links,
    lead_by_overlay,
    lead_by_tags,
    list_few,
)
from shell.families.members import list_attachments, list_family
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits
from shell.tables.imports import Imports
from shell.tables.links import CustodianExhibits, Taggings
from shell.utils.db_helpers import force_index, is_in
from shell.utils.key_validation import is_storable
from shell.utils.named_rows import find_named

# Between the levels of the name of a nested tag.
_NESTED = "\\"
# What it costs to decide a condition, or one on files, if it costs 1 to look a link up by its primary key.
_OF_CONDITION, _OF_FILES = 2, 6


class Matches(NamedTuple):
    """The exhibits of a case that match all filters: they meet the conditions, have the links, and are in the lead.

    `filters` is the number of filters. `exact` is the lead that has the matches and nothing else, also if these are too
    many to lead. `broad` are the leads that ranges of ids restrict, and `import_id` is the import that created all
    matches: where there are any is found by them. `cost` is what it costs to decide whether an exhibit matches; 0: a
    page reads no others.
    """

    case_id: int
    conditions: tuple[ColumnElement[bool], ...] = ()
    links: tuple[Link, ...] = ()
    lead: Lead | None = None
    filters: int = 0
    exact: Lead | None = None
    broad: tuple[Lead, ...] = ()
    import_id: int | None = None
    cost: int = 0

    @property
    def searched(self) -> int | None:
        """In how many exhibits of the case a page is searched; None: what is read is as much as the page has."""
        return max(search.MAX_SEARCHED // self.cost, 1) if self.cost and self.lead is None else None


class _NoMatchError(Exception):
    """A filter names what the case does not have."""


def find_matches(reading: Session, case_id: int, query: ExhibitQuery) -> Matches | None:
    """Return how the exhibits that match the query are found; None if there are none."""
    try:
        named = _find_links(reading, case_id, query)
        known = [*named, *_list_leads(reading, case_id, query)]
    except _NoMatchError:
        return None
    lead = _choose_lead(reading, case_id, query, known)
    conditions = (*_list_conditions(reading, case_id, query), *_build_conditions(known, lead))
    links = tuple(each.link for each in named if each.link)
    filters = len(list(query.list_filters()))
    files = sum(each is not None for each in (query.has_native, query.has_text))
    cost = len(links) + _OF_CONDITION * (len(conditions) - files) + _OF_FILES * files
    return Matches(
        case_id,
        conditions,
        links,
        lead,
        filters,
        exact=known[0] if filters == 1 and len(known) == 1 and known[0].is_exact else None,
        broad=tuple(each for each in known if each.ids is not None),
        import_id=query.import_id,
        # There is one exhibit with a control number at most.
        cost=cost if query.control_number is None else 0,
    )


def find_conditions(reading: Session, case_id: int, query: ExhibitQuery) -> list[ColumnElement[bool]] | None:
    """Return conditions that select the matches among exhibits which are found otherwise; None if there are none."""
    try:
        named = _find_links(reading, case_id, query)
        known = [*named, *_list_leads(reading, case_id, query)]
    except _NoMatchError:
        return None
    return [
        *_list_conditions(reading, case_id, query),
        *_build_conditions(known, None),
        *(has_link(each.link) for each in named if each.link),
    ]


def _list_conditions(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of the filters that lead to no exhibits, and that of the control number."""
    yield from build_exhibit_filters(case_id, None, None, query.control_number)
    yield from search.build_search_conditions(case_id, query)
    yield from _leave_out(query)
    yield from _find_without(reading, case_id, query)


def _find_links(reading: Session, case_id: int, query: ExhibitQuery) -> list[Lead]:
    """Return a lead for each custodian and tag. Raises _NoMatchError for a name that the case does not have."""
    wanted: dict[type[DeclarativeBase], list[str]] = {Custodians: query.custodian, Tags: query.tag}
    if not all(is_storable(name, model.__tablename__, "name") for model in wanted for name in wanted[model]):
        raise _NoMatchError
    found = find_named(reading, case_id, wanted)
    if any(name not in found[model] for model in wanted for name in wanted[model]):
        raise _NoMatchError
    return [
        *(lead_by_link(Link(CustodianExhibits, row.id)) for row in found[Custodians].values()),
        *(lead_by_link(Link(Taggings, row.id)) for row in found[Tags].values()),
    ]


def _list_leads(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[Lead]:
    """Yield a lead for each filter of its kind that is no link. Raises _NoMatchError."""
    yield from _list_named(reading, case_id, query)
    yield from _list_tag_trees(reading, case_id, query)
    yield from _list_imports(reading, case_id, query)
    yield from _list_families(reading, case_id, query)


def _list_named(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[Lead]:
    """Yield the lead to the exhibits that are named by their ids. Raises _NoMatchError if the case has none of them."""
    if query.ids:
        ids = _find_own(reading, case_id, query.ids)
        if not ids:
            raise _NoMatchError
        yield lead_by_ids(ids)


def _find_own(reading: Session, case_id: int, ids: Sequence[int]) -> list[int]:
    """Return those of the ids that exhibits of the case have, in ascending order."""
    own = select(Exhibits.id).where(is_in(Exhibits.id, ids), Exhibits.case_id == case_id)
    return sorted(reading.scalars(force_index(own, Exhibits, "PRIMARY")))


def _leave_out(query: ExhibitQuery) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that an exhibit is not one of those left out; every index has the ids."""
    if query.except_ids:
        yield ~is_in(Exhibits.id, query.except_ids)


def _list_tag_trees(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[Lead]:
    """Yield a lead for each tag with those nested in it. Raises _NoMatchError if the case has none of them."""
    for name in query.tag_tree:
        if not is_storable(name, "tags", "name"):
            raise _NoMatchError
        nested = Tags.name.startswith(name + _NESTED, autoescape=True)
        ids = reading.scalars(select(Tags.id).where(Tags.case_id == case_id, or_(Tags.name == name, nested))).all()
        if not ids:
            raise _NoMatchError
        yield lead_by_tags(ids)


def require_own(reading: Session, case_id: int, filters: Mapping[str, Any]) -> None:
    """Raise NotFoundError for a filter by an import or exhibit that the case does not have; `filters` by API names.

    A list has no matches then; what stores its filters is refused, so that no id of another tenant is kept.
    """
    for import_id in (filters.get("importId"), filters.get("changedByImport")):
        if import_id is not None and reading.scalar(select(Imports.case_id).where(Imports.id == import_id)) != case_id:
            raise NotFoundError(f"The case has no import {import_id}; name one of this case.")
    named = {*(filters.get("ids") or ()), *(filters.get("exceptIds") or ())}
    if missing := named.difference(_find_own(reading, case_id, sorted(named)) if named else ()):
        raise NotFoundError(f"The case has no exhibit {min(missing)}; name exhibits of this case.")


def _list_imports(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[Lead]:
    """Yield a lead for each import. Raises _NoMatchError unless the case has it; one of another looks like none."""
    for import_id, lead in ((query.import_id, lead_by_import), (query.changed_by_import, lead_by_overlay)):
        if import_id is not None:
            if reading.scalar(select(Imports.case_id).where(Imports.id == import_id)) != case_id:
                raise _NoMatchError
            yield lead(import_id)


def _list_families(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[Lead]:
    """Yield a lead for each family or parent. Raises _NoMatchError if it has no exhibits."""
    for number, find in ((query.parent, list_attachments), (query.family, list_family)):
        if number is not None:
            ids = find(reading, case_id, number) if is_storable(number, "exhibits", "control_number") else []
            if not ids:
                raise _NoMatchError
            yield lead_by_ids(ids)


def _find_without(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that an exhibit lacks the tag; none if the case does not have the tag."""
    name = query.without_tag
    if name is not None and is_storable(name, "tags", "name"):
        yield from (lacks_tag(row.id) for row in find_named(reading, case_id, {Tags: [name]})[Tags].values())


def _build_conditions(known: Sequence[Lead], lead: Lead | None) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of the leads besides the one that is used."""
    return (each.condition for each in known if each.condition is not None and each is not lead)


def _choose_lead(reading: Session, case_id: int, query: ExhibitQuery, known: Sequence[Lead]) -> Lead | None:
    """Return a lead to few exhibits; None if there is none, or a control number needs none."""
    if query.control_number is not None:
        return None
    few = chain(list_few(reading, known, FEW), _lead_by_links(reading, known), _lead_by_range(reading, case_id, query))
    return next(few, None)


def _lead_by_links(reading: Session, known: Sequence[Lead]) -> Iterator[Lead]:
    """Yield the lead to the exhibits that have all custodians and tags, where one of these does not have too many."""
    linked = [each for each in known if each.link]
    first = next(iter(list_few(reading, linked, FEW_LINKED)), None) if len(linked) > 1 else None
    if first is not None:
        joined = lead_by_links(first, [each.link for each in linked if each.link and each is not first])
        yield from list_few(reading, [joined], FEW)


def _lead_by_range(reading: Session, case_id: int, query: ExhibitQuery) -> Iterator[Lead]:
    """Yield the lead by the Bates range of a long case: it has all ranges that begin before, where they are few."""
    if (query.bates_from is None and query.bates_to is None) or not is_long(reading, case_id):
        return
    for lookback in (HIGHEST, LOOKBACK):
        ranges = lead_by_bates_range(case_id, query.bates_from, query.bates_to, lookback)
        yield from list_few(reading, [ranges] if ranges else [], FEW_IN_RANGE)
