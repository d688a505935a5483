"""A way to a server on which things can get lost; what gets lost is for those who build on it to say."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import pytest
from sqlalchemy import URL, text

from shell.db import session as db_session
from shell.db.session import session
from shell.settings import settings

HEADER = 4


class TcpProxy:
    """Connects every client to a server, and hands both ends to `serve`, in a thread for each connection."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._to_break = 0
        self.logins = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """Where it listens on 127.0.0.1."""
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        """Accept no connection any more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def break_logins(self, count: int) -> None:
        """Accept so many and end each at once, as proxies do that have no server behind them."""
        self._to_break = count

    def serve(self, client: socket.socket, server: socket.socket) -> None:
        """Pass on what the two say; both are closed at the end."""
        raise NotImplementedError

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.logins += 1
                if self._to_break > 0:
                    self._to_break -= 1
                    client.close()
                    continue
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection(self._server) as server:
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.serve(client, server)


T = TypeVar("T", bound=TcpProxy)


@contextmanager
def proxied(kind: Callable[[str, int], T], url: URL) -> Iterator[tuple[T, URL]]:
    """A proxy of that kind, and the address of the database through it."""
    proxy = kind(url.host or "127.0.0.1", url.port or 3306)
    through = url.set(host="127.0.0.1", port=proxy.port).update_query_dict({"ssl_disabled": "true"})
    try:
        yield proxy, through
    finally:
        proxy.close()


@contextmanager
def application_behind(kind: Callable[[str, int], T], url: URL) -> Iterator[T]:
    """For the block the application reaches its database through a proxy, on a connection that is open already."""
    with proxied(kind, url) as (made, through), pytest.MonkeyPatch.context() as patch:
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


def packets(source: socket.socket) -> Iterator[bytes]:
    """Whole packets of MySQL's protocol: three bytes of length, one of sequence, and the rest."""
    data = b""
    with suppress(OSError):
        while received := source.recv(65536):
            data += received
            while len(data) >= HEADER and len(data) >= (end := HEADER + struct.unpack("<I", data[:3] + b"\0")[0]):
                yield data[:end]
                data = data[end:]


def pass_on(source: socket.socket, target: socket.socket, muted: threading.Event) -> None:
    """Until the source ends; what comes is dropped once `muted` is set."""
    with suppress(OSError):
        while data := source.recv(65536):
            if not muted.is_set():
                target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
