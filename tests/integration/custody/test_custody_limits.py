"""What recording costs: the same few statements for any array, and a search that is straight off the index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from tests.integration.custody.custody_values import CALLER, ME, PERIODS, requested_period, statements_sent
from tests.support.api.client import Reply
from tests.support.application.driver import World
from tests.support.database.server_status import statements
from tests.support.exhibits.stored_cases import Cases, get_or_create_case

INDEX = "ix_custody_periods_overlap"
# Three of them lock and read the tenant, its cases and the status of the case.
SIZES, MOST_STATEMENTS = (1, 10, 1_000), 19
LONG, HISTORY = 1, 10_000
OTHERS, EACH = range(2, 1_002), 10
FIRST = datetime(2000, 1, 1, tzinfo=UTC)

_NUMBERS = "JSON_TABLE(:numbers, '$[*]' COLUMNS (n BIGINT PATH '$')) AS given"


def put_devices(world: World, numbers: Sequence[int]) -> None:
    """Devices without a holder, past the application."""
    values = json.dumps(list(numbers))
    world.query(f"INSERT INTO devices (tenant_id, number) SELECT 'acme', given.n FROM {_NUMBERS}", numbers=values)


def put_history(world: World, which: str, periods: int) -> None:
    """Every other hour these devices are held; in one statement."""
    begin = f"'{FIRST:%Y-%m-%d}' + INTERVAL 2 * given.n HOUR"
    world.query(
        f"INSERT INTO custody_periods (device_id, begin_at, end_at) SELECT id, {begin}, {begin} + INTERVAL 1 HOUR "
        f"FROM devices JOIN {_NUMBERS} WHERE number {which}",
        numbers=json.dumps(list(range(periods))),
    )


@pytest.fixture
def history(world: World) -> World:
    """A device with ten thousand periods."""
    put_devices(world, [LONG])
    put_history(world, f"= {LONG}", HISTORY)
    return world


def post(*elements: dict[str, Any], status: int = 201) -> Reply:
    """The answer, which must be of that status."""
    reply = ME.post(PERIODS, list(elements))
    assert reply.status == status, reply
    return reply


def put_custodians(world: World, number: int) -> list[int]:
    """The ids of so many custodians of one case."""
    values = json.dumps(list(range(number)))
    insert = f"INSERT INTO custodians (case_id, name) SELECT :case_id, CONCAT('Custodian ', given.n) FROM {_NUMBERS}"
    world.query(insert, case_id=get_or_create_case(world, "Case", CALLER.tenant_id), numbers=values)
    return [row[0] for row in world.query("SELECT id FROM custodians")]


def test_statements_do_not_grow_with_the_array_be_it_recorded_or_refused(way: str, world: World) -> None:
    put_devices(world, range(1, 1_001))
    held_by = put_custodians(world, 1_000)
    post(requested_period(1, 0, 1))
    plain, named, new, refused = [], [], [], []
    for size in SIZES:
        elements = [requested_period(n + 1, size, size + 1) for n in range(size)]
        plain.append(statements(world, partial(post, *elements)))
        # The other way reads the conflicts on a second connection, on which devices are added, too.
        if way == "pessimistic":
            refused.append(statements(world, partial(post, *elements, status=409)))
        elements = [requested_period(n + 1, size + 2, size + 3, custodianId=held_by[n]) for n in range(size)]
        named.append(statements(world, partial(post, *elements)))
        with statements_sent() as found:
            post(*(requested_period(10_000 * size + n, 9, 12) for n in range(size)))
        new.append(len(found))
    assert [len(set(each)) for each in (plain, named, new)] == [1, 1, 1], (plain, named, new)
    assert plain[0] < named[0] <= MOST_STATEMENTS
    assert all(each == refused[0] <= MOST_STATEMENTS for each in refused), refused


def search(elements: Sequence[dict[str, Any]]) -> tuple[str, Any]:
    """The statement in which the request looks for what overlaps, as it is sent."""
    with statements_sent() as found:
        post(*elements)
    return next(each for each in found if "end_at >" in each[0])


def assert_off_the_index(cases: Cases, statement: str, values: Any) -> None:
    """The index is entered at each device and the first end after the begin: two of its columns, of 8 bytes each."""
    with cases.database.admin.connect() as connection:
        rows = connection.exec_driver_sql(f"EXPLAIN FORMAT=TRADITIONAL {statement}", values).all()
    read = [row for row in rows if row.table == "custody_periods" and row.select_type != "INSERT"]
    assert [(row.type, row.key, row.key_len) for row in read] == [("range", INDEX, "16")]


def test_what_overlaps_is_looked_for_off_the_index(way: str, cases: Cases, history: World) -> None:
    """Of one device, and of a thousand more of which each has periods too."""
    put_devices(history, OTHERS)
    put_history(history, f"> {LONG}", EACH)
    history.query("ANALYZE TABLE custody_periods")
    for devices in (1, 1_000):
        statement, values = search([requested_period(n, devices, devices + 1) for n in (LONG, *OTHERS)[:devices]])
        assert_off_the_index(cases, statement, values)
        with pytest.raises(AssertionError):
            assert_off_the_index(cases, statement.replace("FORCE INDEX", "IGNORE INDEX"), values)


def entries_read(cases: Cases, statement: str, values: Any) -> int:
    """How many entries of an index the server goes on to after the first."""
    sql = "SHOW SESSION STATUS LIKE 'Handler_read_next'"
    with cases.database.admin.connect() as connection:
        before = int(connection.exec_driver_sql(sql).one()[1])
        connection.exec_driver_sql(statement, values).all()
        return int(connection.exec_driver_sql(sql).one()[1]) - before


def test_what_comes_after_a_long_history_is_recorded_without_reading_it(cases: Cases, history: World) -> None:
    statement, values = search([requested_period(LONG, 9, 12)])
    assert entries_read(cases, statement, values) <= 1
    query = cases.database.query
    query("CREATE TABLE by_begin LIKE custody_periods")
    try:
        query(f"ALTER TABLE by_begin DROP KEY {INDEX}, ADD KEY {INDEX} (device_id, begin_at)")
        query("INSERT INTO by_begin SELECT * FROM custody_periods")
        assert entries_read(cases, statement.replace("custody_periods FORCE", "by_begin FORCE"), values) >= HISTORY
    finally:
        query("DROP TABLE by_begin")
