"""The servers of a test run: one private database server for all workers, one moto server for each.

The process that starts the workers leaves the database server's address in the variable SERVER, and the run's own
name in RUN: two runs on one server must not meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from moto.server import ThreadedMotoServer
from sqlalchemy import URL, create_engine, make_url, text

SERVER = "TEST_DATABASE_SERVER"
RUN = "TEST_RUN_ID"


def fresh_schema(server_url: str, name: str) -> URL:
    """An empty schema of that name, dropped first if it is there."""
    url = make_url(server_url).set(database="")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))
        connection.execute(text(f"CREATE DATABASE {name} CHARACTER SET utf8mb4"))
    engine.dispose()
    return url.set(database=name).update_query_dict({"charset": "utf8mb4"})


def drop_schema(url: URL) -> None:
    """Remove a schema that `fresh_schema` made."""
    engine = create_engine(url.set(database=""), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {url.database}"))
    engine.dispose()


def is_mysql(server_url: str) -> bool:
    """Whether it is MySQL; MariaDB says so in its version."""
    engine = create_engine(make_url(server_url).set(database=""))
    with engine.connect() as connection:
        version = str(connection.execute(text("SELECT VERSION()")).scalar())
    engine.dispose()
    return "MariaDB" not in version


@contextmanager
def user_of_our_own(server_url: str, name: str) -> Iterator[URL]:
    """Another administrator of the server for the block, whose errors are counted apart."""
    engine = create_engine(make_url(server_url).set(database=""), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"DROP USER IF EXISTS {name}"))
        connection.execute(text(f"CREATE USER {name} IDENTIFIED BY ''"))
        connection.execute(text(f"GRANT ALL ON *.* TO {name}"))
    try:
        yield make_url(server_url).set(username=name, password=None)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP USER {name}"))
        engine.dispose()


@contextmanager
def aws() -> Iterator[str]:
    """The address of a moto server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()
