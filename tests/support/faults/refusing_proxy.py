"""A TCP proxy before a database server that answers a statement as a server would that has just turned read-only."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress

from tests.support.faults.tcp_proxy import HEADER, TcpProxy, packets, pass_on

QUERY = 3
REFUSED = b"The MySQL server is running with the --read-only option so it cannot execute this statement"
ANSWER = b"\xff" + struct.pack("<H", 1290) + b"#HY000" + REFUSED


class RefusingProxy(TcpProxy):
    """Forwards everything but the statement that is set: that gets error 1290, and its connection lives on."""

    def __init__(self, host: str, port: int) -> None:
        self._left = 0
        self._logins_after = 0
        self.statements = 0
        self.refused: list[bytes] = []
        super().__init__(host, port)

    def refuse(self, statement: int, break_logins: int = 0) -> None:
        """Refuse the statement of that number, counted from 1 from now on; and then break off so many logins."""
        self._left, self._logins_after = statement, break_logins

    def serve(self, client: socket.socket, server: socket.socket) -> None:
        """Requests here, answers in a thread of their own."""
        answers = threading.Thread(target=pass_on, args=(server, client, threading.Event()), daemon=True)
        answers.start()
        with suppress(OSError):
            for packet in packets(client):
                if self._is_refused(packet):
                    client.sendall(struct.pack("<I", len(ANSWER))[:3] + b"\x01" + ANSWER)
                else:
                    server.sendall(packet)
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)
        answers.join()

    def _is_refused(self, packet: bytes) -> bool:
        # A statement is the first packet of its exchange; those of the login have other numbers.
        if packet[3] != 0 or packet[HEADER] != QUERY:
            return False
        self.statements += 1
        self._left -= 1
        if self._left == 0:
            self.refused.append(packet[HEADER + 1 :])
            self.break_logins(self._logins_after)
        return self._left == 0
