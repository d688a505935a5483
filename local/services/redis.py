"""A private Redis on a free port of 127.0.0.1 that keeps nothing and never evicts.

Guarantees that no other server is ever touched: the server that answers must be the process that was started. It ends
with the process that started it, however that happens. Without a redis-server on the PATH a substitute in Python plays
it, which is slow and good enough to try things: run as a module, this file is that substitute. `stop` and `start` again
gives an empty server on the same port if it is still free.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from local.errors import ProcessFailedError
from local.processes import Processes, inherited_environment, tail

_START_SECONDS = 30.0
_PAUSE = 0.02
_ATTEMPTS = 3
# Where the substitute says what redis-server says in INFO.
_PROCESS_ID = "local:process_id"


class PrivateRedis:
    """The server of one directory, where its log is."""

    def __init__(self, directory: Path, *, program: str | None = None) -> None:
        self._directory = directory.resolve()
        self._program = program or shutil.which("redis-server")
        self._log = self._directory / "redis.log"
        self._processes: Processes | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """The URL of the running server."""
        return f"redis://127.0.0.1:{self._port}/0"

    @property
    def pid(self) -> int:
        """The process of the running server; raises ProcessFailedError where there is none."""
        if self._child is None:
            raise ProcessFailedError("Redis was not started")
        return self._child.pid

    def start(self) -> str:
        """Start the server and wait until it answers; gives its URL. Raises ProcessFailedError."""
        self._directory.mkdir(parents=True, exist_ok=True)
        for attempt in range(_ATTEMPTS):
            # The port was free a moment ago, or at the last start: somebody else may have taken it.
            self._port = (self._port if attempt == 0 else 0) or _free_port()
            if self._await_ready(self._launch()):
                return self.url
            self.stop()
        raise ProcessFailedError(f"Redis did not start; {self._log} ends with:\n{tail(self._log)}")

    def stop(self) -> None:
        """Kill the server, which has nothing to save."""
        if self._processes:
            self._processes.stop()
        self._processes = self._child = None

    def _launch(self) -> subprocess.Popen[bytes]:
        self._processes = self._processes or Processes()
        environment = inherited_environment() | {"PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
        self._child = self._processes.start(
            self._command(), environment=environment, log=self._log, directory=self._directory
        )
        return self._child

    def _command(self) -> list[str]:
        if self._program is None:
            return [sys.executable, "-m", "local.redis_server", str(self._port)]
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
        """Wait until the child answers; False when it ends instead, or is too slow."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and child.poll() is None:
            if self._answers(child):
                return True
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_PAUSE)
        return False

    def _answers(self, child: subprocess.Popen[bytes]) -> bool:
        """Whether it is the child that answers, and not another server that happens to be there."""
        with Redis.from_url(self.url, socket_timeout=1, protocol=2, driver_info=None) as client:
            try:
                told: Any = client.info("server")["process_id"] if self._program else client.get(_PROCESS_ID)
            except (RedisError, KeyError):
                return False
        return told is not None and int(told) == child.pid


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _play(port: int) -> None:
    """Serve until killed."""
    from fakeredis import FakeStrictRedis, TcpFakeServer

    server = TcpFakeServer(("127.0.0.1", port))
    server.daemon_threads = True
    FakeStrictRedis(server=server.fake_server).set(_PROCESS_ID, os.getpid())
    server.serve_forever()


if __name__ == "__main__":
    _play(int(sys.argv[1]))
