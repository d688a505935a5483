"""What the tests of the import flow need beside the world: small chunks, worker processes, a second connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import NullPool

from shell.aws import clients
from shell.settings import settings
from tests.support.application.driver import World
from tests.support.application.handler_processes import Workers, running

Chunks = Callable[[int], None]
Setting = Callable[[str, str], None]


@pytest.fixture
def setting(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Setting]:
    """Call it to give one of the application's settings another value."""

    def change(name: str, value: str) -> None:
        monkeypatch.setenv(name, value)
        settings.cache_clear()

    yield change
    monkeypatch.undo()
    settings.cache_clear()


@pytest.fixture
def chunk_rows(setting: Setting) -> Chunks:
    """Call it to have files split into chunks of so many rows."""
    return lambda rows: setting("CHUNK_ROWS", str(rows))


@pytest.fixture(autouse=True)
def _no_messages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty the queues, also of messages that are delayed: they would arrive during another test."""
    # Else moto, like SQS, purges a queue once a minute.
    monkeypatch.setenv("MOTO_SQS_ENFORCE_STRICT_QUEUE_PURGE_BEHAVIOUR", "false")
    used = settings()
    for queue in (used.import_requests_queue_url, used.import_chunks_queue_url, used.import_completions_queue_url):
        clients.sqs().purge_queue(QueueUrl=queue)


@pytest.fixture(scope="session")
def workers(migrated: dict[str, str]) -> Iterator[Workers]:
    """Four processes that run handlers."""
    with running(migrated, 4) as made:
        yield made


@pytest.fixture
def other(world: World) -> Iterator[Connection]:
    """A second connection to the database, outside of the application; rolled back at the end."""
    engine = create_engine(world.engine.url, poolclass=NullPool, isolation_level="READ COMMITTED")
    with engine.connect() as connection:
        yield connection
        connection.rollback()


@pytest.fixture
def small_checkpoints(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows, chunks of two, and a checkpoint after every fifth chunk at the latest."""
    monkeypatch.setattr("shell.imports.splitting.split.SLICE_BYTES", 100)
    monkeypatch.setattr("shell.imports.splitting.stored_ids.GROUP_BYTES", 400)
    setting("CHUNK_ROWS", "2")
    setting("SPLIT_CHECKPOINT_CHUNKS", "5")


@pytest.fixture
def unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the import's row keeps workers apart, as when the lock on the file is lost."""
    monkeypatch.setattr("shell.imports.start.split_lock", lambda *_: nullcontext())


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to have every deadline near."""

    def change() -> None:
        for module in ("checkpoints", "registration"):
            monkeypatch.setattr(f"shell.imports.splitting.{module}.build_deadline_check", lambda _: lambda: True)

    return change
