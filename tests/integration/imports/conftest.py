"""What the tests of the import flow need beside the world: small chunks, worker processes, a second connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import NullPool

from shell.settings import settings
from tests.support.workers import Workers, running, start_alone
from tests.support.world import World, request_messages

Chunks = Callable[[int], None]


@pytest.fixture
def chunk_rows(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chunks]:
    """Call it to have files split into chunks of so many rows."""

    def split_into(rows: int) -> None:
        monkeypatch.setenv("CHUNK_ROWS", str(rows))
        settings.cache_clear()

    yield split_into
    monkeypatch.undo()
    settings.cache_clear()


@pytest.fixture(autouse=True)
def _no_requests(world: World) -> None:
    """None is left of another test."""
    request_messages()


@pytest.fixture(scope="session", autouse=True)
def _processes_start_quickly(migrated: dict[str, str]) -> None:
    """What all processes are forked from is started before a test's time is taken."""
    start_alone(migrated, "start_import", {}).join(timeout=60)


@pytest.fixture(scope="session")
def workers(migrated: dict[str, str]) -> Iterator[Workers]:
    """Four processes that run handlers, and have started before a test's time is taken."""
    with running(migrated, 4) as made:
        made.at_once("start_import", [{}] * made.count)
        made.at_once("import_chunk", [{}] * made.count)
        yield made


@pytest.fixture
def other(world: World) -> Iterator[Connection]:
    """A second connection to the database, outside of the application; rolled back at the end."""
    engine = create_engine(world.engine.url, poolclass=NullPool, isolation_level="READ COMMITTED")
    with engine.connect() as connection:
        yield connection
        connection.rollback()
