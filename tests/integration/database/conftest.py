"""A schema of these tests' own, on a server whose counter of deadlocks counts for one worker alone.

MySQL counts errors by user, so a user of one's own on the given server will do. MariaDB has one counter for everybody:
there a second private server is started.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import URL, create_engine, make_url, text

from local.database import temporary_server
from shell.settings import settings
from shell.utils import column_limits, db_session
from tests.support import servers
from tests.support.database import Database, Toys
from tests.support.servers import RUN, SERVER, is_mysql, user_of_our_own

TABLES = (
    *("custody_changes", "custody_periods", "devices"),
    *("production_documents", "production_steps", "productions", "bates_sequences", "insert_destinations"),
    *("custodian_exhibits", "taggings", "exhibits", "custodians", "tags", "cases", "outbox_events"),
    *("toy_accounts", "toy_people", "toy_payments"),
)


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
    import migrate_database

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
    for table in TABLES:
        migrated_database.query(f"DELETE FROM {table}")
    yield migrated_database
    db_session.engine().dispose()
    monkeypatch.undo()
    _forget()


def _use(patch: pytest.MonkeyPatch, database: Database) -> None:
    patch.setenv("DATABASE_URL", database.url.render_as_string(hide_password=False))
    patch.setenv("DB_DEADLOCK_RETRY_DELAY", "0.002")
    _forget()


def _forget() -> None:
    for cached in (settings, db_session.engine, column_limits.column_limits):
        cached.cache_clear()


def _execute(server_url: str, *statements: str) -> None:
    engine = create_engine(make_url(server_url).set(database=""), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()
