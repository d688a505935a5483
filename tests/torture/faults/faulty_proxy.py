"""A TCP proxy before a database server that does to chosen statements what real servers do on bad days.

Guarantees that a statement which is not chosen arrives and is answered as without it; that the server is left in the
state which it would have after the real error, before the client hears of it; and that only what really happened is
counted. Plain protocol only, no TLS.
"""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import Enum

from tests.support.faults.commit_proxy import COMMIT
from tests.support.faults.refusing_proxy import QUERY
from tests.support.faults.tcp_proxy import HEADER, TcpProxy, packets
from tests.torture.faults.server_packets import Answers

Decide = Callable[[bytes], "Injection | None"]
ROLLBACK = b"\x09\0\0\0\x03ROLLBACK"
READ_ONLY = "The {vendor} server is running with the --read-only option so it cannot execute this statement"
DISK_FULL = 'Disk full (/tmp/#sql-1); waiting for someone to free some space... (errno: 28 "No space left on device")'


class Injection(Enum):
    """What becomes of a statement; the two that lose a COMMIT do nothing to any other statement."""

    DEADLOCK = "1213, and the whole transaction is rolled back, also where it stood in a SAVEPOINT"
    LOCK_WAIT = "1205, and only the statement is undone"
    READ_ONLY = "1290, and the connection lives on"
    DISK_FULL = "1021"
    TABLE_FULL = "1114"
    PACKET_TOO_LARGE = "1153, and the connection is closed"
    CUT = "the connection ends before the statement reaches the server"
    CUT_AFTER = "the statement is executed, its answer is lost, and the connection ends"
    LOSE_COMMIT_REQUEST = "the COMMIT never reaches the server, and the connection ends"
    LOSE_COMMIT_ANSWER = "the COMMIT is executed, its answer is lost, and the connection ends"


