"""A private database server behind a faulty proxy, that is killed, restarted, turned read-only and emptied of clients.

Guarantees that `url` stays what it is whatever becomes of the server, and that its user may do everything in the schema
and nothing else: a server that is read-only is so for it. It is MariaDB, unless TORTURE_MYSQLD names MySQL's program.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
from sqlalchemy import URL, Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from local.services.mysql import PrivateServer
from local.services.mysql_binaries import Binaries
from tests.torture.faults.faulty_proxy import FaultyProxy

SCHEMA, USER = "exhibits", "application"
MYSQLD = "TORTURE_MYSQLD"
PATIENCE_S = 60.0
PAUSE_S = 0.02
MARIADB_WAITS = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = "
LOCK_WAITS = {
    False: f"{MARIADB_WAITS}'INNODB_ROW_LOCK_CURRENT_WAITS'",
    True: "SELECT COUNT(*) FROM performance_schema.data_locks WHERE LOCK_STATUS = 'WAITING'",
}
DEADLOCKS = {
    False: f"{MARIADB_WAITS}'INNODB_DEADLOCKS'",
    True: "SELECT COALESCE(SUM(SUM_ERROR_RAISED), 0) FROM performance_schema.events_errors_summary_global_by_error "
    "WHERE ERROR_NUMBER = 1213",
}


class TorturedDatabase:
    """The server of a directory for a `with` block; the schema is there and empty, unless the directory was used."""

    def __init__(self, directory: Path) -> None:
        program = os.environ.get(MYSQLD)
        self._directory = directory.resolve()
        binaries = Binaries(Path(program), None) if program else None
        self._server = PrivateServer(directory, binaries=binaries, tcp=True)
        self._engine: Engine | None = None
        self.is_mysql = program is not None
        self.direct = ""
        self.proxy: FaultyProxy

    def __enter__(self) -> Self:
        self._start_server()
        try:
            self.proxy = FaultyProxy(*self._address())
            self._make_schema()
        except BaseException:
            self._server.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.proxy.close()
        if self._engine:
            self._engine.dispose()
        self._server.stop()

    @property
    def url(self) -> str:
        """The schema through the proxy, as a user without any rights above it."""
        query = {"charset": "utf8mb4", "ssl_disabled": "true"}
        url = URL.create("mysql+pymysql", USER, None, "127.0.0.1", self.proxy.port, SCHEMA, query)
        return url.render_as_string(hide_password=False)

    def query(self, statement: str, **values: Any) -> Sequence[Any]:
        """Rows of a statement past the proxy, as root and in autocommit.

        Waits for a server that is away and sends the statement again, so that a change may happen twice.
        """
        return self._patiently(lambda connection: _rows(connection, statement, values))

    def scalar(self, statement: str, **values: Any) -> Any:
        """The first value of the first row."""
        return self.query(statement, **values)[0][0]

    def restart(self, kill: bool) -> None:
        """End the server, by SIGKILL or in good order, and start it on another port; returns when it takes logins."""
        if kill:
            os.kill(self._pid(), signal.SIGKILL)
            self.proxy.outage(True)
        # In good order it first ends what is under way, and is still spoken to.
        self._server.stop()
        self.proxy.outage(True)
        self._start_server()
        self.proxy.backend = self._address()
        self.proxy.outage(False)

    def read_only(self, on: bool) -> None:
        """Turn the server read-only for all but administrators, or back."""
        self.query(f"SET GLOBAL read_only = {int(on)}")

    def kill_connections(self, share: float, chance: random.Random) -> int:
        """KILL that share of the application's connections, at least one where there is one; gives how many."""
        found = self.connections()
        chosen = chance.sample(found, min(len(found), max(1, round(share * len(found)))))
        return sum(self._kill(each) for each in chosen)

    def connections(self) -> list[int]:
        """The server's numbers of the application's connections, the oldest first."""
        rows = self.query("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = :user ORDER BY ID", user=USER)
        return [int(row[0]) for row in rows]

    @contextmanager
    def locked(self, statement: str, **values: Any) -> Iterator[None]:
        """For the block another transaction holds the locks of that statement."""
        with self._connected().execution_options(isolation_level="READ COMMITTED").begin() as connection:
            connection.execute(text(statement), values)
            yield

    def lock_waits(self) -> int:
        """How many transactions wait for a row lock now."""
        return int(self.scalar(LOCK_WAITS[self.is_mysql]))

    def deadlocks(self) -> int:
        """How many the server itself has broken since it was started; the proxy's are not among them."""
        return int(self.scalar(DEADLOCKS[self.is_mysql]))

    def _start_server(self) -> None:
        url = make_url(self._server.start()).set(database=SCHEMA)
        self.direct = url.render_as_string(hide_password=False)

    def _address(self) -> tuple[str, int]:
        url = make_url(self.direct)
        return url.host or "", url.port or 0

    def _pid(self) -> int:
        process = psutil.Process(int((self._directory / "server.pid").read_text()))
        assert f"--datadir={self._directory / 'data'}" in process.cmdline()
        return process.pid

    def _make_schema(self) -> None:
        made = create_engine(make_url(self.direct).set(database=""), isolation_level="AUTOCOMMIT", poolclass=NullPool)
        with made.connect() as connection:
            for statement in (
                f"CREATE DATABASE IF NOT EXISTS {SCHEMA} CHARACTER SET utf8mb4",
                f"CREATE USER IF NOT EXISTS {USER}@'%' IDENTIFIED BY ''",
                f"GRANT ALL ON {SCHEMA}.* TO {USER}@'%'",
            ):
                connection.execute(text(statement))

    def _connected(self) -> Engine:
        """An engine of the server as it is now."""
        engine, url = self._engine, make_url(self.direct)
        if engine is None or engine.url != url:
            self._engine = engine = create_engine(url, isolation_level="AUTOCOMMIT", pool_pre_ping=True)
        return engine

    def _patiently(self, work: Callable[[Connection], Sequence[Any]]) -> Sequence[Any]:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                with self._connected().connect() as connection:
                    return work(connection)
            except OperationalError as error:
                lost = error.connection_invalidated or error.statement is None
                if not lost or time.monotonic() > deadline:
                    raise
            time.sleep(PAUSE_S)

    def _kill(self, connection: int) -> bool:
        with suppress(OperationalError):
            self.query(f"KILL {connection}")
            return True
        return False


def _rows(connection: Connection, statement: str, values: dict[str, Any]) -> Sequence[Any]:
    result = connection.execute(text(statement), values)
    return result.all() if result.returns_rows else []
