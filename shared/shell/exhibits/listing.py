"""List the exhibits of a tenant's case, by control number, in both directions.

Guaranteed: data of another tenant is not found, exactly as if it did not exist; the number of statements for a page
does not depend on the length of the list or the page; pages follow a unique key, so that a client that reads all pages,
in either direction, gets every exhibit that existed throughout exactly once, whatever is added meanwhile.
Not guaranteed: that two pages, or a page and its total, show the same state.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibit_lists import ExhibitPage
from core.contracts.exhibit_queries import ExhibitQuery
from core.errors import InvalidInputError
from core.pagination import encode_cursor
from shell.db.session import session
from shell.exhibits import search
from shell.exhibits.case_list import count_documents
from shell.exhibits.cases import get_chosen_case
from shell.exhibits.match_keys import MatchKey, Start, count_matches, read_keys
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
    for a `from` that no column can store, and FilterTooBroadError if the filters would read too many exhibits.
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
    keys = read_keys(reading, matches, start, query.limit + 1)
    following, preceding = _find_neighbours(reading, matches, query, start, keys)
    page = keys[: query.limit]
    ordered = page[::-1] if query.before else page
    items = describe_exhibits(reading, matches.case_id, [each.id for each in ordered], query.include)
    return ExhibitPage(items=items, next=following, prev=preceding)


def _find_neighbours(
    reading: Session, matches: Matches, query: ExhibitQuery, start: Start, keys: list[MatchKey]
) -> tuple[str | None, str | None]:
    """Return the cursors `next` and `prev`.

    The extra key shows that more follow in the direction of reading, and a cursor that the page which it came from is
    there. Before `from` are all exhibits of the case that have such keys: to find a match among them may take long.
    """
    page, has_more = keys[: query.limit], len(keys) > query.limit
    onward = encode_cursor(page[-1].control_number) if has_more else None
    back = encode_cursor(page[0].control_number) if page and start.key is not None else None
    if query.before is not None:
        return back, onward
    if query.first is not None:
        key = page[0].control_number if page else query.first
        before = read_keys(reading, Matches(matches.case_id), Start(key, not start.is_descending), 1)
        back = encode_cursor(key) if before else None
    return onward, back


def _add_total(reading: Session, matches: Matches | None, page: ExhibitPage) -> ExhibitPage:
    """Return the page with the number of matches: exact without filters, counted to MAX_SEARCHED + 1 with them."""
    if matches is not None and not matches.filters:
        return page.model_copy(update={"total": count_documents(reading, matches.case_id)})
    total = count_matches(reading, matches) if matches else 0
    return page.model_copy(update={"total": total, "total_is_lower_bound": total > search.MAX_SEARCHED})
