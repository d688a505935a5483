"""Cases in the schema of all tests, and in one whose deadlocks are counted for us alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import URL, create_engine, make_url, text

import migrate_database
from local.services.mysql import temporary_server
from shell.db import column_limits, session
from shell.settings import settings
from tests.support import servers
from tests.support.caches import forget_caches
from tests.support.cases import Cases
from tests.support.database import Database, Toys
from tests.support.servers import RUN, SERVER, is_mysql, user_of_our_own
from tests.support.world import World

TABLES = (
    *("custody_changes", "custody_periods", "devices"),
    *("production_documents", "production_steps", "productions", "bates_sequences", "insert_destinations"),
    *("custodian_exhibits", "taggings", "exhibits", "custodians", "tags", "cases"),
)
# Where many add the same row at once: over one that was deleted and is not purged yet, an insert locks the gap before
# it, which makes deadlocks that are the tests' own.
MORE_TABLES = ("outbox_events", "toy_accounts", "toy_people", "toy_payments")
MET_ON = ("devices", "bates_sequences", "insert_destinations")


@pytest.fixture
def cases(world: World) -> Cases:
    """Empty tables of the schema that all tests of this worker use."""
    url = make_url(world.environment["DATABASE_URL"])
    return Cases(Database(url, is_mysql(os.environ[SERVER])))


@pytest.fixture(scope="session")
def counting_url(worker_id: str, environment: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """A schema on a server, or as a user, whose deadlocks nobody else adds to."""
    given, schema = os.environ[SERVER], f"exhibits_api_{os.environ[RUN]}_{worker_id}"
    with ExitStack() as stack:
        if is_mysql(given):
            ours = stack.enter_context(user_of_our_own(given, schema))
            server = ours.render_as_string(hide_password=False)
        else:
            server = stack.enter_context(temporary_server())
        url = servers.fresh_schema(server, schema)
        stack.callback(servers.drop_schema, url)
        yield url.render_as_string(hide_password=False), is_mysql(server)


@pytest.fixture
def counting(counting_url: tuple[str, bool], monkeypatch: pytest.MonkeyPatch) -> Iterator[Cases]:
    """Cases in a database that is the application's for the length of the test, and counts deadlocks for us alone."""
    monkeypatch.setenv("DATABASE_URL", counting_url[0])
    monkeypatch.setenv("DB_DEADLOCK_RETRY_DELAY", "0.002")
    forget_caches()
    migrate_database.lambda_handler({"RequestType": "Local"}, None)
    database = Database(make_url(counting_url[0]), counting_url[1])
    for table in TABLES:
        database.query(f"{'TRUNCATE' if table in MET_ON else 'DELETE FROM'} {table}")
    yield Cases(database)
    session.engine().dispose()
    monkeypatch.undo()
    forget_caches()


@pytest.fixture(scope="session")
def database_url(worker_id: str, environment: dict[str, str]) -> Iterator[tuple[URL, bool]]:
    """An empty schema, and whether it is on MySQL."""
    given = os.environ[SERVER]
    schema = f"exhibits_races_{os.environ[RUN]}_{worker_id}"
    with ExitStack() as stack:
        if is_mysql(given):
            url = stack.enter_context(user_of_our_own(given, schema)).render_as_string(hide_password=False)
            stack.callback(_execute, given, f"DROP DATABASE {schema}")
        else:
            url = stack.enter_context(temporary_server())
            # Nothing here has to outlive the machine.
            _execute(url, "SET GLOBAL innodb_flush_log_at_trx_commit = 0")
        # To make ready for TLS that nobody uses here takes longer than all else that a connection does.
        yield servers.fresh_schema(url, schema).update_query_dict({"ssl_disabled": "true"}), is_mysql(url)


@pytest.fixture(scope="session")
def migrated_database(database_url: tuple[URL, bool], environment: dict[str, str]) -> Database:
    """The schema with the application's tables and the toys."""
    made = Database(*database_url)
    with pytest.MonkeyPatch.context() as patch:
        _use(patch, made)
        migrate_database.lambda_handler({"RequestType": "Local"}, None)
        Toys.metadata.create_all(made.admin)
    _forget()
    return made


@pytest.fixture
def database(migrated_database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """Empty tables in a database that is the application's for the length of the test."""
    _use(monkeypatch, migrated_database)
    for table in (*TABLES, *MORE_TABLES):
        migrated_database.query(f"DELETE FROM {table}")
    yield migrated_database
    session.engine().dispose()
    monkeypatch.undo()
    _forget()


def _use(patch: pytest.MonkeyPatch, database: Database) -> None:
    patch.setenv("DATABASE_URL", database.url.render_as_string(hide_password=False))
    patch.setenv("DB_DEADLOCK_RETRY_DELAY", "0.002")
    _forget()


def _forget() -> None:
    for cached in (settings, session.engine, column_limits.column_limits):
        cached.cache_clear()


def _execute(server_url: str, *statements: str) -> None:
    engine = create_engine(make_url(server_url).set(database=""), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()
