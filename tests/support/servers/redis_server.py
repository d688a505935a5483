"""A private Redis that tests may kill, restart and stop in its tracks, and a way to it that loses answers."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from redis import Redis

from local.services.redis import PrivateRedis
from tests.support.faults.tcp_proxy import TcpProxy


class RedisServer:
    """The server, and `client`, a connection that is not the application's."""

    def __init__(self, server: PrivateRedis) -> None:
        self._server = server
        self.url = server.start()
        self.client = Redis.from_url(self.url, protocol=2, driver_info=None)

    def kill(self) -> None:
        """End it without notice; it forgets everything."""
        self._server.stop()

    def restart(self) -> None:
        """Start it again, empty, at the same address."""
        assert self._server.start() == self.url, "another process took the port"

    @contextmanager
    def paused(self) -> Iterator[None]:
        """For the block it takes connections and commands, and answers nothing."""
        os.kill(self._server.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._server.pid, signal.SIGCONT)


@contextmanager
def private_redis() -> Iterator[RedisServer]:
    """A server that lives as long as the block."""
    directory = Path(tempfile.mkdtemp(prefix="exhibit-ingest-redis-"))
    server = PrivateRedis(directory)
    try:
        made = RedisServer(server)
        yield made
        made.client.close()
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


class AnswerLosingProxy(TcpProxy):
    """A way to a Redis on which one answer can get lost, and its connection with it."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._lose_next = False
        self.lost = 0
        super().__init__(address.hostname or "", address.port or 0)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"redis://127.0.0.1:{self.port}/0"

    def lose_next(self) -> None:
        """The next command is executed, and its connection is closed instead of an answer."""
        self._lose_next = True

    def serve(self, client: socket.socket, server: socket.socket) -> None:
        """Question and answer in turn, each in one piece: that is how our scripts are called."""
        while question := client.recv(65536):
            server.sendall(question)
            answer = server.recv(65536)
            if self._lose_next:
                self._lose_next, self.lost = False, self.lost + 1
                return
            client.sendall(answer)
