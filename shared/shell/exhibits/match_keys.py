"""Read the keys of matching exhibits, in the order of their control numbers or in reverse, and count them.

Guaranteed: the server reads the tables in the order of the joins here, and each by the index that is named: by itself
it may read a whole case for a page. Where no lead has few exhibits, a page is searched in as many of the case as
`Matches.searched` says, and ends there; so what a request costs is bounded, and where a search ends changes no result.
A search begins where the zones of the case have the first exhibit that it can find, if they are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session, aliased

from shell.exhibits import search
from shell.exhibits.matches import Matches
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import force_index
from shell.zones.zone_map import list_zones
from shell.zones.zone_walks import Ids, find_first

# Exhibits in which a page is searched before the zones are read; then in so many times as many at once.
NEAR, _GROWTH = 2_000, 4
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


class Found(NamedTuple):
    """The first matches, and the control number that the search has passed; None where it did not end early.

    `searched` is in how many exhibits of the case it searched or that it could skip, if it ended early.
    """

    keys: list[MatchKey]
    reached: str | None = None
    searched: int = 0


class Window(NamedTuple):
    """A part of the list: from a place to a key, which belongs to it; None: to its end."""

    start: Start
    end: str | None


class Begin(NamedTuple):
    """From where on a search can find matches, and about how many exhibits it could skip."""

    start: Start
    skipped: int = 0


class Counted(NamedTuple):
    """A number of matches; there are more, or may be, if it `is_least`."""

    number: int
    is_least: bool


def read_keys(reading: Session, matches: Matches, start: Start, most: int) -> Found:
    """Return the first `most` matches from the start, or those that one search finds."""
    if matches.searched is None:
        return Found(_read(reading, matches, Window(start, None), most))
    keys, passed, reached = list[MatchKey](), 0, start.key
    for size in _list_sizes(matches.searched):
        if passed == NEAR:
            begin = _skip(reading, matches, start)
            if begin is None:
                return Found(keys)
            start, passed = begin.start, passed + begin.skipped
        window = _find_window(reading, matches.case_id, start, size)
        keys += _read(reading, matches, window, most - len(keys))
        if len(keys) == most or window.end is None:
            return Found(keys)
        start, reached, passed = start._replace(key=window.end, is_inclusive=False), window.end, passed + size
    return Found(keys, reached, passed)


def _list_sizes(exhibits: int) -> Iterator[int]:
    """Yield the sizes of the parts in which so many exhibits are searched: most pages are found in the first one."""
    size = NEAR
    while exhibits > 0:
        yield min(size, exhibits)
        exhibits, size = exhibits - size, _GROWTH * size


def iterate_keys(reading: Session, matches: Matches, start: Start, most: int) -> Iterator[list[MatchKey]]:
    """Yield all matches from the start, at most `most` and at least one at a time."""
    while True:
        found = read_keys(reading, matches, start, most)
        if found.keys:
            yield found.keys
        reached = found.keys[-1].control_number if len(found.keys) == most else found.reached
        if reached is None:
            return
        start = start._replace(key=reached, is_inclusive=False)


def open_window(reading: Session, matches: Matches, start: Start) -> Window | None:
    """Return the part of the list that one search reads, from the first exhibit on that it can find; None without one.

    Where `Matches.searched` is None, it goes to the end of the list.
    """
    if matches.searched is None:
        return Window(start, None)
    begin = _skip(reading, matches, start)
    return _find_window(reading, matches.case_id, begin.start, matches.searched) if begin else None


def _skip(reading: Session, matches: Matches, start: Start) -> Begin | None:
    """Return from where on there can be matches; None if there are no more."""
    if not matches.broad and matches.import_id is None:
        return Begin(start)
    place = (reading, matches.case_id, start.key)
    zones = list_zones(*place, is_descending=start.is_descending, import_id=matches.import_id)
    if zones is None:
        return Begin(start)

    def has_any(groups: Sequence[Ids]) -> Sequence[bool]:
        # What an import created is known to be in all of its zones.
        if not matches.broad:
            return [True] * len(groups)
        parts = [lead.find_any(ids).scalar_subquery() for ids in groups for lead in matches.broad]
        there = [each is not None for each in reading.execute(select(*parts)).one()]
        size = len(matches.broad)
        return [all(there[begin : begin + size]) for begin in range(0, len(there), size)]

    first = find_first(zones, has_any)
    if first is None:
        return None
    zone, key = zones[first].zone, start.key
    begin = zone.last_number if start.is_descending else zone.first_number
    if key is None or (begin < key if start.is_descending else begin > key):
        start = Start(begin, start.is_descending, is_inclusive=True)
    return Begin(start, sum(each.exhibits for each in zones[:first]))


def _find_window(reading: Session, case_id: int, start: Start, exhibits: int) -> Window:
    """Return the part of the list from the start on that has so many exhibits of the case."""
    statement = force_index(select(_KEY).where(Exhibits.case_id == case_id), Exhibits, "uq_exhibits_control_number")
    end = reading.scalars(_order(statement, start).offset(exhibits - 1).limit(1)).one_or_none()
    return Window(start, end)


def select_window(matches: Matches, window: Window) -> Select[Any]:
    """Return the SELECT of the ids and control numbers of the matches in a part of the list, in order."""
    statement = _order(_select(matches), window.start)
    if window.end is not None:
        statement = statement.where(window.end <= _KEY if window.start.is_descending else window.end >= _KEY)
    return statement


def _read(reading: Session, matches: Matches, window: Window, most: int) -> list[MatchKey]:
    return [MatchKey(*row) for row in reading.execute(select_window(matches, window).limit(most))]


def _order(statement: Select[Any], start: Start) -> Select[Any]:
    key, is_descending, is_inclusive = start
    if key is not None and is_inclusive:
        statement = statement.where(key >= _KEY if is_descending else key <= _KEY)
    elif key is not None:
        statement = statement.where(key > _KEY if is_descending else key < _KEY)
    return statement.order_by(_KEY.desc() if is_descending else _KEY)


def _select(matches: Matches) -> Select[Any]:
    """Return the SELECT of the matches: the exhibits of the lead or in order, then their links."""
    lead = matches.lead
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


def count_matches(reading: Session, matches: Matches) -> Counted:
    """Return how many matches one search finds from the begin of the list on, at most MAX_SEARCHED + 1."""
    window = Window(Start(None), None) if matches.exact else open_window(reading, matches, Start(None))
    if window is None:
        return Counted(0, is_least=False)
    counted = matches.exact.parts[0] if matches.exact else select_window(matches, window)
    number = _count(reading, counted, search.MAX_SEARCHED + 1)
    return Counted(number, window.end is not None or number > search.MAX_SEARCHED)


def count_all(reading: Session, matches: Matches, most: int) -> int:
    """Return the number of matches, at most `most`, however many exhibits are read for it."""
    return _count(reading, _select(matches), most)


def _count(reading: Session, statement: Select[Any], most: int) -> int:
    rows = statement.limit(most).subquery()
    return int(reading.execute(select(func.count()).select_from(rows)).scalar_one())
