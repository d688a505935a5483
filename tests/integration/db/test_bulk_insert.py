"""Many rows at once: sorted, so that writers do not deadlock, and never a damaged value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from shell.db.bulk_insert import (
    STATEMENT_BYTES,
    Row,
    _split,
    insert_bisecting,
    insert_missing,
    insert_new,
)
from shell.db.errors import DbErrorClass, classify, error_number
from shell.db.session import session
from shell.db.sql_literals import format_row_literals
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.database import LEAST, Database, barrier, outcome, together, transaction

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


# Each with names of its own: an insert over a row that was deleted and is not purged yet locks the gap before it.
@pytest.mark.parametrize(
    ("insert", "first", "held", "second", "deadlocks"),
    [
        (exhibits, ["one a", "one m", "one z"], "one m", ["one z", "one m", "one a"], 0),
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
    assert database.scalar("SELECT (SELECT COUNT(*) FROM exhibits) + (SELECT COUNT(*) FROM custodians)") == 3


def test_what_is_there_already_is_left_as_it_is(database: Database) -> None:
    with session() as caller:
        ours(caller, [(1, "a", 1, 1), (1, "b", 1, 2)])
        ours(caller, [(1, "b", 2, 9), (1, "c", 2, 9), (1, "c", 2, 10)])
    found = database.query("SELECT control_number, line_no FROM exhibits ORDER BY control_number")
    assert [tuple(row) for row in found] == [("a", 1), ("b", 2), ("c", 9)]


def test_two_rows_of_one_key_are_no_error(database: Database) -> None:
    rows: list[Row] = [(1, "Ann"), (1, "ann"), (1, "Ben")]
    with session() as caller:
        insert_missing(caller, "custodians", ("case_id", "name"), rows, key=2)
        caller.rollback()
        naive = "INSERT INTO custodians (case_id, name) VALUES (%s, %s) ON DUPLICATE KEY UPDATE id = id"
        refused = outcome(lambda: caller.connection().exec_driver_sql(naive, rows))()
    assert isinstance(refused, OperationalError) == database.is_mysql, (
        "MySQL refuses it for the generated id, with 1869"
    )


@pytest.mark.parametrize(("rows", "path", "least", "most"), [(1000, "", 1, 1), (40, "x" * 60_000, 2, 4)])
def test_a_thousand_rows_are_one_statement_and_more_than_a_megabyte_are_several(
    database: Database, rows: int, path: str, least: int, most: int
) -> None:
    columns = ("aggregate_type", "aggregate_id", "event_type", "payload")
    with session() as caller:
        before = inserts(caller)
        insert_missing(caller, "outbox_events", columns, [("a", str(number), "a", path) for number in range(rows)])
        assert least <= inserts(caller) - before <= most
    assert rows * len(path) / least < int(database.scalar("SELECT @@max_allowed_packet"))
    assert database.scalar("SELECT COUNT(*) FROM outbox_events") == rows


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


def test_neither_the_row_count_nor_the_ids_tell_what_was_new(database: Database) -> None:
    with session() as caller:
        counts = [caller.connection().exec_driver_sql(ODKU, (1, "a", 1, 1)).rowcount for _ in range(4)]
        ours(caller, [(1, "b", 1, 1)])
    ids = [row.id for row in database.query("SELECT id FROM exhibits ORDER BY id")]
    assert counts == [1] * 4, "a naive `created = rowcount == 1` is always true"
    assert ids[1] - ids[0] > 1, "rows that are there already use up ids"
    kinds = database.query(
        "SELECT DISTINCT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() "
        "AND EXTRA LIKE '%auto_increment%' AND TABLE_NAME NOT LIKE 'toy%'"
    )
    assert [str(kind[0]).lower() for kind in kinds] == ["bigint"], "so they must have room"


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


def test_bisecting_does_not_swallow_a_deadlock(database: Database) -> None:
    """Both insert in opposite order; the victim raises, so that the whole is replayed."""
    meeting, before = barrier(2), database.deadlocks()

    def work(engine: Engine, first: int, second: int) -> None:
        with transaction(engine) as caller:
            insert_new(caller, ACCOUNTS, ("id",), [(first,)])
            meeting.wait()
            insert_bisecting(caller, lambda some: insert_new(caller, ACCOUNTS, ("id",), some), [(second,)])

    with database.environments(2) as (one, two):
        ended = together(outcome(lambda: work(one, 1, 2)), outcome(lambda: work(two, 2, 1)))
    assert database.deadlocks() - before == 1
    (error,) = (each for each in ended if isinstance(each, OperationalError))
    assert classify(error) is DbErrorClass.TRANSACTION


def test_bisecting_raises_a_duplicate(database: Database) -> None:
    with session() as caller, pytest.raises(DBAPIError) as raised:
        insert_bisecting(caller, lambda some: insert_new(caller, "toy_people", PERSON, some), [("e", "a"), ("e", "b")])
    assert classify(raised.value) is DbErrorClass.DUPLICATE


def test_a_statement_is_measured_in_bytes_as_the_server_does() -> None:
    literals = format_row_literals([("文" * 100_000,)] * 8 + [("a" * 100_000,)] * 12)
    sizes = [sum(len(literal.encode()) for literal in part) for part in _split(literals)]
    assert max(sizes) <= STATEMENT_BYTES
    assert len(sizes) == 4, "three wide ones and no more fit into one; the two that are left, with four others"
