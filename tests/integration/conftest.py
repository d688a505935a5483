"""Cases in the schema of all tests, and in one whose deadlocks are counted for us alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import make_url

import migrate_database
from local.database import temporary_server
from shell.utils.db_session import engine
from tests.support import servers
from tests.support.caches import forget_caches
from tests.support.cases import Cases
from tests.support.database import Database
from tests.support.servers import RUN, SERVER, is_mysql, user_of_our_own
from tests.support.world import World

TABLES = (
    *("custody_changes", "custody_periods", "devices"),
    *("production_documents", "production_steps", "productions", "bates_sequences", "insert_destinations"),
    *("custodian_exhibits", "taggings", "exhibits", "custodians", "tags", "cases"),
)
# Where many add the same row at once: over one that was deleted and is not purged yet, an insert locks the gap before
# it, which makes deadlocks that are the tests' own.
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
    engine().dispose()
    monkeypatch.undo()
    forget_caches()
