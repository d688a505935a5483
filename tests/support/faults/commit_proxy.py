"""A TCP proxy before a database server that can lose a COMMIT, or its answer. Plain protocol only, no TLS."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum

from sqlalchemy import URL

from tests.support.faults.tcp_proxy import HEADER, TcpProxy, application_behind, packets, pass_on

COMMIT = b"\x03COMMIT"
OUT_OF_STEP = b"\x01\0\0\x09\0"


class Loss(Enum):
    """What becomes of the next COMMIT."""

    NONE = "none"
    REQUEST = "it never reaches the server"
    ANSWER = "it is executed, and its answer is lost"
    STEP = "it is executed, and its answer is out of step"
    SIGHT = "the client sees the connection end before the server executes it"


class CommitProxy(TcpProxy):
    """Forwards everything; the loss that is set happens to one COMMIT, and both connections are closed."""

    def __init__(self, host: str, port: int) -> None:
        self._loss = Loss.NONE
        self._before = 0
        self._hold: Callable[[], object] = lambda: None
        self.lost = 0
        super().__init__(host, port)

    def lose_next(self, loss: Loss, after: int = 0, hold: Callable[[], object] = lambda: None) -> None:
        """What shall become of the next COMMIT, or of the one after so many others.

        With `Loss.SIGHT` the server gets it when `hold` returns.
        """
        self._loss, self._before, self._hold = loss, after, hold

    def serve(self, client: socket.socket, server: socket.socket) -> None:
        """Requests here, answers in a thread of their own."""
        muted = threading.Event()
        answers = threading.Thread(target=pass_on, args=(server, client, muted), daemon=True)
        answers.start()
        with suppress(OSError):
            self._requests(client, server, muted)
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)
        # The server ends its side when it has executed what it got.
        answers.join()

    def _loss_of(self, packet: bytes) -> Loss:
        if packet[HEADER:] != COMMIT or self._loss is Loss.NONE:
            return Loss.NONE
        self._before -= 1
        return self._loss if self._before < 0 else Loss.NONE

    def _requests(self, client: socket.socket, server: socket.socket, muted: threading.Event) -> None:
        for packet in packets(client):
            loss = self._loss_of(packet)
            if loss is not Loss.NONE:
                self._loss, self.lost = Loss.NONE, self.lost + 1
                muted.set()
            if loss is Loss.STEP:
                client.sendall(OUT_OF_STEP)
            if loss is Loss.SIGHT:
                client.shutdown(socket.SHUT_RDWR)
                self._hold()
            if loss is not Loss.REQUEST:
                server.sendall(packet)
            if loss is not Loss.NONE:
                return


@contextmanager
def between_application_and_database(url: URL) -> Iterator[CommitProxy]:
    """For the block the application reaches its database through a proxy; checks past it use other engines."""
    with application_behind(CommitProxy, url) as made:
        yield made
