"""A private Redis on a free port of 127.0.0.1, without persistence and without eviction.

Guarantees that no other server is used: the server that answers must be the process that was started. It ends with the
process that started it, even if that is killed. Without a redis-server on the PATH, fakeredis is used instead: slow,
but sufficient for local use. Run as a module, this file is that substitute. `stop` and then `start` gives an empty
server, on the same port if that is still free.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from local.errors import ProcessFailedError
from local.services.processes import Processes, build_child_environment, tail

_START_SECONDS = 30.0
_PAUSE = 0.02
_ATTEMPTS = 3
# The key in which the substitute stores its process id; redis-server reports it in INFO.
_PROCESS_ID = "local:process_id"


class PrivateRedis:
    """A Redis server with its working directory, which holds its log."""

    def __init__(self, directory: Path, *, program: str | None = None) -> None:
        self._directory = directory.resolve()
        self._program = program or shutil.which("redis-server")
        self._log = self._directory / "redis.log"
        self._processes: Processes | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """Return the URL of the running server."""
        return f"redis://127.0.0.1:{self._port}/0"

    @property
    def pid(self) -> int:
        """Return the process id of the running server; raises ProcessFailedError where it is not running."""
        if self._child is None:
            raise ProcessFailedError("the private Redis is not running")
        return self._child.pid

    def start(self) -> str:
        """Start the server, wait until it answers and return its URL.

        Raises ProcessFailedError with the end of its log after three failed attempts.
        """
        self._directory.mkdir(parents=True, exist_ok=True)
        for attempt in range(_ATTEMPTS):
            # Another process can take the port between the check and the start.
            self._port = (self._port if attempt == 0 else 0) or _free_port()
            if self._await_ready(self._launch()):
                return self.url
            self.stop()
        raise ProcessFailedError(f"the private Redis did not start; {self._log} ends with:\n{tail(self._log)}")

    def stop(self) -> None:
        """Kill the server; it has no data to save."""
        if self._processes:
            self._processes.stop()
        self._processes = self._child = None

    def _launch(self) -> subprocess.Popen[bytes]:
        self._processes = self._processes or Processes()
        environment = build_child_environment() | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        self._child = self._processes.start(
            self._command(), environment=environment, log=self._log, directory=self._directory
        )
        return self._child

    def _command(self) -> list[str]:
        if self._program is None:
            return [sys.executable, "-m", "local.services.redis", str(self._port)]
        options = {
            "port": str(self._port),
            "bind": "127.0.0.1",
            "dir": str(self._directory),
            "save": "",
            "appendonly": "no",
            "maxmemory-policy": "noeviction",
        }
        return [self._program, *(word for name, value in options.items() for word in (f"--{name}", value))]

    def _await_ready(self, child: subprocess.Popen[bytes]) -> bool:
        """Wait until the child answers; return False when it ends or does not answer in time."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and child.poll() is None:
            if self._is_ready(child):
                return True
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_PAUSE)
        return False

    def _is_ready(self, child: subprocess.Popen[bytes]) -> bool:
        """Return whether the server that answers is the child, not another server on the same port."""
        # Imported here: it takes half a second, which a command without Redis must not pay.
        from redis import Redis
        from redis.exceptions import RedisError

        with Redis.from_url(self.url, socket_timeout=1, protocol=2, driver_info=None) as client:
            try:
                process_id: Any = client.info("server")["process_id"] if self._program else client.get(_PROCESS_ID)
            except (RedisError, KeyError):
                return False
        return process_id is not None and int(process_id) == child.pid


@contextlib.contextmanager
def run_redis(directory: Path) -> Iterator[str]:
    """Run a server for the block and yield its URL; raises ProcessFailedError."""
    redis = PrivateRedis(directory)
    try:
        yield redis.start()
    finally:
        redis.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _run_substitute(port: int) -> None:
    """Run fakeredis until the process is killed."""
    from fakeredis import FakeStrictRedis, TcpFakeServer

    server = TcpFakeServer(("127.0.0.1", port))
    server.daemon_threads = True
    FakeStrictRedis(server=server.fake_server).set(_PROCESS_ID, os.getpid())
    server.serve_forever()


if __name__ == "__main__":
    _run_substitute(int(sys.argv[1]))
