"""Many rows at once: sorted, so that writers do not deadlock, and never a damaged value."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from core.errors import InvalidInputError
from shell.utils.bulk_insert import (
    STATEMENT_BYTES,
    Row,
    _parts,
    insert_bisecting,
    insert_ignore_checked,
    insert_missing,
    insert_new,
)
from shell.utils.db_errors import DbErrorClass, classify, error_number
from shell.utils.db_helpers import retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.literals import row_literals
from tests.support.database import LEAST, Accounts, Database, barrier, outcome, together, transaction

THREADS, KEYS, ROWS = 8, 400, 40
ACCOUNTS = "toy_accounts"
EXHIBIT = ("case_id", "control_number", "import_id", "line_no")
TAGGING = ("exhibit_id", "tag_id", "user_id")
PERSON = ("email", "badge")
ODKU = "INSERT INTO exhibits (case_id, control_number, import_id, line_no) VALUES (%s, %s, %s, %s)"
ODKU += " ON DUPLICATE KEY UPDATE id = id"

Insert = Callable[[Session, list[Row]], None]


def ours(caller: Session, rows: list[Row]) -> None:
    insert_missing(caller, "exhibits", EXHIBIT, rows, key=2)


def unsorted(caller: Session, rows: list[Row]) -> None:
    caller.connection().exec_driver_sql(ODKU, rows)


def race(engines: Sequence[Engine], insert: Insert, commits: int) -> None:
    """Every thread commits that often, each time other rows in another order; deadlocks are ignored."""
    meeting = barrier(len(engines))

    def work(engine: Engine, seed: int) -> None:
        chosen = random.Random(seed)
        engine.connect().close()
        meeting.wait()
        for _ in range(commits):
            rows: list[Row] = [(1, f"key {number:04}", 1, 1) for number in chosen.sample(range(KEYS), ROWS)]
            with Session(engine) as caller:
                outcome(partial(insert, caller, rows))()
                caller.commit()

    together(*(partial(work, engine, seed) for seed, engine in enumerate(engines)))


def test_sorted_rows_do_not_deadlock(database: Database, race_counts: int) -> None:
    before = database.deadlocks()
    with database.environments(THREADS) as engines:
        race(engines, ours, max(20, 60 // race_counts))
    assert database.deadlocks() - before == 0


def test_rows_as_they_come_deadlock(database: Database) -> None:
    before = database.deadlocks()
    with database.environments(THREADS) as engines:
        race(engines, unsorted, 20)
    assert database.deadlocks() - before > 0


def test_names_sorted_by_code_point_may_still_meet_crosswise_and_are_replayed(database: Database) -> None:
    """'A' and 'a' are one name for the database, but stand on different sides of 'Z' for Python."""

    def naming(engine: Engine, waiting: int, names: Sequence[str]) -> Callable[[], None]:
        @retry_on_db_conflict
        def unit() -> None:
            with transaction(engine) as caller:
                insert_missing(caller, "custodians", ("case_id", "name"), [(1, name) for name in names], key=2)

        def when_others_wait() -> None:
            database.until_waiting(waiting)
            unit()

        return when_others_wait

    with database.environments(3) as (one, two, three), Session(three) as between:
        between.execute(text("INSERT INTO custodians (case_id, name) VALUES (1, 'm')"))

        def let_them_go_on() -> None:
            database.until_waiting(2)
            between.commit()

        together(naming(one, 0, ["A", "m", "z"]), naming(two, 1, ["a", "Z"]), let_them_go_on)
    assert database.scalar("SELECT COUNT(*) FROM custodians") == 3


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


def test_a_thousand_rows_are_one_statement(database: Database) -> None:
    with session() as caller:
        before = inserts(caller)
        ours(caller, [(1, f"{number}", 1, 1) for number in range(1000)])
        assert inserts(caller) - before == 1


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


def test_insert_ignore_stores_what_it_cut(database: Database) -> None:
    with session() as caller:
        caller.execute(text("INSERT IGNORE INTO toy_accounts (id, note) VALUES (1, 'too long for it'), (2, NULL)"))
        caller.execute(text("INSERT IGNORE INTO taggings (exhibit_id, tag_id, user_id) VALUES (99, 99, 'u')"))
    assert database.scalar("SELECT note FROM toy_accounts WHERE id = 1") == "too long f"
    assert database.query("SELECT * FROM taggings") == [], "a missing parent looks like a duplicate"


@pytest.mark.parametrize(
    ("columns", "row", "number"),
    [
        (("id", "note"), (1, "too long for it"), 1265),
        (("id", "note"), (2**63, "a"), 1264),
        (("id", "balance"), (1, None), 1048),
    ],
)
def test_checked_ignore_refuses_damage_and_leaves_nothing_of_it(
    database: Database, columns: tuple[str, ...], row: Row, number: int
) -> None:
    with session() as caller:
        caller.add(Accounts(id=7, balance=7))
        with pytest.raises(InvalidInputError, match=f"toy_accounts: .*warning {number}"):
            insert_ignore_checked(caller, ACCOUNTS, columns, [row])
    assert database.balances() == [7]


def tagged(database: Database, tags: int) -> list[Row]:
    """One exhibit with so many tags; the rows that tag it."""
    rows: list[Row] = [(1, number, "u") for number in range(1, tags + 1)]
    database.query("INSERT INTO exhibits (id, case_id, control_number, import_id, line_no) VALUES (1, 1, 'A', 0, 1)")
    with session() as caller:
        insert_new(caller, "tags", ("id", "case_id", "name"), [(number, 1, f"tag {number}") for _, number, _ in rows])
        insert_new(caller, "taggings", TAGGING, rows)
    return rows


@pytest.mark.parametrize("duplicates", [1, 65, 1100])
def test_checked_ignore_sees_a_missing_parent_behind_many_duplicates(database: Database, duplicates: int) -> None:
    rows = [*tagged(database, duplicates), (99, 1, "u")]
    with session() as caller, pytest.raises(InvalidInputError, match="warning 1452"):
        insert_ignore_checked(caller, "taggings", TAGGING, rows, key=2)


@pytest.mark.slow
def test_checked_ignore_sees_damage_behind_more_than_the_server_can_list(database: Database) -> None:
    there: list[Row] = [(number, "fine") for number in range(1, 65_537)]
    rows: list[Row] = [*there, (70_000, "too long for it")]
    with session() as caller:
        insert_new(caller, ACCOUNTS, ("id", "note"), there)
        caller.execute(text("SET SESSION max_error_count = 65535"))
        caller.execute(text("INSERT IGNORE INTO toy_accounts (id, note) VALUES " + ",".join(map(str, rows))))
        listed = {row[1] for row in caller.execute(text("SHOW WARNINGS"))}
        assert listed == {1062}, "in one statement for all the last row's damage is not to be seen"
        caller.execute(text("DELETE FROM toy_accounts WHERE id = 70000"))
        with pytest.raises(InvalidInputError, match="warning 1265"):
            insert_ignore_checked(caller, ACCOUNTS, ("id", "note"), rows)


@pytest.fixture(params=[8, 16])
def few_are_listed(database: Database, request: pytest.FixtureRequest) -> Iterator[Session]:
    """A session whose server lists eight warnings, taken to list as many, or twice as many."""
    with database.environments(1) as (engine,), Session(engine) as caller:
        caller.execute(text("SET SESSION max_error_count = 8"))
        caller.connection().info["session variable max_error_count"] = request.param
        yield caller


def test_checked_ignore_sees_damage_where_few_warnings_are_listed(few_are_listed: Session) -> None:
    rows: list[Row] = [(number, "fine") for number in range(1, 21)]
    insert_new(few_are_listed, ACCOUNTS, ("id", "note"), rows)
    with pytest.raises(InvalidInputError, match="warning 1265"):
        insert_ignore_checked(few_are_listed, ACCOUNTS, ("id", "note"), [*rows, (21, "too long for it")])


def test_checked_ignore_accepts_more_duplicates_than_are_listed(few_are_listed: Session) -> None:
    rows: list[Row] = [(number, f"row {number}") for number in range(1, 31)]
    insert_new(few_are_listed, ACCOUNTS, ("id", "note"), rows[:20])
    insert_ignore_checked(few_are_listed, ACCOUNTS, ("id", "note"), rows)
    assert few_are_listed.execute(text("SELECT COUNT(*) FROM toy_accounts")).scalar() == len(rows)


def test_checked_ignore_needs_no_right_but_those_on_the_schema(database: Database) -> None:
    user = f"plain_{secrets.token_hex(4)}"
    database.query(f"CREATE USER {user}@'%' IDENTIFIED BY ''")
    database.query(f"GRANT ALL ON {database.url.database}.* TO {user}@'%'")
    plain = create_engine(database.url.set(username=user, password=""))
    try:
        with Session(plain) as caller:
            insert_ignore_checked(caller, ACCOUNTS, ("id", "note"), [(1, "a"), (2, "b")])
            insert_ignore_checked(caller, ACCOUNTS, ("id", "note"), [(2, "b"), (3, "c")])
            assert caller.execute(text("SELECT COUNT(*) FROM toy_accounts")).scalar() == 3
    finally:
        plain.dispose()
        database.query(f"DROP USER {user}@'%'")


def test_checked_ignore_accepts_duplicates(database: Database) -> None:
    rows = tagged(database, 3)
    with session() as caller:
        insert_ignore_checked(caller, "taggings", TAGGING, rows[:2], key=2)
        insert_ignore_checked(caller, "taggings", TAGGING, [], key=2)
    assert database.scalar("SELECT COUNT(*) FROM taggings") == 3


def test_the_row_count_does_not_tell_what_was_new(database: Database) -> None:
    with session() as caller:
        connection = caller.connection()
        counts = [connection.exec_driver_sql(ODKU, (1, "a", 1, 1)).rowcount for _ in range(2)]
    assert counts == [1, 1], "a naive `created = rowcount == 1` is true both times"


def test_rows_that_are_there_already_use_up_numbers(database: Database) -> None:
    with session() as caller:
        for _ in range(4):
            ours(caller, [(1, "a", 1, 1), (1, "b", 1, 1), (1, "c", 1, 1)])
        ours(caller, [(1, "d", 1, 1)])
    ids = [row.id for row in database.query("SELECT id FROM exhibits ORDER BY id")]
    assert ids[3] - ids[2] > 1, "ids are neither contiguous nor a count"
    kinds = database.query(
        "SELECT DISTINCT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() "
        "AND EXTRA LIKE '%auto_increment%' AND TABLE_NAME NOT LIKE 'toy%'"
    )
    assert [str(kind[0]).lower() for kind in kinds] == ["bigint"], "so they must have room"


@pytest.mark.parametrize("bad", [set(), {0}, {37}, {99}, {3, 4, 50, 98}, set(range(100))])
def test_bisecting_finds_the_refused_rows_and_keeps_the_others(database: Database, bad: set[int]) -> None:
    rows: list[Row] = [(number, "x" * 11 if number in bad else "fine") for number in range(100)]
    with session() as caller:
        refused = insert_bisecting(caller, lambda some: insert_new(caller, ACCOUNTS, ("id", "note"), some), rows)
    assert [(row[0], number) for row, number in refused] == [(number, 1406) for number in sorted(bad)]
    assert len(database.balances()) == 100 - len(bad)


def test_bisecting_reports_what_the_driver_cannot_encode(database: Database) -> None:
    rows: list[Row] = [(1, "fine"), (2, "lone \ud800")]
    with session() as caller:
        refused = insert_bisecting(caller, lambda some: insert_new(caller, ACCOUNTS, ("id", "note"), some), rows)
    assert refused == [((2, "lone \ud800"), None)]
    assert len(database.balances()) == 1


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
    literals = row_literals([("文" * 100_000,)] * 8 + [("a" * 100_000,)] * 12)
    sizes = [sum(len(literal.encode()) for literal in part) for part in _parts(literals)]
    assert max(sizes) <= STATEMENT_BYTES
    assert len(sizes) == 4, "three wide ones and no more fit into one; the two that are left, with four others"
