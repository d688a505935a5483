"""Read the keys of matching exhibits, in the order of their control numbers or in reverse, and count them.

Guaranteed: the server reads the tables in the order of the joins here, and each by the index that is named: by itself
it may read a whole case for a page. Where the exhibits of a lead would have to be sorted, they are looked for in the
zones of the case first; if it has none, or they do not help, a part of the case is read in order, which is enough where
many of them match.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session, aliased

from shell.exhibits.leads import BROAD, NARROW, SORTED, Lead, build_count, grade_leads, lead_by_link
from shell.exhibits.matches import Matches
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import force_index
from shell.zones.zone_map import SizedZone, list_zones
from shell.zones.zone_walks import Ids, merge_ids, walk_zones

# Entries of the index that are read before a lead is sorted.
READ_IN_ORDER = 5_000
_KEY = Exhibits.control_number


class Start(NamedTuple):
    """The key after which reading begins, or with which if it is `inclusive`; None: at the end of the list."""

    key: str | None
    is_descending: bool = False
    is_inclusive: bool = False


class MatchKey(NamedTuple):
    """An exhibit's id and the control number by which the list is ordered."""

    id: int
    control_number: str


def read_keys(reading: Session, matches: Matches, start: Start, most: int) -> list[MatchKey]:
    """Return the keys of the first `most` matches from the start."""
    if matches.lead is not None and matches.lead.grade >= SORTED:
        found = _read_by_zones(reading, matches, matches.lead, start, most)
        if found is not None:
            return found
        matches = _grade(reading, matches, matches.lead)
    if matches.lead is not None and matches.lead.grade == NARROW:
        end = _find_end(reading, matches.case_id, start)
        keys = _read(reading, matches, None, start, most, end)
        if len(keys) == most or end is None:
            return keys
    return _read(reading, matches, matches.lead, start, most)


def _grade(reading: Session, matches: Matches, lead: Lead) -> Matches:
    """Return the matches with the grade of their lead as it is; without the lead, if it has too many exhibits."""
    graded = grade_leads(reading, [lead])[0] if lead.is_least else lead
    return matches._replace(lead=None if graded.grade == BROAD else graded)


def _read_by_zones(reading: Session, matches: Matches, lead: Lead, start: Start, most: int) -> list[MatchKey] | None:
    """Return what `read_keys` does; None if the case has no zones, or they do not help."""
    if lead.link is None and lead.import_id is None:
        return None
    place = (reading, matches.case_id, start.key)
    zones = list_zones(*place, is_descending=start.is_descending, import_id=lead.import_id)
    if zones is None:
        return None

    def count(groups: Sequence[Sequence[SizedZone]], needed: int) -> Sequence[int]:
        if lead.import_id is not None:
            return [sum(each.exhibits for each in group) for group in groups]
        led = [lead, *(lead_by_link(each, "") for each in matches.links if each != lead.link)]
        parts = [each.restrict(merge_ids(group)).parts[0].limit(needed) for group in groups for each in led]
        counts = [select(func.count()).select_from(part.subquery()).scalar_subquery() for part in parts]
        found = [int(each) for each in reading.execute(select(*counts)).one()]
        return [min(found[begin : begin + len(led)]) for begin in range(0, len(found), len(led))]

    def read(ids: Ids, following: SizedZone | None) -> list[MatchKey]:
        statement = _order(_select(matches, lead.restrict(ids)), start)
        if following is not None:
            zone = following.zone
            before = zone.last_number < _KEY if start.is_descending else zone.first_number > _KEY
            statement = statement.where(before)
        return [MatchKey(*row) for row in reading.execute(statement.limit(most))]

    return walk_zones(zones, most, count, read)


def _find_end(reading: Session, case_id: int, start: Start) -> str | None:
    """Return the control number that is READ_IN_ORDER exhibits after the start; None if the case has fewer."""
    statement = force_index(select(_KEY).where(Exhibits.case_id == case_id), Exhibits, "uq_exhibits_control_number")
    return reading.scalars(_order(statement, start).offset(READ_IN_ORDER).limit(1)).one_or_none()


def _read(
    reading: Session, matches: Matches, lead: Lead | None, start: Start, most: int, end: str | None = None
) -> list[MatchKey]:
    statement = _order(_select(matches, lead), start)
    if end is not None:
        statement = statement.where(end <= _KEY if start.is_descending else end >= _KEY)
    return [MatchKey(*row) for row in reading.execute(statement.limit(most))]


def _order(statement: Select[Any], start: Start) -> Select[Any]:
    key, is_descending, is_inclusive = start
    if key is not None and is_inclusive:
        statement = statement.where(key >= _KEY if is_descending else key <= _KEY)
    elif key is not None:
        statement = statement.where(key > _KEY if is_descending else key < _KEY)
    return statement.order_by(_KEY.desc() if is_descending else _KEY)


def _select(matches: Matches, lead: Lead | None) -> Select[Any]:
    """Return the SELECT of the matches: the exhibits of the lead or in order, then their links."""
    key: Any = _KEY
    statement: Select[Any] = select(Exhibits.id, key).where(Exhibits.case_id == matches.case_id, *matches.conditions)
    if lead is None:
        statement = force_index(statement.select_from(Exhibits), Exhibits, "uq_exhibits_control_number")
    else:
        source = lead.build_source()
        statement = statement.select_from(source).join(Exhibits, Exhibits.id == source.c.id)
        statement = force_index(statement, Exhibits, "PRIMARY")
    for link in matches.links:
        if lead is None or lead.link != link:
            pair = aliased(link.model)
            name_id = getattr(pair, link.key_column)
            statement = statement.join(pair, and_(pair.exhibit_id == Exhibits.id, name_id == link.name_id))
            statement = force_index(statement, pair, "PRIMARY")
    return statement.prefix_with("STRAIGHT_JOIN")


def count_matches(reading: Session, matches: Matches) -> int:
    """Return the number of matches, at most MAX_SEARCHED + 1."""
    statement = matches.exact.parts[0] if matches.exact else _select(matches, matches.lead)
    return int(reading.execute(select(build_count(statement))).scalar_one())
