"""List the exhibits of a tenant's case, by control number, in both directions, and sample the list.

Guaranteed: data of another tenant is not found, exactly as if it did not exist; the number of statements for a page
does not depend on the length of the list or the page; pages follow a unique key, so that a client that reads all pages,
in either direction, gets every exhibit that existed throughout exactly once, whatever is added meanwhile.
With filters, a request searches a part of the case and returns what that has: a page or a sample with `next` may be
short or empty. The items of samples are as far apart as requested when they were read; a sample without filters reads
`limit * every` entries of an index at most.
Not guaranteed: that two pages, or a page and its total, show the same state.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibit_lists import ExhibitKeyList, ExhibitPage
from core.contracts.exhibit_queries import ExhibitKeysQuery, ExhibitQuery
from core.errors import InvalidInputError
from core.pagination import build_cursor_error, decode_cursor, encode_cursor
from shell.db.session import session
from shell.exhibits import search
from shell.exhibits.case_list import count_documents
from shell.exhibits.cases import get_chosen_case
from shell.exhibits.match_keys import (
    Counted,
    Found,
    Start,
    Window,
    count_matches,
    open_window,
    read_keys,
    select_window,
)
from shell.exhibits.matches import Matches, find_matches
from shell.exhibits.summaries import describe_exhibits
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import decode_start_key, is_storable

_NO_KEY = "from: no control number has this length or these characters; send the begin of one."


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_exhibits(caller: Caller, query: ExhibitQuery) -> ExhibitPage:
    """Return a page of the case's exhibits that match all filters, in the byte order of their control numbers.

    The database decides which names of custodians and tags are equal; a value that its column cannot store matches
    nothing. Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue and
    for a `from` that no column can store.
    """
    start = _find_start(query)
    with session() as reading:
        case_id = get_chosen_case(reading, caller, query)
        matches = find_matches(reading, case_id, query)
        page = ExhibitPage(items=[], next=None)
        if matches is not None:
            page = _read_page(reading, matches, query, start)
        if query.count:
            page = _add_total(reading, matches, page)
    return page


def _find_start(query: ExhibitQuery) -> Start:
    """Return where the page is read from, and which way; the page before a cursor is read backwards."""
    is_descending = (query.order == "desc") != (query.before is not None)
    if query.first is not None:
        if not is_storable(query.first, "exhibits", "control_number"):
            raise InvalidInputError(_NO_KEY)
        return Start(query.first, is_descending, is_inclusive=True)
    return Start(decode_start_key(query.before or query.after, "exhibits", "control_number"), is_descending)


def _read_page(reading: Session, matches: Matches, query: ExhibitQuery, start: Start) -> ExhibitPage:
    found = read_keys(reading, matches, start, query.limit + 1)
    following, preceding = _find_neighbours(reading, matches, query, start, found)
    page = found.keys[: query.limit]
    ordered = page[::-1] if query.before else page
    items = describe_exhibits(reading, matches.case_id, [each.id for each in ordered], query.include)
    searched = found.searched if found.reached is not None else None
    return ExhibitPage(items=items, next=following, prev=preceding, searched=searched)


def _find_neighbours(
    reading: Session, matches: Matches, query: ExhibitQuery, start: Start, found: Found
) -> tuple[str | None, str | None]:
    """Return the cursors `next` and `prev`.

    The extra key shows that more follow in the direction of reading, or the search ended before the list; a cursor
    shows that the page which it came from is there. Before `from` are all exhibits of the case that have such keys: to
    find a match among them may take long.
    """
    page, reached = found.keys[: query.limit], found.reached
    last = page[-1].control_number if len(found.keys) > query.limit else reached
    # From an empty page, the way back begins where its search ended or, at the end of the list, where it began.
    first = page[0].control_number if page else reached or start.key
    onward = encode_cursor(last) if last is not None else None
    back = encode_cursor(first) if first is not None and start.key is not None else None
    if query.before is not None:
        return back, onward
    if query.first is not None:
        key = page[0].control_number if page else query.first
        before = read_keys(reading, Matches(matches.case_id), Start(key, not start.is_descending), 1)
        back = encode_cursor(key) if before.keys else None
    return onward, back


def _add_total(reading: Session, matches: Matches | None, page: ExhibitPage) -> ExhibitPage:
    """Return the page with the number of matches: exact without filters, what one search counts with them."""
    if matches is not None and not matches.filters:
        return page.model_copy(update={"total": count_documents(reading, matches.case_id)})
    counted = count_matches(reading, matches) if matches else Counted(0, is_least=False)
    total = min(counted.number, search.MAX_SEARCHED)
    return page.model_copy(update={"total": total, "total_is_lower_bound": counted.is_least})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def sample_keys(caller: Caller, query: ExhibitKeysQuery) -> ExhibitKeyList:
    """Return every `every`-th control number of the matches, in byte order, from the requested place on.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue and for a
    `from` that no column can store.
    """
    place = _find_place(query)
    with session() as reading:
        case_id = get_chosen_case(reading, caller, query)
        matches = find_matches(reading, case_id, query.select())
        if matches is None:
            return ExhibitKeyList(items=[], next=None)
        keys, following = (_number if matches.filters else _skip)(reading, matches, place, query)
    return ExhibitKeyList(items=keys, next=encode_cursor(*following) if following else None)


class _Place(NamedTuple):
    """Where a sample begins, and how many matches from there on are before its first item."""

    start: Start
    passed: int


def _find_place(query: ExhibitKeysQuery) -> _Place:
    if query.after is not None:
        key, passed = decode_cursor(query.after, (str, int))
        if not is_storable(key, "exhibits", "control_number"):
            raise build_cursor_error()
        return _Place(Start(key), passed)
    if query.first is not None and not is_storable(query.first, "exhibits", "control_number"):
        raise InvalidInputError(_NO_KEY)
    return _Place(Start(query.first, is_inclusive=True), 0)


# The items of a sample, and the values of the cursor of what follows them.
_Sample = tuple[list[str], tuple[str, int] | None]


def _skip(reading: Session, matches: Matches, place: _Place, query: ExhibitKeysQuery) -> _Sample:
    """Return the sample of a whole case, each key found from the one before it.

    A statement for each key takes a tenth of the time of one that numbers all exhibits between them.
    """
    keys, (start, distance) = list[str](), place
    while len(keys) <= query.limit:
        statement = select_window(matches, Window(start, None)).offset(distance).limit(1)
        row = reading.execute(statement).one_or_none()
        if row is None:
            return keys, None
        start, distance = Start(row.control_number), query.every - 1
        keys.append(row.control_number)
    return keys[: query.limit], (keys[query.limit - 1], query.every - 1)


def _number(reading: Session, matches: Matches, place: _Place, query: ExhibitKeysQuery) -> _Sample:
    """Return the sample of matches, out of those of one search that are numbered."""
    window = open_window(reading, matches, place.start)
    if window is None:
        return [], None
    most = query.limit * query.every + place.passed + 1
    found = select_window(matches, window).limit(most).subquery()
    number = func.row_number().over(order_by=found.c.control_number)
    numbered = select(found.c.control_number, number.label("place"), func.count().over().label("matches")).subquery()
    # Without a difference: places are unsigned in MySQL, which refuses one below zero.
    first = 1 + place.passed
    is_item = and_(numbered.c.place >= first, numbered.c.place % query.every == first % query.every)
    # The last one says how many there are.
    rows = select(numbered, is_item.label("is_item")).where(or_(is_item, numbered.c.place == numbered.c.matches))
    read = reading.execute(rows.order_by(numbered.c.place)).all()
    keys = [row.control_number for row in read if row.is_item]
    if len(keys) > query.limit:
        return keys[: query.limit], (keys[query.limit - 1], query.every - 1)
    if window.end is None:
        return keys, None
    return keys, (window.end, (place.passed - (read[-1].matches if read else 0)) % query.every)
