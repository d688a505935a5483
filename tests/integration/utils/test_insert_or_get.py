"""Insert a row or find the one with its key: one row however many try, and no other error taken for a duplicate."""

from __future__ import annotations

from collections.abc import Callable

import pymysql
import pytest
from sqlalchemy import Engine, event, select, text
from sqlalchemy.exc import IntegrityError, NoResultFound, PendingRollbackError
from sqlalchemy.orm import Session

from core.errors import ConflictError
from shell.db.errors import DbErrorClass, classify, find_duplicate_key_name
from shell.db.session import session
from shell.tables.custodians_tags import Custodians
from shell.utils.db_helpers import insert_or_get, retry_on_db_conflict
from shell.utils.named_rows import find_named, find_or_add_named
from tests.support.database.counted_database import Database, People, Step, barrier, outcome, together, transaction


def person(caller: Session, email: str, badge: str) -> tuple[People, bool]:
    return insert_or_get(caller, People, {"email": email}, {"badge": badge}, unique_key="uq_people_email")


def check_then_insert(caller: Session, email: str, met: Step) -> bool:
    """The negative control: the row may appear after the look."""
    if caller.scalars(select(People).filter_by(email=email)).one_or_none():
        return False
    met()
    caller.add(People(email=email, badge=email))
    caller.flush()
    return True


def snapshot_of(engine: Engine) -> Engine:
    return engine.execution_options(isolation_level="REPEATABLE READ")


def at_once(engines: list[Engine]) -> list[tuple[Engine, Step]]:
    meeting = barrier(len(engines))
    return [(engine, meeting.wait) for engine in engines]


def one_of_many(engine: Engine) -> Callable[[], bool]:
    @retry_on_db_conflict
    def unit() -> bool:
        with transaction(engine) as caller:
            return person(caller, "e", "e")[1]

    return unit


@pytest.mark.parametrize("committed", [True, False])
def test_however_many_insert_the_same_key_there_is_one_row_and_none_fails(database: Database, committed: bool) -> None:
    with database.environments(8) as engines, Session(engines[0]) as first:
        person(first, "e", "e")

        def end() -> bool:
            database.until_waiting(7)
            first.commit() if committed else first.rollback()
            return committed

        created = together(end, *(one_of_many(engine) for engine in engines[1:]))
    assert sorted(created) == [False] * 7 + [True]
    assert database.scalar("SELECT COUNT(*) FROM toy_people") == 1


def test_looking_first_makes_all_but_one_of_them_fail(database: Database) -> None:
    def naive(engine: Engine, met: Step) -> Callable[[], bool]:
        def work() -> bool:
            with transaction(engine) as caller:
                return check_then_insert(caller, "e", met)

        return work

    with database.environments(5) as engines:
        ended = together(*(outcome(naive(engine, meet)) for engine, meet in at_once(engines)))
    assert ended.count(True) == 1
    assert sum(isinstance(error, IntegrityError) for error in ended) == 4


def test_the_callers_transaction_survives_a_duplicate_and_gets_the_row_as_it_is_now(database: Database) -> None:
    database.query("INSERT INTO toy_people (email, badge) VALUES ('e', 'old')")
    with session() as caller:
        read = caller.scalars(select(People)).one()
        database.query("UPDATE toy_people SET badge = 'new'")
        caller.add(People(email="before", badge="before"))
        found, created = person(caller, "e", "x")
        caller.add(People(email="after", badge="after"))
    assert found is read
    assert (read.badge, created) == ("new", False)
    emails = [row.email for row in database.query("SELECT email FROM toy_people ORDER BY email")]
    assert emails == ["after", "before", "e"]


def test_a_snapshot_that_is_older_than_the_row_does_not_hide_it(database: Database) -> None:
    with session() as caller, database.environments(1) as (other,):
        caller.execute(text("SELECT COUNT(*) FROM toy_people"))
        database.query("INSERT INTO toy_people (email, badge) VALUES ('e', 'e')")
        assert person(caller, "e", "x")[0].badge == "e"
        with Session(snapshot_of(other)) as old:
            old.execute(text("SELECT COUNT(*) FROM toy_people"))
            database.query("INSERT INTO toy_people (email, badge) VALUES ('late', 'late')")
            with pytest.raises(IntegrityError), old.begin_nested():
                old.execute(text("INSERT INTO toy_people (email, badge) VALUES ('late', 'x')"))
            look = text("SELECT id FROM toy_people WHERE email = 'late'")
            assert old.execute(look).all() == [], "under REPEATABLE READ a plain read never finds it"