ERRORS = {
    Injection.DEADLOCK: (1213, "40001", "Deadlock found when trying to get lock; try restarting transaction"),
    Injection.LOCK_WAIT: (1205, "HY000", "Lock wait timeout exceeded; try restarting transaction"),
    Injection.READ_ONLY: (1290, "HY000", READ_ONLY),
    Injection.DISK_FULL: (1021, "HY000", DISK_FULL),
    Injection.TABLE_FULL: (1114, "HY000", "The table 'exhibits' is full"),
    Injection.PACKET_TOO_LARGE: (1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes"),
}
_CHANGES = re.compile(rb"\s*(?:INSERT|UPDATE|DELETE)\b", re.IGNORECASE)
TOO_MANY = (1040, "08004", "Too many connections")
OF_COMMITS = {Injection.LOSE_COMMIT_REQUEST, Injection.LOSE_COMMIT_ANSWER}
# Those that end the connection without a word, and whether the statement is executed before.
LOST = {
    Injection.CUT: False,
    Injection.CUT_AFTER: True,
    Injection.LOSE_COMMIT_REQUEST: False,
    Injection.LOSE_COMMIT_ANSWER: True,
}


def error_packet(number: int, state: str, message: str, sequence: int = 1) -> bytes:
    """A whole packet of the server's that says the error."""
    body = b"\xff" + struct.pack("<H", number) + b"#" + state.encode() + message.encode()
    return struct.pack("<I", len(body))[:3] + bytes([sequence]) + body


class FaultyProxy(TcpProxy):
    """Asks `decide` about every statement, in the thread of its connection; it sees nothing of the login."""

    def __init__(self, host: str, port: int) -> None:
        self._lock = threading.Lock()
        # Says of a statement's text what shall become of it; None lets everything through.
        self.decide: Decide | None = None
        self._ends: set[socket.socket] = set()
        self._old: set[socket.socket] = set()
        self._out = False
        self._too_many = 0
        self.injected: Counter[Injection] = Counter()
        super().__init__(host, port)

    @property
    def backend(self) -> tuple[str, int]:
        """Where the server is; a new address counts for new connections."""
        return self._server

    @backend.setter
    def backend(self, address: tuple[str, int]) -> None:
        self._server = address

    def too_many_connections(self, logins: int) -> None:
        """The next so many logins hear that there are too many connections."""
        with self._lock:
            self._too_many = logins

    def outage(self, on: bool) -> None:
        """Refuse new connections and cut those that there are; or end that."""
        with self._lock:
            if on == self._out:
                return
            self._out = on
        if on:
            self._unlisten()
            self.cut_all()
        else:
            self._listener.listen(128)
            threading.Thread(target=self._accept, daemon=True).start()

    def cut_all(self) -> None:
        """End every connection that there is now, on both sides."""
        with self._lock:
            ends = list(self._ends)
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def fail_over(self) -> None:
        """Give connected clients a server that is read-only for ever; the next ones get the new writer."""
        with self._lock:
            self._old |= self._ends

    def end_old(self) -> None:
        """End the connections to the server that can only be read."""
        with self._lock:
            old, self._old = list(self._old), set()
        for end in old:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Accept no more clients, and close all connections."""
        super().close()
        self.cut_all()

    def serve(self, client: socket.socket, server: socket.socket) -> None:
        """Requests here, answers in a thread of their own."""
        with self._lock:
            if self._out:
                return
            self._ends |= {client, server}
        answers = Answers(server, client)
        try:
            with suppress(OSError):
                self._requests(client, server, answers)
            with suppress(OSError):
                server.shutdown(socket.SHUT_WR)
            # The server ends its side when it has executed what it got.
            answers.join()
        finally:
            with self._lock:
                self._ends -= {client, server}
                self._old -= {client, server}

    def _connect(self, client: socket.socket) -> None:
        with self._lock:
            too_many = self._too_many > 0
            self._too_many -= too_many
        if too_many:
            with client, suppress(OSError):
                client.sendall(error_packet(*TOO_MANY, sequence=0))
        else:
            super()._connect(client)

    def _unlisten(self) -> None:
        """Keep the port and listen no more: to connect is refused, and no other process can have the port."""
        address = self._listener.getsockname()
        super().close()
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(address)

    def _requests(self, client: socket.socket, server: socket.socket, answers: Answers) -> None:
        for packet in packets(client):
            injection = self._injection(packet) or self._of_the_old(client, packet)
            if injection is None:
                server.sendall(packet)
            elif not self._inject(injection, packet, client, server, answers):
                return

    def _injection(self, packet: bytes) -> Injection | None:
        decide = self.decide
        # A statement is the first packet of its exchange; those of the login have other numbers.
        if decide is None or packet[3] != 0 or packet[HEADER] != QUERY:
            return None
        chosen = decide(packet[HEADER + 1 :])
        return None if chosen in OF_COMMITS and packet[HEADER:] != COMMIT else chosen

    def _of_the_old(self, client: socket.socket, packet: bytes) -> Injection | None:
        changes = packet[3] == 0 and packet[HEADER] == QUERY and _CHANGES.match(packet[HEADER + 1 :])
        return Injection.READ_ONLY if changes and client in self._old else None

    def _inject(
        self, injection: Injection, packet: bytes, client: socket.socket, server: socket.socket, answers: Answers
    ) -> bool:
        """Let it happen; True where the connection lives on."""
        if injection in LOST:
            answers.mute()
            if LOST[injection]:
                server.sendall(packet)
            self._count(injection)
            return False
        if injection is Injection.DEADLOCK:
            answers.of_our_own(ROLLBACK)
        number, state, message = ERRORS[injection]
        self._count(injection)
        client.sendall(error_packet(number, state, message.format(vendor=answers.vendor)))
        return injection is not Injection.PACKET_TOO_LARGE

    def _count(self, injection: Injection) -> None:
        with self._lock:
            self.injected[injection] += 1
