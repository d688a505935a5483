"""Many rows at once: sorted, so that writers do not deadlock, and never a damaged value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from shell.db.bulk_insert import Row, insert_bisecting, insert_ignore, insert_missing, insert_new
from shell.db.errors import DbErrorClass, classify, error_number
from shell.db.session import session
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.database.counted_database import LEAST, Database, outcome, together, transaction

ACCOUNTS = "toy_accounts"
EXHIBIT = ("case_id", "control_number", "import_id", "line_no")
PERSON = ("email", "badge")
ODKU = "INSERT INTO exhibits (case_id, control_number, import_id, line_no) VALUES (%s, %s, %s, %s)"
ODKU += " ON DUPLICATE KEY UPDATE id = id"

Insert = Callable[[Session, list[str]], object]


def ours(caller: Session, rows: list[Row]) -> None:
    insert_missing(caller, "exhibits", EXHIBIT, rows, key=2)


def exhibits(caller: Session, names: list[str]) -> None:
    ours(caller, [(1, name, 1, 1) for name in names])


def unsorted(caller: Session, names: list[str]) -> None:
    caller.connection().exec_driver_sql(ODKU, [(1, name, 1, 1) for name in names])


def custodians(caller: Session, names: list[str]) -> None:
    insert_missing(caller, "custodians", ("case_id", "name"), [(1, name) for name in names], key=2)


def tags(caller: Session, names: list[str]) -> None:
    insert_ignore(caller, "tags", ("case_id", "name"), [(1, name) for name in names], key=2)


# Each with names of its own: an insert over a row that was deleted and is not purged yet locks the gap before it.
@pytest.mark.parametrize(
    ("insert", "first", "held", "second", "deadlocks"),
    [
        (exhibits, ["one a", "one m", "one z"], "one m", ["one z", "one m", "one a"], 0),
        (tags, ["a", "m", "z"], "m", ["z", "m", "a"], 0),
        # The negative control: rows as they come.
        (unsorted, ["two a", "two m", "two z"], "two m", ["two z", "two m", "two a"], 1),
        # 'A' and 'a' are one name for the database, but stand on different sides of 'Z' for Python: it is retried.
        (custodians, ["A", "m", "z"], "m", ["a", "Z"], 1),
    ],
)
def test_sorted_rows_do_not_deadlock_and_names_that_python_sorts_otherwise_are_retried(
    database: Database, insert: Insert, first: list[str], held: str, second: list[str], deadlocks: int
) -> None:
    before = database.deadlocks()

    def naming(engine: Engine, waiting: int, names: list[str]) -> Callable[[], None]:
        @retry_on_db_conflict
        def unit() -> None:
            with transaction(engine) as caller:
                insert(caller, names)

        def when_others_wait() -> None:
            database.until_waiting(waiting)
            unit()

        return when_others_wait

    with database.environments(3) as (one, two, three), Session(three) as between:
        insert(between, [held])

        def let_them_go_on() -> None:
            database.until_waiting(2)
            between.commit()

        together(naming(one, 0, first), naming(two, 1, second), let_them_go_on)
    assert database.deadlocks() - before == deadlocks
    counts = (f"(SELECT COUNT(*) FROM {table})" for table in ("exhibits", "custodians", "tags"))
    assert database.scalar(f"SELECT {' + '.join(counts)}") == 3


def test_what_is_there_already_is_left_as_it_is_and_two_rows_of_one_key_are_no_error(database: Database) -> None:
    with session() as caller:
        ours(caller, [(1, "a", 1, 1), (1, "b", 1, 2)])
        ours(caller, [(1, "b", 2, 9), (1, "c", 2, 9), (1, "c", 2, 10)])
    with session() as caller:
        refused = outcome(lambda: unsorted(caller, ["d", "d"]))()
        caller.rollback()
    found = database.query("SELECT control_number, line_no FROM exhibits ORDER BY control_number")
    assert [tuple(row) for row in found] == [("a", 1), ("b", 2), ("c", 9)]
    assert isinstance(refused, OperationalError) == database.is_mysql, "MySQL refuses `id = id`, with 1869"


@pytest.mark.parametrize(("rows", "path", "statements"), [(1000, "", 1), (40, "x" * 60_000, 3), (40, "文" * 20_000, 3)])
def test_a_statement_holds_a_megabyte_measured_in_bytes_as_the_server_does(
    database: Database, rows: int, path: str, statements: int
) -> None:
    columns = ("aggregate_type", "aggregate_id", "event_type", "payload")
    with session() as caller:
        before = inserts(caller)
        insert_missing(caller, "outbox_events", columns, [("a", str(number), "a", path) for number in range(rows)])
        assert inserts(caller) - before == statements
    assert database.scalar("SELECT COUNT(DISTINCT aggregate_id) FROM outbox_events") == rows


def inserts(caller: Session) -> int:
    return int(caller.execute(text("SHOW SESSION STATUS LIKE 'Com_insert'")).one()[1])


def test_a_check_that_fails_is_no_integrity_error_but_the_rows_fault_all_the_same(database: Database) -> None:
    rows: list[Row] = [(1, 1), (2, -2 * LEAST), (3, 3)]
    with session() as caller:
        refused = insert_bisecting(caller, partial(insert_new, caller, ACCOUNTS, ("id", "balance")), rows)
        with pytest.raises(OperationalError):
            insert_new(caller, ACCOUNTS, ("id", "balance"), [(4, -2 * LEAST)])
    assert refused == [(rows[1], 3819 if database.is_mysql else 4025)]
    assert database.balances() == [1, 3]


BAD: list[tuple[Row, int]] = [((1, "x" * 256, 1, 1), 1406), ((1, None, 1, 1), 1048), ((1, "a", 2**63, 1), 1264)]


@pytest.mark.parametrize(("row", "number"), BAD)
def test_a_value_that_does_not_fit_is_an_error_and_is_not_stored(database: Database, row: Row, number: int) -> None:
    with session() as caller, pytest.raises(DBAPIError) as raised:
        ours(caller, [row])
    assert error_number(raised.value) == number
    assert classify(raised.value) is DbErrorClass.DATA
    assert database.query("SELECT id FROM exhibits") == []


TOO_LONG = ("x" * 11, 1406)
LONE = ("lone \ud800", None)


@pytest.mark.parametrize(
    "bad", [{}, {37: LONE}, {3: TOO_LONG, 4: LONE, 50: TOO_LONG, 99: TOO_LONG}, dict.fromkeys(range(100), TOO_LONG)]
)
def test_bisecting_finds_the_refused_rows_and_keeps_the_others(
    database: Database, bad: dict[int, tuple[str, int | None]]
) -> None:
    """Also those that the driver cannot encode."""
    rows: list[Row] = [(number, bad[number][0] if number in bad else "fine") for number in range(100)]
    with session() as caller:
        refused = insert_bisecting(caller, lambda some: insert_new(caller, ACCOUNTS, ("id", "note"), some), rows)
    assert refused == [((number, value), error) for number, (value, error) in bad.items()]
    assert len(database.balances()) == 100 - len(bad)


@pytest.mark.parametrize("first", [[], [("x" * 51, "too long")]], ids=["at once", "while bisecting"])
def test_bisecting_raises_what_is_no_fault_of_a_row(database: Database, first: list[Row]) -> None:
    rows = [*first, ("e", "a"), ("e", "b")]
    with session() as caller, pytest.raises(DBAPIError) as raised:
        insert_bisecting(caller, lambda some: insert_new(caller, "toy_people", PERSON, some), rows)
    assert classify(raised.value) is DbErrorClass.DUPLICATE
