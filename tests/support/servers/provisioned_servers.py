"""The servers of a test run: a private database server and a moto server for each worker.

`start_database` leaves the address of the worker's database server in the variable SERVER. The run's own name is in
RUN, because two runs on one given server must not meet.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pymysql
from moto.server import ThreadedMotoServer
from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

from local.errors import DatabaseServerError
from local.services.moto_patches import store_objects
from local.services.moto_shortcuts import shorten_moto
from local.services.mysql import PrivateServer, temporary_server
from local.storage.storage import Storage
from tests.support.aws.moto_in_process import direct_requests

SERVER = "TEST_DATABASE_SERVER"
RUN = "TEST_RUN_ID"
# The folder of the objects of this process's S3.
OBJECTS = "TEST_OBJECTS"
INITIALIZED = "TEST_INITIALIZED_DATABASE"

# Nothing here has to outlive a crash of the machine; tests of durability start servers of their own.
OPTIONS = {
    "innodb-buffer-pool-size": "64M",
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-doublewrite": "0",
}


def prepare_database(stack: ExitStack) -> None:
    """Check the server of DATABASE_URL, or initialize the data directory that the workers' servers begin with.

    Raises DatabaseServerError that says what to do.
    """
    given = os.environ.get("DATABASE_URL")
    if given:
        check_server(given)
    else:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exhibit-ingest-")))
        os.environ[INITIALIZED] = str(PrivateServer(folder).initialize())


def check_server(server_url: str) -> None:
    """Raise DatabaseServerError if no connection to the server is possible."""
    try:
        is_mysql(server_url)
    except (OperationalError, pymysql.Error) as error:
        address = make_url(server_url).render_as_string(hide_password=True)
        advice = "start that server, or unset DATABASE_URL to test on a private one"
        raise DatabaseServerError(f"DATABASE_URL={address} does not answer; {advice}.") from error


def start_database(stack: ExitStack, worker: str) -> None:
    """Put a server of this worker's own into SERVER: a private one, or the given one under a user of its own."""
    given = os.environ.get("DATABASE_URL")
    if not given:
        os.environ[SERVER] = stack.enter_context(private_server())
    elif is_mysql(given):
        ours = stack.enter_context(user_of_our_own(given, f"exhibits_{os.environ[RUN]}_{worker}"))
        os.environ[SERVER] = ours.render_as_string(hide_password=False)
    else:
        os.environ[SERVER] = given


@contextmanager
def private_server() -> Iterator[str]:
    """A server for the block, quick and without durability."""
    initialized = os.environ.get(INITIALIZED)
    with temporary_server(OPTIONS, Path(initialized) if initialized else None) as url:
        yield url


def counts_for_us_alone() -> bool:
    """Whether the deadlocks that the server of SERVER counts are this worker's: MariaDB counts those of all users."""
    return INITIALIZED in os.environ or is_mysql(os.environ[SERVER])


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


@contextmanager
def schema_beside(schema_url: URL, name: str) -> Iterator[URL]:
    """For the block, an empty schema on the same server, named after that schema and the name given."""
    url = fresh_schema(schema_url.render_as_string(hide_password=False), f"{schema_url.database}_{name}")
    yield url
    drop_schema(url)


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
        connection.execute(text(f"GRANT ALL ON *.* TO {name} WITH GRANT OPTION"))
    try:
        yield make_url(server_url).set(username=name, password="")
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP USER {name}"))
        engine.dispose()


@contextmanager
def aws() -> Iterator[str]:
    """The address of a moto server, which keeps its objects on disk and looks at the signatures of presigned requests.

    Requests of this process to it are calls of its application.
    """
    folder = tempfile.TemporaryDirectory(prefix="exhibit-ingest-objects-", ignore_cleanup_errors=True)
    os.environ[OBJECTS] = folder.name
    storage = Storage(Path(folder.name))
    store_objects(storage)
    shorten_moto()
    # A line for each request, which pytest would format and keep for nothing.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        application: Any = server._server
        with direct_requests(application.app, address):
            yield address
    finally:
        server.stop()
        storage.close()
        folder.cleanup()
