"""Cases in the schema of all tests, and in one whose deadlocks are counted for us alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import URL, make_url

import migrate_database
from shell.db import column_limits, session
from shell.settings import settings
from tests.support.application.driver import World
from tests.support.database.counted_database import Database, Toys
from tests.support.database.empty_tables import empty_tables
from tests.support.exhibits.stored_cases import Cases
from tests.support.servers import provisioned_servers
from tests.support.servers.provisioned_servers import counts_for_us_alone, is_mysql


@pytest.fixture
def cases(world: World) -> Cases:
    """Empty tables of the schema that all tests of this worker use."""
    url = world.environment["DATABASE_URL"]
    return Cases(Database(make_url(url), is_mysql(url)))


@pytest.fixture(scope="session")
def counting_url(schema_url: URL) -> Iterator[URL]:
    """A schema on a server, or of a user, whose deadlocks no other session adds to."""
    with ExitStack() as stack:
        if counts_for_us_alone():
            yield schema_url
        else:
            yield provisioned_servers.fresh_schema(
                stack.enter_context(provisioned_servers.private_server()), "exhibits_counting"
            )


@pytest.fixture(scope="session")
def counting_database(counting_url: URL, environment: dict[str, str]) -> Database:
    """The schema with the application's tables and the toys."""
    made = Database(counting_url, is_mysql(counting_url.render_as_string(hide_password=False)))
    with pytest.MonkeyPatch.context() as patch:
        _use(patch, made)
        migrate_database.lambda_handler({"RequestType": "Local"}, None)
        Toys.metadata.create_all(made.admin)
    _forget()
    return made


@pytest.fixture
def database(counting_database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """Empty tables in a database that is the application's for the length of the test, and counts for us alone."""
    _use(monkeypatch, counting_database)
    empty_tables(counting_database.admin, Toys.metadata)
    yield counting_database
    session.engine().dispose()
    monkeypatch.undo()
    _forget()


@pytest.fixture
def counting(database: Database) -> Cases:
    """Cases in that database."""
    return Cases(database)


def _use(patch: pytest.MonkeyPatch, database: Database) -> None:
    patch.setenv("DATABASE_URL", database.url.render_as_string(hide_password=False))
    patch.setenv("DB_DEADLOCK_RETRY_DELAY", "0.002")
    _forget()


def _forget() -> None:
    for cached in (settings, session.engine, column_limits.column_limits):
        cached.cache_clear()
