"""A private MariaDB or MySQL server with its own data directory, on a socket in a private folder.

Guarantees that no other server is touched: a process is this server only if its id is in the pid file *and* its command
line names the data directory; a connection is accepted only if the server reports the same data directory. The data is
kept until the directory is deleted. Its owner has a password: see `local.services.mysql_login`. With `tcp` it listens
on a free port of 127.0.0.1 as well, which every user of the machine can connect to.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pymysql

from local.errors import DatabaseServerError
from local.private_files import make_private_folder
from local.services.mysql_binaries import Binaries, find_or_install
from local.services.mysql_connection import parse_url
from local.services.mysql_data import AbandonableCommand, create_data_directory
from local.services.mysql_login import DatabaseAccess
from local.services.processes import Processes, start_detached, tail

# The same values as the cluster parameters of the template; a test compares them.
SETTINGS = {
    "transaction-isolation": "READ-COMMITTED",
    "sql-mode": "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
    "character-set-server": "utf8mb4",
    "innodb-lock-wait-timeout": "10",
    "max-connections": "150",
    "auto-increment-increment": "1000",
    "max-allowed-packet": "64M",
}

_START_SECONDS = 60.0
_STOP_SECONDS = 60.0
_PAUSE = 0.02
_SOCKET_PATH_LIMIT = 100
_ATTEMPTS = 3


class PrivateServer:
    """The server of one directory. With `outlive` it keeps running when this process ends, otherwise it ends too."""

    def __init__(
        self,
        directory: Path,
        *,
        outlive: bool = False,
        binaries: Binaries | None = None,
        options: Mapping[str, str] | None = None,
        tcp: bool = False,
    ) -> None:
        self._tcp = tcp
        self._given_options = options or {}
        self._directory = directory.resolve()
        self._data = self._directory / "data"
        self._state = self._directory / "server.json"
        self._log = self._directory / "error.log"
        self.access = DatabaseAccess(self._directory)
        self._outlive = outlive
        self._binaries = binaries
        self._processes: Processes | None = None
        self._creation = AbandonableCommand()
        self._launched: psutil.Process | None = None

    @property
    def was_started_here(self) -> bool:
        """Whether this object started the server, rather than finding it running."""
        return self._processes is not None

    def start(self) -> str:
        """Start the server unless it is running, and return its URL without a schema.

        Raises DatabaseServerError where no server is installed, or with the end of the log where it does not start.
        """
        running = self._find_process()
        if running and (not self.access.password or (self._tcp and not self._port())):
            # An earlier version started it, without a password, or another command without a port.
            self.stop()
        elif running and self._await_ready(running):
            return self.url()
        binaries = self._binaries or find_or_install()
        self.initialize(binaries)
        try:
            for _ in range(_ATTEMPTS):
                if self._await_ready(self._launch(binaries)):
                    return self.url()
            raise DatabaseServerError(f"the database server did not start; {self._log} ends with:\n{tail(self._log)}")
        except BaseException:
            self._abort_start()
            raise

    def abandon(self) -> None:
        """Have a `start` that has not ended, in another thread, raise DatabaseServerError instead of waiting."""
        self._creation.abandon()

    def url(self, schema: str = "") -> str:
        """Return the SQLAlchemy URL of the running server."""
        password, port = self.access.password, self._port()
        user = f"root:{password}" if password else "root"
        if port:
            return f"mysql+pymysql://{user}@127.0.0.1:{port}/{schema}?charset=utf8mb4"
        socket_path = quote(self._read_state()["socket"], safe="")
        return f"mysql+pymysql://{user}@localhost/{schema}?unix_socket={socket_path}&charset=utf8mb4"

    def is_running(self) -> bool:
        """Return whether the server is running, even if another process started it."""
        return self._find_process() is not None

    def check_running(self) -> None:
        """Raise DatabaseServerError, with what to do, if the server has ended."""
        if not self.is_running():
            raise DatabaseServerError(
                f"the private database server has ended. Its log is in {self._directory}. What was not finished goes on"
                " with the next command"
            )

    def stop(self) -> bool:
        """Stop the server, even if another process started it; return False where it was not running."""
        process = self._find_process()
        if process:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.terminate()
            if not _has_ended(process, _STOP_SECONDS):
                process.kill()
                _has_ended(process, _STOP_SECONDS)
        self._clean_up()
        return process is not None

    def _abort_start(self) -> None:
        """Kill a server that was launched and did not become ready."""
        with contextlib.suppress(psutil.NoSuchProcess):
            if self._launched:
                self._launched.kill()
        self._clean_up()

    def initialize(self, binaries: Binaries | None = None) -> Path:
        """Create the data directory unless it exists; return it, to be copied while no server uses it."""
        if not self._data.exists():
            programs = binaries or self._binaries or find_or_install()
            create_data_directory(programs, self._data, self._temporary_folder(), self._log, self._creation)
        return self._data

    def _temporary_folder(self) -> Path:
        """Return a private folder: a starting server deletes the temporary tables in its folder."""
        folder = self._directory / "tmp"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _launch(self, binaries: Binaries) -> psutil.Process:
        make_private_folder(self._directory)
        port, place = _free_port() if self._tcp else 0, str(self._socket_path())
        state = {"port": port, "socket": place}
        self._state.write_text(json.dumps(state), encoding="utf-8")
        command = [*binaries.command, *self._options(state)]
        command += self.access.prepare(is_mysql=binaries.is_mysql, port=port, socket=place)
        command += ["--mysqlx=OFF", "--disable-log-bin"] if binaries.is_mysql else []
        if self._outlive:
            pid = start_detached(command, binaries.environment(), self._log)
        else:
            self._processes = self._processes or Processes()
            child = self._processes.start(
                command, environment=binaries.environment(), log=self._log, death_signal=signal.SIGTERM
            )
            pid = child.pid
        self._launched = psutil.Process(pid)
        return self._launched

    def _options(self, state: dict[str, Any]) -> list[str]:
        options = {
            "datadir": str(self._data),
            "tmpdir": str(self._temporary_folder()),
            "pid-file": str(self._directory / "server.pid"),
            "socket": state["socket"],
            **({"port": state["port"], "bind-address": "127.0.0.1"} if state["port"] else {"skip-networking": "1"}),
            "local-infile": "0",
            "log-error": str(self._log),
            "innodb-buffer-pool-size": "256M",
            "innodb-use-native-aio": "0",
        }
        return [f"--{name}={value}" for name, value in (options | SETTINGS | dict(self._given_options)).items()] + [
            "--skip-name-resolve"
        ]

    def _socket_path(self) -> Path:
        path = self._directory / "server.sock"
        if len(os.fsencode(path)) <= _SOCKET_PATH_LIMIT:
            return path
        return Path(tempfile.mkdtemp(prefix="db-", dir="/tmp")) / "server.sock"

    def _await_ready(self, process: psutil.Process) -> bool:
        """Wait until the server answers; return False when the process ends instead.

        Raises DatabaseServerError with the end of its log after 60 seconds.
        """
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._is_ready():
                return True
            if self._creation.is_abandoned:
                raise DatabaseServerError("the start of the database server was abandoned")
            if _has_ended(process, _PAUSE):
                return False
        message = f"the database server did not answer within {_START_SECONDS:.0f} s"
        raise DatabaseServerError(f"{message}; {self._log} ends with:\n{tail(self._log)}")

    def _is_ready(self) -> bool:
        if not self._port() and not _accepts(self._read_state()["socket"]):
            return False
        try:
            connection = pymysql.connect(**{**parse_url(self.url("mysql")), "database": None})
        except pymysql.Error:
            return False
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT @@datadir")
            row = cursor.fetchone()
        return row is not None and Path(row[0]).resolve() == self._data

    def _find_process(self) -> psutil.Process | None:
        """Return the server's process, even if another process started it; None where it is not running."""
        with contextlib.suppress(OSError, ValueError, psutil.Error):
            process = psutil.Process(int((self._directory / "server.pid").read_text()))
            if f"--datadir={self._data}" in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                return process
        return None

    def _port(self) -> int:
        """Return the port that the server listens on, 0 for the socket alone."""
        return int(self._read_state()["port"])

    def _read_state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self._state.read_text(encoding="utf-8"))
        return state

    def _clean_up(self) -> None:
        """End what is left of the processes, and remove files that are valid only while the server runs."""
        if self._processes:
            self._processes.stop()
            self._processes = None
        with contextlib.suppress(OSError, ValueError):
            directory = Path(self._read_state()["socket"]).parent
            if directory != self._directory:
                shutil.rmtree(directory, ignore_errors=True)
        self._state.unlink(missing_ok=True)


def _has_ended(process: psutil.Process, seconds: float) -> bool:
    """Wait for a process to end, a child or not; return whether it has ended."""
    try:
        process.wait(timeout=seconds)
    except psutil.TimeoutExpired:
        return False
    return True


def _accepts(path: str) -> bool:
    """Return whether a server listens on a socket; PyMySQL does not close its own if none does."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def temporary_server(options: Mapping[str, str] | None = None, initialized: Path | None = None) -> Iterator[str]:
    """Start a private server with a port for the block and yield its URL, without a schema; its data is then deleted.

    Begins with a copy of the data directory `initialized`, which no running server uses, instead of a new one.
    """
    directory = Path(tempfile.mkdtemp(prefix="exhibit-ingest-"))
    server = PrivateServer(directory, options=options, tcp=True)
    try:
        if initialized:
            shutil.copytree(initialized, directory / "data")
        yield server.start()
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)