def test_a_name_that_exists_and_cannot_be_read_is_a_conflict_and_not_left_out(database: Database) -> None:
    with database.environments(1) as (other,), Session(snapshot_of(other)) as old:
        old.execute(text("SELECT COUNT(*) FROM custodians"))
        database.query("INSERT INTO custodians (case_id, name) VALUES (1, 'Ann')")
        with pytest.raises(ConflictError, match="being added"):
            find_or_add_named(old, Custodians, 1, ["Ann", "Bob"])
        assert list(find_named(old, 1, {Custodians: ["Ann", "Bob"]})[Custodians]) == ["Bob"], "the negative control"


def test_a_duplicate_of_another_unique_key_is_raised(database: Database) -> None:
    database.query("INSERT INTO toy_people (email, badge) VALUES ('person', 'taken')")
    with session() as caller, pytest.raises(IntegrityError) as raised:
        person(caller, "me", "taken")
    assert classify(raised.value) is DbErrorClass.DUPLICATE, "the negative control reads by e-mail, and finds no person"
    assert find_duplicate_key_name(raised.value) == "uq_people_badge"
    assert database.query("SELECT id FROM toy_people WHERE email = 'me'") == []


@pytest.mark.parametrize("value", ["for key 'x'", "a' for key 'toy_people.uq_people_badge'", "ü" * 50])
def test_the_keys_name_is_read_whatever_the_value_is(database: Database, value: str) -> None:
    database.query("INSERT INTO toy_people (email, badge) VALUES (:e, 'b')", e=value)
    with session() as caller:
        assert person(caller, value, "x")[1] is False


def test_a_row_that_vanished_after_the_duplicate_is_inserted_and_one_that_keeps_vanishing_is_a_conflict(
    database: Database,
) -> None:
    with session() as caller:
        conflicts = duplicates_that_are_gone(caller, 1)
        row, created = person(caller, "e", "mine")
    assert (row.badge, created, conflicts) == ("mine", True, ["gone"])
    with session() as caller:
        conflicts = duplicates_that_are_gone(caller, 100)
        with pytest.raises(ConflictError, match="created and deleted by others 5 times"):
            person(caller, "another", "another")
    assert len(conflicts) == 5


def duplicates_that_are_gone(caller: Session, times: int) -> list[str]:
    """The next inserts meet a duplicate of a row that is gone when it is looked for."""
    met: list[str] = []

    def meet_duplicate(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO toy_people") and len(met) < times:
            met.append("gone")
            raise pymysql.err.IntegrityError(1062, "Duplicate entry 'e' for key 'toy_people.uq_people_email'")

    event.listen(caller.connection(), "before_cursor_execute", meet_duplicate)
    return met


def test_reading_once_what_was_collided_with_fails_when_it_is_gone(database: Database) -> None:
    """The negative control takes the row's absence for impossible."""
    with session() as caller:
        duplicates_that_are_gone(caller, 1)
        with pytest.raises(IntegrityError), caller.begin_nested():
            caller.add(People(email="e", badge="mine"))
        with pytest.raises(NoResultFound):
            caller.scalars(select(People).filter_by(email="e").with_for_update()).one()


def test_what_else_was_pending_is_written_before_and_blamed_for_itself(database: Database) -> None:
    database.query("INSERT INTO toy_people (email, badge) VALUES ('e', 'e')")
    with session() as caller:
        caller.add(People(email="e", badge="unrelated"))
        with pytest.raises(IntegrityError):
            person(caller, "mine", "mine")
        caller.rollback()
    with database.environments(1) as (one,), Session(one) as naive:
        naive.add(People(email="e", badge="unrelated"))
        with pytest.raises(IntegrityError), naive.begin_nested():
            naive.add(People(email="mine", badge="mine"))
        # The negative control takes it for a duplicate of its own, looks for that, and hides the first error.
        with pytest.raises(PendingRollbackError):
            naive.scalars(select(People).filter_by(email="mine")).one_or_none()


@pytest.mark.parametrize(
    ("stored", "requested"), [("Straße", "STRASSE"), ("Résumé", "resume"), ("Ann", "ANN"), ("Ann", "Ann ")]
)
def test_names_that_the_database_holds_equal_are_one(database: Database, stored: str, requested: str) -> None:
    database.query("INSERT INTO custodians (id, case_id, name) VALUES (7, 1, :name)", name=stored)
    with session() as caller:
        found = find_named(caller, 1, {Custodians: [requested, "No One"]})[Custodians]
        key = {"case_id": 1, "name": requested}
        row, created = insert_or_get(caller, Custodians, key, {}, unique_key="uq_custodians_name")
    assert {name: (row.id, row.name) for name, row in found.items()} == {requested: (7, stored)}
    assert (row.id, created) == (7, False)
    by_name = {row.name: row.id for row in database.query("SELECT id, name FROM custodians")}
    assert requested not in by_name, "a look-up in Python misses the row"
