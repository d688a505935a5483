"""A server that may be tortured, plain clients of it, and two tenants that may be anybody's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pymysql
import pytest
from pymysql.connections import Connection
from sqlalchemy import make_url

from tests.support.application.cleared_caches import forget_caches
from tests.support.application.driver import World, empty_queues
from tests.support.database.counted_database import until
from tests.support.database.empty_tables import empty_tables, restart_ids
from tests.torture.access.attacks import NEW_IDS
from tests.torture.access.table_rows import claim_ids
from tests.torture.access.two_tenants import Matrix
from tests.torture.stack.database_clients import Connect
from tests.torture.stack.database_server import TorturedDatabase


@pytest.fixture(scope="package")
def tortured_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TorturedDatabase]:
    with TorturedDatabase(tmp_path_factory.mktemp("tortured")) as made:
        made.query("CREATE TABLE toys (id INT PRIMARY KEY, note TEXT)")
        yield made


@pytest.fixture
def tortured(tortured_server: TorturedDatabase) -> Iterator[TorturedDatabase]:
    tortured_server.query("DELETE FROM toys")
    tortured_server.query("INSERT INTO toys VALUES (1, ''), (2, '')")
    tortured_server.proxy.injected.clear()
    # The server takes its time to notice that the connections of the test before were closed.
    until(lambda: not tortured_server.connections())
    yield tortured_server
    tortured_server.proxy.decide = None


@pytest.fixture
def connect(tortured: TorturedDatabase) -> Iterator[Connect]:
    """Makes connections of the application's user."""
    made: list[Connection[Any]] = []

    def connect() -> Connection[Any]:
        url = make_url(tortured.url)
        made.append(
            pymysql.connect(
                host=url.host, port=url.port or 0, user=url.username, database=url.database, ssl_disabled=True
            )
        )
        return made[-1]

    yield connect
    for connection in made:
        with suppress(pymysql.Error):
            connection.close()


@pytest.fixture
def error_packets(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The packets of the errors that clients got."""
    packets: list[bytes] = []
    raising = pymysql.err.raise_mysql_exception

    def keep(data: bytes) -> None:
        packets.append(bytes(data))
        raising(data)

    monkeypatch.setattr(pymysql.err, "raise_mysql_exception", keep)
    return packets


@pytest.fixture(scope="session")
def two_tenants(migrated: dict[str, str]) -> Matrix:
    """Two tenants with one of everything, in a bucket of their own: to make them takes seconds."""
    world, names = World.create()
    with _in_place(names):
        empty_tables(world.engine)
        made = Matrix.create(world)
        world.engine.dispose()
    return made


@pytest.fixture(scope="module")
def matrix(two_tenants: Matrix) -> Iterator[Matrix]:
    """These two tenants, put back for the tests of a module; what is made later has ids of a third."""
    world = two_tenants.world
    with _in_place(world.environment):
        empty_queues()
        empty_tables(world.engine)
        two_tenants.kept.put_back(world.engine)
        claim_ids(world, NEW_IDS)
        yield two_tenants
        empty_tables(world.engine)
        world.engine.dispose()
    restart_ids(world.engine)
    empty_queues()
    world.engine.dispose()


@contextmanager
def _in_place(names: Mapping[str, str]) -> Iterator[None]:
    """The application has that bucket, these queues and that topic for the block."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in names.items():
            patch.setenv(name, value)
        forget_caches()
        yield
    forget_caches()
