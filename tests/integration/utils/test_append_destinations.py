"""A destination and the id of its lock: one row, under the very name that was given, made at the first request."""

from __future__ import annotations

import pytest

from core.errors import InvalidInputError
from shell.db import connection
from shell.db.retry import retry_on_db_conflict
from shell.db.session import session
from shell.utils.advisory_lock import NAME_IN_DATABASE, allocate_positions, insert_lock_name, table_insert_lock
from shell.utils.append_positions import get_or_create_destination
from tests.support.database.counted_database import Database
from tests.support.faults.commit_proxy import Loss, between_application_and_database
from tests.support.utils.destination_appends import executed, lock_of


@pytest.mark.parametrize("name", ["x" * 255, "\N{PILE OF POO}" * 255, "a\tb", " leading", "ÄÖ/../%_\\'\"", "a\0b", "A"])
def test_a_destination_may_have_any_name_that_its_column_holds(database: Database, name: str) -> None:
    assert lock_of(name).destination_id == lock_of(name).destination_id
    assert lock_of("a").destination_id != lock_of(name).destination_id
    assert database.scalar("SELECT name FROM insert_destinations ORDER BY id LIMIT 1") == name


@pytest.mark.parametrize("name", ["", " ", "trailing ", "x" * 256, "\ud800"])
def test_a_destination_that_the_column_cannot_hold_exactly_is_refused(database: Database, name: str) -> None:
    with pytest.raises(InvalidInputError):
        lock_of(name)
    assert database.query("SELECT id FROM insert_destinations") == []


def test_names_that_differ_in_case_or_accent_are_two(database: Database) -> None:
    assert len({lock_of(name).advisory_id for name in ("a", "A", "á", "ａ")}) == 4


def test_the_servers_name_of_a_lock_is_short_and_lower_case(database: Database) -> None:
    for advisory_id in (0, 2**63 - 1):
        name = database.scalar(f"SELECT {NAME_IN_DATABASE}", name=insert_lock_name(advisory_id))
        assert len(name) == 56
        assert name == name.lower()


def test_a_row_that_vanishes_under_its_holder_costs_a_repetition(database: Database) -> None:
    seen: list[int] = []

    @retry_on_db_conflict
    def unit() -> int:
        with table_insert_lock("volume") as lock, session() as transaction:
            seen.append(lock.advisory_id)
            if len(seen) == 1:
                database.query("DELETE FROM insert_destinations")
            return allocate_positions(transaction, lock, 1)

    assert unit() == 0
    assert len(set(seen)) == 2


def test_a_known_destination_is_not_looked_up_again(database: Database) -> None:
    lock_of("volume")
    with executed() as seen:
        lock_of("volume")
    assert [each.statement.split()[0] for each in seen] == ["SET", "SELECT", "UPDATE", "SELECT"]


def test_an_id_that_another_destination_has_is_not_taken_over(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = lock_of("a").advisory_id
    drawn = iter((taken, 5))
    monkeypatch.setattr("secrets.randbits", lambda bits: next(drawn))
    assert lock_of("b").advisory_id == 5


@pytest.mark.parametrize("loss", [Loss.REQUEST, Loss.ANSWER])
def test_a_destination_whose_commit_is_lost_is_made_once(database: Database, loss: Loss) -> None:
    with between_application_and_database(database.url) as proxy:
        proxy.lose_next(loss)
        made = get_or_create_destination(connection.database_url(), "volume")
    assert proxy.lost == 1
    assert database.query("SELECT id, advisory_id FROM insert_destinations") == [made]


def test_no_positions_is_a_mistake(database: Database) -> None:
    with table_insert_lock("volume") as lock, session() as transaction, pytest.raises(ValueError, match="at least 1"):
        allocate_positions(transaction, lock, 0)


def test_a_destination_is_remembered_for_its_database_alone(database: Database) -> None:
    known = get_or_create_destination(database.url, "volume")
    assert get_or_create_destination(database.url, "volume") is known
    assert get_or_create_destination(database.url.set(database="elsewhere"), "volume") is not known
