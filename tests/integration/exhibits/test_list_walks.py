"""Walks through the list of exhibits with any filters, to its end and back, compared with a list in Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.contracts.exhibit_lists import ExhibitPage
from core.contracts.exhibit_queries import ExhibitKeysQuery, ExhibitQuery
from core.errors import InvalidInputError
from core.pagination import decode_cursor, encode_cursor
from shell.db.session import session
from shell.exhibits import match_keys, matches, search
from shell.exhibits.listing import list_exhibits, sample_keys
from shell.exports.selection import list_windows
from tests.integration.exhibits.exhibit_requests import CALLER
from tests.integration.exhibits.walked_documents import (
    COUNT,
    CUSTODIANS,
    DOCUMENTS,
    OVERLAY,
    PREDICATES,
    TAGS,
    store,
    store_zones,
)
from tests.support.exhibits.stored_cases import Cases

NUMBERS = st.sampled_from([*(each.control_number for each in DOCUMENTS), "none"])
BOOLEANS = st.sampled_from(("true", "false"))
FILTERS = {
    "custodian": st.lists(st.sampled_from(CUSTODIANS), min_size=1, max_size=2),
    "tag": st.lists(st.sampled_from((*TAGS,)), min_size=1, max_size=2),
    "tagTree": st.lists(st.sampled_from(("hot", "hot\\really hot", "cold", "really hot")), min_size=1, max_size=2),
    "withoutTag": st.sampled_from((*TAGS, "Unknown")),
    "importId": st.sampled_from(("7", "8", "99")),
    "changedByImport": st.sampled_from((str(OVERLAY), "99")),
    "parent": NUMBERS,
    "family": NUMBERS,
    "hasImages": BOOLEANS,
    "hasNative": BOOLEANS,
    "title": st.sampled_from(("plan", "may", "none")),
    "batesFrom": st.integers(0, 300).map(lambda number: f"SM{number:04}"),
    "batesTo": st.integers(300, 600).map(lambda number: f"SM{number}"),
}
QUERIES = st.lists(st.sampled_from(sorted(FILTERS)), max_size=3, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: FILTERS[name] for name in names})
)


def page(query: dict[str, Any], **place: Any) -> ExhibitPage:
    return list_exhibits(CALLER, ExhibitQuery.model_validate({"case": "Case", **query, **place}))


def numbers_of(found: ExhibitPage) -> list[str]:
    return [each.control_number for each in found.items]


def walk(query: dict[str, Any], limit: int, first: ExhibitPage) -> tuple[list[str], list[str]]:
    """The control numbers from a page to the end, and from there back to the beginning of the list."""
    pages, seen = first, numbers_of(first)
    while pages.next is not None:
        pages = page(query, limit=limit, after=pages.next)
        seen += numbers_of(pages)
    back = numbers_of(pages)
    while pages.prev is not None:
        pages = page(query, limit=limit, before=pages.prev)
        assert pages.next is not None or not pages.items
        back = numbers_of(pages) + back
    return seen, back


def sample(query: dict[str, Any], every: int, limit: int) -> list[str]:
    """All items of a sample."""
    keys: list[str] = []
    after: dict[str, str] = {}
    while True:
        values = {"case": "Case", **query, "every": every, "limit": limit, **after}
        read = sample_keys(CALLER, ExhibitKeysQuery.model_validate(values))
        keys += read.items
        if read.next is None:
            return keys
        after = {"after": read.next}


def export(cases: Cases, query: dict[str, Any]) -> list[str]:
    """The control numbers that an export with these filters has."""
    with session() as reading:
        windows = list(list_windows(reading, cases.case("Case"), query, 2**62, None))
    assert all(windows)
    return [each.control_number for window in windows for each in window]


@settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    query=QUERIES,
    limit=st.sampled_from((1, 7, 500)),
    order=st.sampled_from(("asc", "desc")),
    start=st.one_of(st.none(), NUMBERS),
    bounds=st.tuples(*(st.sampled_from(each) for each in ((0, 3, 1000), (3, 1000), (12, 50, 1000)))),
    is_zoned=st.booleans(),
)
@pytest.mark.slow
def test_walks_in_both_directions_are_those_of_a_list(
    cases: Cases,
    query: dict[str, Any],
    limit: int,
    order: str,
    start: str | None,
    bounds: tuple[int, int, int],
    is_zoned: bool,
) -> None:
    store(cases)
    store_zones(cases)
    # The chunks of a check have no zones.
    cases.database.query("UPDATE imports SET phase = :p", p="import" if is_zoned else "check")
    matching = [each for each in DOCUMENTS if all(PREDICATES[name](each, value) for name, value in query.items())]
    expected = sorted((each.control_number for each in matching), key=str.encode, reverse=order == "desc")
    ordered = {**query, "order": order}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matches, "FEW", bounds[0])
        patch.setattr(match_keys, "NEAR", bounds[1])
        patch.setattr(search, "MAX_SEARCHED", bounds[2])
        first = page(ordered, limit=limit, count="true", **({} if start is None else {"from": start}))
        seen, back = walk(ordered, limit, first)
        sampled = [sample(query, every, limit) for every in (1, 3)]
        exported = export(cases, query)
    later = [each for each in expected if start is None or (each.encode() >= start.encode()) != (order == "desc")]
    later = sorted({*later, *([start] if start in expected else [])}, key=str.encode, reverse=order == "desc")
    assert seen == later
    # From an empty page, too, a walk back finds all that lies before it.
    assert back == expected or first.prev is None
    ascending = expected if order == "asc" else expected[::-1]
    assert sampled == [ascending, ascending[::3]]
    assert exported == ascending
    if query:
        assert first.total is not None
        assert first.total <= len(expected) if first.total_is_lower_bound else first.total == len(expected)
        assert not first.total_is_lower_bound or bounds[2] < COUNT, "a small case is searched as a whole"


def test_a_place_beyond_the_end_has_a_page_before(cases: Cases) -> None:
    cases.exhibits(3)
    beyond = page({}, **{"from": "Z"})
    assert (beyond.items, beyond.next) == ([], None)
    assert numbers_of(page({}, before=beyond.prev, limit=2)) == ["Case-000001", "Case-000002"]
    assert page({}, **{"from": "A"}).prev is None
    assert page({}, order="desc", **{"from": "A"}).prev is not None
    with pytest.raises(InvalidInputError, match="from: "):
        page({}, **{"from": "👍"})
    for more in (
        {"after": encode_cursor("A"), "from": "A"},
        {"after": encode_cursor("A"), "before": encode_cursor("A")},
    ):
        with pytest.raises(ValueError, match=r"after or before, not both|one of after, before and from"):
            page({}, **more)


def test_what_is_added_meanwhile_hides_nothing_on_the_way_back(cases: Cases) -> None:
    cases.exhibits(20)
    pages = page({}, limit=3)
    while pages.next is not None:
        pages = page({}, limit=3, after=pages.next)
    seen = numbers_of(pages)
    while pages.prev is not None:
        first = pages.items[0].control_number
        cases.exhibit(f"{first}-after")
        cases.exhibit(f"A-{first}")
        pages = page({}, limit=3, before=pages.prev)
        seen = numbers_of(pages) + seen
    assert [number for number in seen if number.startswith("Case") and "after" not in number] == [
        f"Case-{number:06}" for number in range(20)
    ]
    assert len(seen) == len(set(seen))


def test_what_is_added_and_deleted_during_a_search_moves_nothing_else(
    cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the document at which a search ended may be gone when the next one begins there."""
    cases.exhibits(40)
    monkeypatch.setattr(search, "MAX_SEARCHED", 6)
    monkeypatch.setattr(match_keys, "NEAR", 2)
    query, kept = cases.database.query, [f"Case-{number:06}" for number in range(0, 40, 5)]
    query("UPDATE exhibits SET title = IF(control_number IN :kept, 'plan', 'other')", kept=tuple(kept))
    for order, title in (("asc", "plan"), ("desc", "other")):
        seen, searches = list[str](), 0
        after: dict[str, str] = {}
        while True:
            found = page({"title": "plan", "order": order, "limit": 2, **after})
            seen += numbers_of(found)
            if found.next is None:
                break
            [reached] = decode_cursor(found.next, (str,))
            query("DELETE FROM exhibits WHERE title = 'other' AND control_number = :n", n=reached)
            # Not for ever: what is added after the place is found.
            for number in (f"{reached}-", f"A{reached}", f"Z{reached}") if searches < 8 else ():
                cases.exhibit(number, title=title)
            searches += 1
            after = {"after": found.next}
        assert [each for each in seen if each in kept] == (kept if order == "asc" else kept[::-1])
        assert len(seen) == len(set(seen))
