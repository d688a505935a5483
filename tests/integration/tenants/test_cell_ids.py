"""Every id that a stack generates is of its cell, also in a database that an earlier version or another cell filled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from sqlalchemy import text

from core.errors import DatabaseUnavailableError, SettingsError
from shell.db import session as db_session
from shell.db.ids import INCREMENT, MAX_ID, ForeignIdsError
from shell.imports.chunks import exhibit_store
from shell.maintenance import migrate
from shell.settings import settings
from tests.support.application.cleared_caches import forget_caches
from tests.support.application.driver import World
from tests.support.database.counted_database import Database, transaction

PAYMENTS = "SELECT id FROM toy_payments ORDER BY id"
THREE = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\nA-3,three\r\n"


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    yield monkeypatch
    monkeypatch.undo()
    forget_caches()


def be(patch: pytest.MonkeyPatch, number: int) -> None:
    patch.setenv("CELL_NUMBER", str(number))
    settings.cache_clear()


def pay(database: Database, count: int = 1) -> list[int]:
    """Insert rows as the application does, in one statement; returns all ids."""
    with database.environments(1) as (engine,), transaction(engine) as opened:
        opened.execute(text(f"INSERT INTO toy_payments (reference) VALUES {', '.join(['(1)'] * count)}"))
    return [row[0] for row in database.query(PAYMENTS)]


@pytest.fixture(autouse=True)
def _no_payments(database: Database) -> None:
    database.query("DELETE FROM toy_payments")
    database.query("ALTER TABLE toy_payments AUTO_INCREMENT = 1")


@pytest.mark.parametrize("number", [0, 7, 999])
def test_ids_are_those_of_the_cell_also_of_several_rows(
    database: Database, cell: pytest.MonkeyPatch, number: int
) -> None:
    be(cell, number)
    assert pay(database, 3) == [number + 1, number + 1_001, number + 2_001]


def test_after_a_row_of_another_cell_a_cell_goes_on_with_its_own_ids(
    database: Database, cell: pytest.MonkeyPatch
) -> None:
    be(cell, 2)
    database.query("INSERT INTO toy_payments (id, reference) VALUES (5000007, 1)")
    assert pay(database) == [5_000_007, 5_001_003]


def test_a_database_whose_ids_increased_by_one_goes_on_above_them(database: Database) -> None:
    """As an upgrade finds it; nothing is renumbered."""
    with database.admin.connect() as earlier:
        earlier.execute(text("SET SESSION auto_increment_increment = 1, auto_increment_offset = 1"))
        earlier.execute(text("INSERT INTO toy_payments (reference) VALUES (1), (1), (1)"))
    assert [row[0] for row in database.query(PAYMENTS)] == [1, 2, 3]
    assert pay(database, 2) == [1, 2, 3, 1_001, 2_001]


def test_the_previous_release_writes_beside_this_one_without_its_ids_colliding(database: Database) -> None:
    """During a deployment, its connections may still count by one."""
    pay(database)
    with database.admin.connect() as earlier:
        earlier.execute(text("SET SESSION auto_increment_increment = 1, auto_increment_offset = 1"))
        earlier.execute(text("INSERT INTO toy_payments (reference) VALUES (1), (1)"))
    ids = pay(database, 2)
    assert len(set(ids)) == 5
    assert [each % INCREMENT for each in ids[-2:]] == [1, 1]


@pytest.mark.parametrize("settings_of", ["auto_increment_increment = 1", "auto_increment_offset = 4"])
def test_a_writer_with_other_settings_is_refused(database: Database, settings_of: str) -> None:
    with database.environments(1) as (engine,), engine.connect() as connection:
        connection.exec_driver_sql(f"SET SESSION {settings_of}")
        raw = connection.connection.driver_connection
        with pytest.raises(DatabaseUnavailableError, match="those of this stack need 1000 and 1"):
            db_session.refuse_unsafe_server(raw, None)
        connection.exec_driver_sql("SET SESSION auto_increment_increment = 1000, auto_increment_offset = 1")
        db_session.refuse_unsafe_server(raw, None)


def test_a_cell_that_cannot_be_is_refused(database: Database, cell: pytest.MonkeyPatch) -> None:
    be(cell, 1_000)
    with pytest.raises(SettingsError, match="CELL_NUMBER is 1000"):
        pay(database)


def test_an_id_that_json_does_not_hold_is_refused_and_its_row_rolled_back(database: Database) -> None:
    database.query(f"ALTER TABLE toy_payments AUTO_INCREMENT = {MAX_ID - 999}")
    assert len(pay(database)) == 1
    with pytest.raises(DatabaseUnavailableError, match="above 9007199254740991"):
        pay(database)
    assert max(row[0] for row in database.query(PAYMENTS)) <= MAX_ID


@pytest.mark.parametrize(("increment", "known"), [(INCREMENT, True), pytest.param(1, False, id="negative control")])
def test_the_ids_of_a_chunk_are_known_without_reading_them(
    world: World, monkeypatch: pytest.MonkeyPatch, increment: int, known: bool
) -> None:
    found: list[dict[int, int]] = []
    find = exhibit_store._find_generated_ids

    def observed(*given: object) -> dict[int, int]:
        found.append(find(*given))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(exhibit_store, "INCREMENT", increment)
    monkeypatch.setattr(exhibit_store, "_find_generated_ids", observed)
    world.run(THREE)
    stored = dict(world.query("SELECT line_no, id FROM exhibits"))
    assert [bool(each) for each in found] == [known]
    assert not known or found[0] == stored
    assert len(stored) == 3


@pytest.mark.parametrize(("failures", "waits"), [(2, True), (100, False)])
def test_a_migration_waits_until_the_parameters_have_reached_the_server(
    monkeypatch: pytest.MonkeyPatch, failures: int, waits: bool
) -> None:
    tries = iter([ForeignIdsError()] * failures)

    def read() -> None:
        for error in tries:
            raise error

    monkeypatch.setattr(migrate, "_read_current", read)
    monkeypatch.setattr(migrate, "PARAMETERS_PAUSE_S", 0)
    monkeypatch.setattr(migrate, "PARAMETERS_S", 60 if waits else 0)
    with nullcontext() if waits else pytest.raises(ForeignIdsError):
        migrate.await_parameters()
