"""Periods are listed in the order of time, changes in theirs, each once; a cursor is good for the list that gave it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest

from core.pagination import encode_cursor
from tests.integration.custody.custody_values import CHANGES, ME, PERIODS, add, at, requested_period, statements_sent
from tests.support.api.client import Reply
from tests.support.application.driver import World
from tests.support.database.server_status import statements
from tests.support.exhibits.stored_cases import Cases, matter

DEVICE = 1


def ask(path: str = PERIODS, device: object = DEVICE, /, **more: object) -> Reply:
    """A list of the device; in a query string a plus is %2B."""
    query = "".join(f"&{name}={quote(str(value))}" for name, value in more.items())
    return ME.get(f"{path}?deviceId={device}{query}")


def hours(reply: Reply) -> list[int]:
    """When the periods of the page begin."""
    assert reply.status == 200, reply
    return [int(each["begin"][11:13]) for each in reply.json["items"]]


def walked(limit: int, between: Callable[[], object] = lambda: None, /, **more: object) -> Iterator[int]:
    """When the periods of all pages begin; `between` is called after each page."""
    page = ask(limit=limit, **more)
    while True:
        yield from hours(page)
        if page.json["next"] is None:
            return
        between()
        page = ask(limit=limit, after=page.json["next"], **more)


def put(*begins: int) -> None:
    """Periods of an hour each, recorded as they are given, and one of another device."""
    add(*(requested_period(DEVICE, hour, hour + 1) for hour in begins), requested_period(begins[0] + 10, 0, None))


TWELVE = (7, 3, 11, 1, 9, 5, 0, 8, 2, 10, 4, 6)


def test_pages_hold_every_period_once_in_the_order_of_time(world: World) -> None:
    put(*TWELVE)
    for limit in (1, 5, 11, 12, 500):
        assert list(walked(limit)) == list(range(12)), limit
    for limit in (1, 3):
        assert list(walked(limit, **{"from": at(2.5), "to": at(9)})) == [2, 3, 4, 5, 6, 7, 8], limit
    after = ask(limit=1).json["next"]
    assert hours(ask(after=after, **{"from": at(9)})) == [9, 10, 11], "a bound holds with the cursor of another list"


def test_what_others_add_meanwhile_hides_nothing_and_repeats_nothing(world: World) -> None:
    put(*range(4, 14))
    further = iter([(3, 20), (2, 21), (1, 22), (0, 23)])
    assert list(walked(3, lambda: put(*next(further)))) == [*range(4, 14), 20, 21, 22, 23]


def test_pages_hold_every_change_once_in_its_order(world: World) -> None:
    put(9)
    period = ask().json["items"][0]["id"]
    for version in range(1, 6):
        ME.patch(f"{PERIODS}/{period}", {"note": f"{version}"}, version)
    for limit in (1, 2, 3, 500):
        pages = [ask(CHANGES, limit=limit).json]
        while pages[-1]["next"] is not None:
            pages.append(ask(CHANGES, limit=limit, after=pages[-1]["next"]).json)
        assert [each["version"] for page in pages for each in page["items"]] == [1, 2, 3, 4, 5, 6]


BOUNDS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [9, 12, 18]),
    ({"from": at(12)}, [12, 18]),
    ({"from": at(11.999)}, [9, 12, 18]),
    ({"to": at(12)}, [9]),
    ({"to": at(12.001)}, [9, 12]),
    ({"from": at(12), "to": at(18)}, [12]),
    ({"from": at(13), "to": at(14)}, [12]),
    ({"from": at(15), "to": at(18)}, []),
    ({"from": at(20), "to": at(21)}, [18]),
    ({"from": "2026-11-21T13:00:00+01:00", "to": "2026-11-21T19:00:00+01:00"}, [12]),
    ({"from": "9998-12-31T23:59:59.999999Z"}, [18]),
    ({"to": "1000-01-01T00:00Z"}, []),
]


def test_bounds_are_half_open_as_periods_are(world: World) -> None:
    made = add(
        requested_period(DEVICE, 9, 12, note="👍"), requested_period(DEVICE, 12, 15), requested_period(DEVICE, 18, None)
    )
    for bounds, expected in BOUNDS:
        assert hours(ask(**bounds)) == expected, bounds
    assert ask().json["items"] == [ME.get(f"{PERIODS}/{each.id}").json for each in made.items]


NO_DEVICES = ["", "0", "+1", "1_0", "one", str(2**53)]


def assert_refused(path: str, parameter: str) -> str:
    """The query parameter is named; returns what is said of it."""
    refused = ME.get(path)
    assert (refused.status, [each["location"] for each in refused.json["errors"]]) == (400, [f"query/{parameter}"]), (
        path
    )
    return str(refused.json["errors"][0]["message"])


@pytest.mark.parametrize("path", [PERIODS, CHANGES])
def test_a_list_is_of_one_device_and_an_unknown_one_has_an_empty_list(world: World, path: str) -> None:
    put(9)
    for device in (DEVICE + 2, 2**53 - 1):
        assert ask(path, device).json == {"items": [], "next": None, "prev": None}
    for query in ("", *(f"?deviceId={device}" for device in NO_DEVICES)):
        assert_refused(f"{path}{query}", "deviceId")
    assert_refused(f"{path}?deviceId=1&limit=501", "limit")


def test_a_bound_that_is_not_a_timestamp_is_refused(world: World) -> None:
    for bound in ("from", "to"):
        assert_refused(f"{PERIODS}?deviceId=1&{bound}=2026-11-21T15:00", bound)
        assert "%2B" in assert_refused(f"{PERIODS}?deviceId=1&{bound}=2026-11-21T15:00+01:00", bound)


NO_ENDS = [f"2026-11-21T15:00:00{rest}" for rest in ("Z", "+00:00", ".5", ".000000", "x")]


def test_a_cursor_is_good_for_the_list_that_gave_it(world: World) -> None:
    put(*TWELVE)
    exhibits = ME.get(f"/exhibits?case={quote(matter(world, 2).name)}&limit=1").json["next"]
    periods, changes = (ask(path, limit=1).json["next"] for path in (PERIODS, CHANGES))
    assert [ask(PERIODS, after=periods).status, ask(CHANGES, after=changes).status] == [200, 200]
    not_ours = [(CHANGES, exhibits), (CHANGES, periods), (PERIODS, exhibits), (PERIODS, changes)]
    for path, after in (*not_ours, *((PERIODS, encode_cursor(end)) for end in NO_ENDS)):
        refused = ask(path, after=after)
        assert (refused.status, "send the value of `next`" in refused.json["detail"]) == (400, True), after


def test_statements_do_not_grow_with_what_is_listed(world: World) -> None:
    put(*TWELVE)
    # A tenant's first request creates the tenant.
    ask(PERIODS)
    for path in (PERIODS, CHANGES):
        counts = [statements(world, partial(ask, path, limit=limit)) for limit in (1, 12)]
        assert counts[0] == counts[1] <= 3, path


def extras(cases: Cases, statement: str, values: Any) -> str:
    """What the server would do beside reading, for each table."""
    with cases.database.admin.connect() as connection:
        rows = connection.exec_driver_sql(f"EXPLAIN FORMAT=TRADITIONAL {statement}", values).all()
    assert "ix_custody_periods_overlap" in {row.key for row in rows}
    return "; ".join(str(row.Extra) for row in rows)


def test_a_page_is_read_off_the_index_and_not_sorted(cases: Cases) -> None:
    put(*TWELVE)
    with statements_sent() as sent:
        ask(limit=5, **{"from": at(2), "to": at(9)})
    statement, values = sent[-1]
    assert "filesort" not in extras(cases, statement, values)
    by_begin = statement.replace("ORDER BY custody_periods.end_at", "ORDER BY custody_periods.begin_at")
    assert "filesort" in extras(cases, by_begin, values), "another order would be sorted"
