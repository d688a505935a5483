"""Every destination gets one lock id, in a table that has rows or none, wherever a migration dies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event, inspect, text

import shell.migrations
from shell.settings import settings
from shell.utils import db_session
from tests.support import servers
from tests.support.appending import lock_of
from tests.support.database import Database, outcome

NAMES = ("plain", "A", "a", "tenant/case/volume", "Ümläut", "\N{PILE OF POO}" * 255, "x" * 255, "percent%_", "a'b\\c")
SCRIPTS = str(Path(next(iter(shell.migrations.__path__))))
KEY = "ALTER TABLE insert_destinations ADD UNIQUE KEY uq_insert_destinations_advisory (advisory_id)"


class DiedError(Exception):
    """The process that migrated is no more."""


@pytest.fixture
def schemas(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Engine]]:
    """Two schemas without a table; the first is the application's."""
    url = database.url.render_as_string(hide_password=False)
    urls = [servers.fresh_schema(url, f"{database.url.database}_old{index}") for index in (1, 2)]
    made = [create_engine(each, isolation_level="AUTOCOMMIT") for each in urls]
    with monkeypatch.context() as patch:
        patch.setenv("DATABASE_URL", urls[0].render_as_string(hide_password=False))
        settings.cache_clear()
        db_session.engine.cache_clear()
        yield made
        db_session.engine().dispose()
    for engine, each in zip(made, urls, strict=True):
        engine.dispose()
        servers.drop_schema(each)
    settings.cache_clear()
    db_session.engine.cache_clear()


@pytest.fixture
def old(schemas: list[Engine]) -> Engine:
    """The application's schema as it was before destinations had lock ids, with destinations."""
    as_it_was(schemas[0])
    return schemas[0]


def as_it_was(engine: Engine, names: Sequence[str] = NAMES) -> None:
    upgrade(engine, "0004")
    with engine.connect() as connection:
        insert = text("INSERT INTO insert_destinations (name) VALUES (:name)")
        connection.execute(insert, [{"name": name} for name in names])


def upgrade(engine: Engine, revision: str) -> None:
    """Migrate as the application does: DDL commits by itself, the rest at the end."""
    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    with create_engine(engine.url).connect() as connection:
        config.attributes["connection"], config.attributes["charset"] = connection, "utf8mb3"
        command.upgrade(config, revision)
        connection.commit()
        connection.invalidate()


def upgrade_dying_after(engine: Engine, revision: str, statements: int) -> None:
    """Migrate until so many statements were executed; what was not committed then is rolled back."""
    left = iter(range(statements - 1))

    def executed(*_: Any) -> None:
        if next(left, None) is None:
            raise DiedError

    event.listen(Engine, "after_cursor_execute", executed)
    try:
        upgrade(engine, revision)
    finally:
        event.remove(Engine, "after_cursor_execute", executed)


def ids(engine: Engine) -> dict[str, int]:
    """The lock ids that there are, by name."""
    if "advisory_id" not in {column["name"] for column in inspect(engine).get_columns("insert_destinations")}:
        return {}
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT name, advisory_id FROM insert_destinations")).all()
    return {row.name: row.advisory_id for row in rows if row.advisory_id is not None}


def go_back(engine: Engine) -> None:
    """To before the backfill; its key goes with its column."""
    with engine.connect() as connection:
        if ids(engine):
            connection.execute(text("ALTER TABLE insert_destinations DROP COLUMN advisory_id"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0004'"))


def assert_complete(engine: Engine, names: Sequence[str] = NAMES) -> None:
    minted = ids(engine)
    assert set(minted) == set(names)
    assert len(set(minted.values())) == len(names)
    assert all(0 <= each < 2**63 for each in minted.values())
    (column,) = (c for c in inspect(engine).get_columns("insert_destinations") if c["name"] == "advisory_id")
    assert column["nullable"] is False
    unique = [key["column_names"] for key in inspect(engine).get_indexes("insert_destinations") if key["unique"]]
    assert sorted(unique) == [["advisory_id"], ["name"]]


def test_every_destination_gets_an_id_of_its_own_which_stays(old: Engine) -> None:
    upgrade(old, "0005")
    assert_complete(old)
    minted = ids(old)
    upgrade(old, "0005")
    assert ids(old) == minted


def test_the_lock_uses_the_id_that_was_backfilled(old: Engine) -> None:
    upgrade(old, "head")
    assert {name: lock_of(name).advisory_id for name in NAMES} == ids(old)


def test_the_same_destination_has_another_id_in_another_database(schemas: list[Engine]) -> None:
    for each in schemas:
        as_it_was(each)
        upgrade(each, "0005")
    one, two = (set(ids(each).values()) for each in schemas)
    assert not one & two


def test_in_an_empty_table_nothing_is_minted(schemas: list[Engine]) -> None:
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    upgrade(schemas[0], "0005")
    event.remove(Engine, "before_cursor_execute", note)
    assert not [each for each in seen if each.lstrip().startswith("UPDATE insert_destinations")]
    assert ids(schemas[0]) == {}


def test_wherever_it_dies_the_next_run_completes_it_and_keeps_what_was_minted(schemas: list[Engine]) -> None:
    old, few = schemas[0], NAMES[:3]
    as_it_was(old, few)
    for statements in count(1):
        go_back(old)
        if outcome(partial(upgrade_dying_after, old, "0005", statements))() is None:
            break
        minted = ids(old)
        upgrade(old, "0005")
        assert_complete(old, few)
        assert minted.items() <= ids(old).items()
    assert statements > len(few) + 5


def test_wherever_any_migration_dies_the_next_run_completes_it(schemas: list[Engine]) -> None:
    """Each run dies one statement later than the one before, until one gets to the end."""
    for statements in count(1):
        ended = outcome(partial(upgrade_dying_after, schemas[0], "head", statements))()
        if not isinstance(ended, DiedError):
            break
    assert ended is None
    upgrade(schemas[1], "head")
    tables = [inspect(each).get_table_names() for each in schemas]
    assert tables[0] == tables[1]
    assert statements > 10


def test_a_key_cannot_be_added_twice(old: Engine) -> None:
    """What a run that dies before its revision's number is committed leaves to the next one."""
    upgrade(old, "0005")
    with old.connect() as connection:
        refused = outcome(lambda: connection.execute(text(KEY)))()
    assert "1061" in str(refused)
