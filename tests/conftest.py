"""Servers and a clean world for the tests that ask for them; nothing is skipped for want of a database,
and three tests for want of a redis-server.

The database is DATABASE_URL's server if that is set (any MySQL 8 or MariaDB 10.6 and newer, with a schema of the tests'
own beside the one it names), else a private one that lives as long as the run. Two xdist workers share the server and
have a schema each.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from multiprocessing.forkserver import ensure_running

import pytest
from hypothesis import settings
from redis import Redis
from sqlalchemy import URL, text

from local.services.mysql import temporary_server
from tests.support import servers
from tests.support.caches import forget_caches, forget_redis
from tests.support.redis_server import private_redis
from tests.support.servers import RUN, SERVER
from tests.support.world import World

# Before any test imports them, in whichever folder.
pytest.register_assert_rewrite("tests.support.checks", "tests.support.rebuild")

# In milliseconds. At the default of 200 an example fails because the machine stood still for a moment.
settings.register_profile("patient", deadline=5_000)
settings.load_profile("patient")

_servers = ExitStack()
SLOW_S = 5.0
TABLES = (
    *("custody_changes", "custody_periods", "devices"),
    *("custodian_exhibits", "taggings", "exhibits", "custodians", "tags", "import_name_occurrences", "import_warnings"),
    *("import_rejections", "import_duplicates", "import_chunks", "imports", "cases", "outbox_events"),
    *("idempotency_keys", "semaphore_holders", "semaphores", "insert_destinations"),
    *("production_documents", "production_steps", "productions", "bates_sequences"),
)


def pytest_configure(config: pytest.Config) -> None:
    """Start the database server once, in the process that starts the workers."""
    if hasattr(config, "workerinput") or os.environ.get(SERVER):
        return
    os.environ[RUN] = secrets.token_hex(4)
    only_units = bool(config.args) and all("unit" in argument for argument in config.args)
    if not only_units and not config.option.collectonly:
        os.environ[SERVER] = os.environ.get("DATABASE_URL") or _servers.enter_context(temporary_server())


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what `pytest_configure` started."""
    _servers.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the unmarked tests that took long; none fails for it, because the machine's speed is not the test's."""
    passed: list[pytest.TestReport] = terminalreporter.getreports("passed")
    slow = [(report.duration, report.nodeid) for report in passed if is_slow(report)]
    if slow and os.environ.get("RACE_COUNTS") != "full":
        terminalreporter.section(f"over {SLOW_S} s without the mark `slow`")
        for duration, name in sorted(slow, reverse=True):
            terminalreporter.write_line(f"{duration:6.1f} s  {name}")


def is_slow(report: pytest.TestReport) -> bool:
    """Tell whether a test's call took over `SLOW_S` seconds though nothing marks it as slow."""
    return report.when == "call" and report.duration > SLOW_S and "slow" not in report.keywords


@pytest.fixture(scope="session")
def race_counts() -> int:
    """By what the counts of race tests are divided: 10, or 1 under `make test-full`."""
    return 1 if os.environ.get("RACE_COUNTS") == "full" else 10


@pytest.fixture(scope="session")
def schema_url(worker_id: str) -> Iterator[URL]:
    """An empty schema of this worker's own."""
    url = servers.fresh_schema(os.environ[SERVER], f"exhibits_test_{os.environ[RUN]}_{worker_id}")
    yield url
    servers.drop_schema(url)


@pytest.fixture(scope="session")
def aws_url() -> Iterator[str]:
    """A moto server of this worker's own."""
    with servers.aws() as url:
        yield url


@pytest.fixture(scope="session")
def environment(schema_url: URL, aws_url: str) -> Iterator[dict[str, str]]:
    """The environment of a function: database, AWS, a bucket and its queues."""
    with pytest.MonkeyPatch.context() as patch:
        # A developer's own Redis is nobody's playground; tests that want one ask for `with_redis`.
        patch.delenv("REDIS_URL", raising=False)
        values = {
            "DATABASE_URL": schema_url.render_as_string(hide_password=False),
            "AWS_ENDPOINT_URL": aws_url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "POWERTOOLS_TRACE_DISABLED": "1",
            "DB_DEADLOCK_RETRY_DELAY": "0.02",
        }
        for name, value in values.items():
            patch.setenv(name, value)
        _, names = World.create()
        for name, value in names.items():
            patch.setenv(name, value)
        forget_caches()
        # What processes are forked from keeps the environment of its start: not that of some test which changed it.
        ensure_running()
        yield {**values, **names}
    forget_caches()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A private Redis of this worker's own."""
    with private_redis() as server:
        yield server.url


@pytest.fixture
def with_redis(redis_url: str) -> Iterator[str]:
    """For the test the application has a Redis, an empty one; gives its URL."""
    with Redis.from_url(redis_url) as client, pytest.MonkeyPatch.context() as patch:
        client.flushall()
        patch.setenv("REDIS_URL", redis_url)
        forget_redis()
        yield redis_url
    forget_redis()


@pytest.fixture(scope="session")
def migrated(environment: dict[str, str]) -> dict[str, str]:
    """The environment, with the schema up to date."""
    import migrate_database

    migrate_database.lambda_handler({"RequestType": "Local"}, None)
    return environment


@pytest.fixture
def world(migrated: dict[str, str]) -> Iterator[World]:
    """A world whose tables and queues are empty."""
    made = World(migrated["BUCKET"], migrated)
    empty_tables(made)
    made.chunk_messages()
    yield made
    made.engine.dispose()


def empty_tables(world: World) -> None:
    """DELETE, which on small tables is ten times faster than TRUNCATE."""
    with world.engine.begin() as connection:
        for table in TABLES:
            connection.execute(text(f"DELETE FROM {table}"))
