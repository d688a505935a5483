"""A TCP proxy before a database server that can lose a COMMIT, or its answer. Plain protocol only, no TLS."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum

import pytest
from sqlalchemy import URL, text

from shell.settings import settings
from shell.utils import db_session
from shell.utils.db_session import session
from tests.support.tcp_proxy import TcpProxy

COMMIT = b"\x03COMMIT"
HEADER = 4
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
        self.lost = 0
        super().__init__(host, port)

    def lose_next(self, loss: Loss) -> None:
        """What shall become of the next COMMIT."""
        self._loss = loss

    def serve(self, client: socket.socket, server: socket.socket) -> None:
        """Requests here, answers in a thread of their own."""
        muted = threading.Event()
        answers = threading.Thread(target=_answers, args=(server, client, muted), daemon=True)
        answers.start()
        with suppress(OSError):
            self._requests(client, server, muted)
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)
        # The server ends its side when it has executed what it got.
        answers.join()

    def _requests(self, client: socket.socket, server: socket.socket, muted: threading.Event) -> None:
        for packet in _packets(client):
            loss = self._loss if packet[HEADER:] == COMMIT else Loss.NONE
            if loss is not Loss.NONE:
                self._loss, self.lost = Loss.NONE, self.lost + 1
                muted.set()
            if loss is Loss.STEP:
                client.sendall(OUT_OF_STEP)
            if loss is Loss.SIGHT:
                client.shutdown(socket.SHUT_RDWR)
            if loss is not Loss.REQUEST:
                server.sendall(packet)
            if loss is not Loss.NONE:
                return


def _answers(server: socket.socket, client: socket.socket, muted: threading.Event) -> None:
    """Until the server ends; dropped once `muted` is set."""
    with suppress(OSError):
        while data := server.recv(65536):
            if not muted.is_set():
                client.sendall(data)
    with suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)


def _packets(source: socket.socket) -> Iterator[bytes]:
    """Whole packets of MySQL's protocol: three bytes of length, one of sequence, and the rest."""
    data = b""
    with suppress(OSError):
        while received := source.recv(65536):
            data += received
            while len(data) >= HEADER and len(data) >= (end := HEADER + struct.unpack("<I", data[:3] + b"\0")[0]):
                yield data[:end]
                data = data[end:]


@contextmanager
def between_application_and_database(url: URL) -> Iterator[CommitProxy]:
    """For the block the application reaches its database through a proxy; whoever looks past it uses other engines."""
    with commit_proxy(url) as (made, through), pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", through.render_as_string(hide_password=False))
        settings.cache_clear()
        db_session.engine.cache_clear()
        # Opening a connection commits too, and that is not the COMMIT which is to be lost.
        with session() as opening:
            opening.execute(text("SELECT 1"))
        yield made
        db_session.engine().dispose()
    settings.cache_clear()
    db_session.engine.cache_clear()


@contextmanager
def commit_proxy(url: URL) -> Iterator[tuple[CommitProxy, URL]]:
    """A proxy, and the address of the database through it."""
    proxy = CommitProxy(url.host or "127.0.0.1", url.port or 3306)
    through = url.set(host="127.0.0.1", port=proxy.port).update_query_dict({"ssl_disabled": "true"})
    try:
        yield proxy, through
    finally:
        proxy.close()
