"""Servers and a clean world for the tests that ask for them; nothing is skipped for want of a database,
and three tests for want of a redis-server.

The database is DATABASE_URL's server if that is set (any MySQL 8 or MariaDB 10.6 and newer, with schemas of the tests'
own beside the one it names), else a private one for each worker that lives as long as the run.
"""

from __future__ import annotations

import gc
import os
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from multiprocessing.forkserver import ensure_running

import pytest
from hypothesis import settings
from redis import Redis
from sqlalchemy import URL, make_url

from local.errors import LocalError
from shell.observability import logger, name_tenant
from shell.tenants.first_use import forget_tenants
from tests.support.application.captured_log import Log
from tests.support.application.cleared_caches import forget_caches, forget_redis
from tests.support.application.driver import World, empty_bucket, empty_queues
from tests.support.database.application_user import ADMINISTRATOR, SWITCH, administrator_engine, application_user
from tests.support.database.empty_tables import empty_tables
from tests.support.servers import provisioned_servers
from tests.support.servers.provisioned_servers import RUN, SERVER
from tests.support.servers.redis_server import private_redis
from tests.support.utils.semaphore_contenders import wait_for_redis

# Before any test imports them, in whichever folder.
pytest.register_assert_rewrite("tests.support.imports.accounting", "tests.support.imports.rebuilt_rows")

# No deadline: an example would fail because the machine stood still for a moment.
# The quick examples are the same in every run: a run is red for a change, never by chance.
settings.register_profile("quick", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=300)
settings.load_profile("thorough" if os.environ.get("RACE_COUNTS") == "full" else "quick")

_servers = ExitStack()
SLOW_S = 5.0


def pytest_configure(config: pytest.Config) -> None:
    """Start this worker's database server; raises UsageError with one line of advice where there is none."""
    if not needs_database(config):
        return
    # If a file of authorities is set, the driver reads it in 26 ms for each of 1,400 connections; no test needs it.
    os.environ["SSL_CERT_FILE"] = os.devnull
    worker: str | None = getattr(config, "workerinput", {}).get("workerid")
    try:
        if worker is None:
            os.environ[RUN] = secrets.token_hex(4)
            provisioned_servers.prepare_database(_servers)
        if worker or not config.getoption("numprocesses", None):
            provisioned_servers.start_database(_servers, worker or "master")
    except LocalError as error:
        _servers.close()
        raise pytest.UsageError(str(error)) from error


def needs_database(config: pytest.Config) -> bool:
    """Whether tests other than unit tests are to run."""
    only_units = bool(config.args) and all("unit" in argument for argument in config.args)
    return not only_units and not config.option.collectonly


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(ids: Sequence[str]) -> None:
    """Refuse tests with one id: of these, pytest-xdist runs the first alone and reports nothing of the others."""
    repeated = [name for name, count in Counter(ids).items() if count > 1]
    if repeated:
        raise pytest.UsageError(f"Several tests have one id: {', '.join(repeated)}. Give their parameters ids.")


def pytest_collection_finish() -> None:
    """Have collections of garbage be rarer, and skip what lives as long as the run: a seventh of the processor time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


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
    url = provisioned_servers.fresh_schema(os.environ[SERVER], f"exhibits_test_{os.environ[RUN]}_{worker_id}")
    yield url
    provisioned_servers.drop_schema(url)


@pytest.fixture(scope="session")
def aws_url() -> Iterator[str]:
    """A moto server of this worker's own."""
    with provisioned_servers.aws() as url:
        yield url


@pytest.fixture(scope="session")
def environment(schema_url: URL, aws_url: str) -> Iterator[dict[str, str]]:
    """The environment of a function: database, AWS, a bucket and its queues."""
    with pytest.MonkeyPatch.context() as patch:
        # A developer's own Redis is not for tests; tests that need one use `with_redis`.
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


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    """What the application logs during the test."""
    written = Log()
    monkeypatch.setattr(logger.registered_handler, "stream", written.stream)
    # A test that called what a handler calls has left its tenant.
    name_tenant(None)
    return written


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
        wait_for_redis(patch, 20)
        forget_redis()
        yield redis_url
    forget_redis()


@pytest.fixture(scope="session")
def migrated(environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """The environment, with the schema up to date; with TESTS_AS_APPLICATION=1, of the functions' own user."""
    import migrate_database

    migrate_database.lambda_handler({"RequestType": "Local"}, None)
    if not os.environ.get(SWITCH):
        yield environment
        return
    administrator = make_url(environment["DATABASE_URL"])
    with application_user(administrator) as limited, pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADMINISTRATOR, environment["DATABASE_URL"])
        patch.setenv("DATABASE_URL", limited.render_as_string(hide_password=False))
        forget_caches()
        yield environment
    forget_caches()


@pytest.fixture
def world(migrated: dict[str, str]) -> World:
    """A world whose tables, queues and bucket are empty."""
    made = World(migrated["BUCKET"], migrated)
    empty_tables(administrator_engine())
    forget_tenants()
    empty_queues()
    empty_bucket(made.bucket)
    return made
