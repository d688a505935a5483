"""What a database server sends to a client of a proxy: passed on, dropped, or kept if the proxy sent the statement."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress

from tests.support.faults.tcp_proxy import HEADER

SWALLOW_S = 60.0


class Answers:
    """What the server says to one client: passed on, or dropped for good, or one packet of it swallowed."""

    def __init__(self, server: socket.socket, client: socket.socket) -> None:
        self._server, self._client = server, client
        self._muted = threading.Event()
        self._swallowing = threading.Event()
        self._swallowed = threading.Event()
        self.vendor = "MySQL"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def mute(self) -> None:
        """Drop everything from now on."""
        self._muted.set()

    def of_our_own(self, statement: bytes) -> None:
        """Send a statement that is answered by one packet, and keep the answer; raises OSError without an answer.

        The client asks when it has all answers, so that nothing is under way.
        """
        self._swallowed.clear()
        self._swallowing.set()
        self._server.sendall(statement)
        if not self._swallowed.wait(SWALLOW_S) or self._swallowing.is_set():
            raise OSError("the server ended the connection")

    def join(self) -> None:
        """Return when the server has ended its side."""
        self._thread.join()

    def _run(self) -> None:
        with suppress(OSError):
            self._greet()
            while data := self._server.recv(65536):
                if self._swallowing.is_set():
                    self._swallow(data)
                elif not self._muted.is_set():
                    self._client.sendall(data)
        self._swallowed.set()
        with suppress(OSError):
            self._client.shutdown(socket.SHUT_RDWR)

    def _greet(self) -> None:
        """The first packet says whose server it is."""
        greeting = self._server.recv(65536)
        self.vendor = "MariaDB" if b"MariaDB" in greeting else "MySQL"
        self._client.sendall(greeting)

    def _swallow(self, data: bytes) -> None:
        while len(data) < HEADER + struct.unpack("<I", data[:3] + b"\0")[0]:
            received = self._server.recv(65536)
            if not received:
                return
            data += received
        self._swallowing.clear()
        self._swallowed.set()
