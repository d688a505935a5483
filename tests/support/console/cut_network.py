"""A network between a browser and its servers that a test cuts in the middle of a part: an HTTP proxy.

Guarantees that a cut happens when half of a chosen part has passed, and that it knows every part that the browser sent
then without having taken its answer: each connection has one request, and ends when the browser ends it.
"""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import BinaryIO

_BLOCK = 262_144
_RESET = struct.pack("ii", 1, 0)
_OF_ONE_CONNECTION = re.compile(rb"^(?:proxy-)?connection:.*\r\n", re.IGNORECASE | re.MULTILINE)


class Network:
    """Counts how often each part was `sent`, and how often it was `in_flight` when the network was cut."""

    def __init__(self) -> None:
        self.sent: Counter[int] = Counter()
        self.in_flight: Counter[int] = Counter()
        self._open: dict[socket.socket, int] = {}
        self._cut_in = 0
        self._is_cut = self._is_down = False
        self._change = threading.Condition()

    @property
    def repeated(self) -> Counter[int]:
        """How often each part was sent again."""
        return Counter({part: count - 1 for part, count in self.sent.items() if count > 1})

    def cut_in(self, part: int) -> None:
        """Have the parts on their way stop when half of this one has passed, the next time that it is sent."""
        self._cut_in = part

    def wait_for_cut(self, patience_s: float) -> None:
        """Wait until they have stopped."""
        with self._change:
            assert self._change.wait_for(lambda: self._is_cut, patience_s), self.sent

    def reset(self) -> None:
        """Reset every connection; new ones are refused until `restore`."""
        with self._change:
            self._is_down = True
            for browser in self._open:
                browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                with suppress(OSError):
                    browser.shutdown(socket.SHUT_RDWR)

    def restore(self) -> None:
        """Let everything pass again."""
        with self._change:
            self._is_cut = self._is_down = False
            self._change.notify_all()

    def open(self, browser: socket.socket, part: int) -> bool:
        """Note a request, of a part or of anything else (0), and return whether there is a network."""
        with self._change:
            if self._is_down:
                return False
            self._open[browser] = part
            if part:
                self.sent[part] += 1
                self.in_flight[part] += int(self._is_cut)
            return True

    def close(self, browser: socket.socket) -> None:
        """Note that the browser has ended a request."""
        with self._change:
            self._open.pop(browser, None)

    def pass_on(self, part: int, is_half: bool = False) -> None:
        """Wait as long as the part has to; cut the network if this is half of the chosen one."""
        with self._change:
            if is_half and 0 < part == self._cut_in:
                self._cut_in, self._is_cut = 0, True
                self.in_flight.update(each for each in self._open.values() if each)
                self._change.notify_all()
            self._change.wait_for(lambda: not (part and self._is_cut))


class _Connection(StreamRequestHandler):
    server: _Proxy

    def handle(self) -> None:
        head = self._read_head()
        found = re.match(rb"(\w+) http://([^/:]+):(\d+)(\S*)", head)
        if not found:
            return
        method, host, port, path = found.groups()
        part = re.search(rb"[?&]partNumber=(\d+)", path) if method == b"PUT" else None
        network, number = self.server.network, int(part[1]) if part else 0
        if not network.open(self.connection, number):
            return
        with suppress(OSError), socket.create_connection((host.decode(), int(port))) as server:
            kept = _OF_ONE_CONNECTION.sub(b"", head[found.end() :]).removesuffix(b"\r\n")
            server.sendall(method + b" " + path + kept + b"Connection: close\r\n\r\n")
            self._send_body(server, head, number)
            self._send_answer(server, number)
        network.close(self.connection)

    def _read_head(self) -> bytes:
        lines = []
        with suppress(OSError):
            while (line := self.rfile.readline()) not in (b"", b"\r\n"):
                lines.append(line)
        return b"".join(lines) + b"\r\n"

    def _send_body(self, server: socket.socket, head: bytes, part: int) -> None:
        stated = re.search(rb"^content-length: *(\d+)", head, re.IGNORECASE | re.MULTILINE)
        size = left = int(stated[1]) if stated else 0
        body: BinaryIO = self.rfile  # type: ignore[assignment]
        while left:
            block = body.read(min(left, _BLOCK))
            if not block:
                raise ConnectionAbortedError
            left -= len(block)
            self.server.network.pass_on(part, left * 2 <= size)
            server.sendall(block)

    def _send_answer(self, server: socket.socket, part: int) -> None:
        while block := server.recv(_BLOCK):
            self.server.network.pass_on(part)
            self.connection.sendall(block)
        self.connection.shutdown(socket.SHUT_WR)
        # Until the browser has taken the answer.
        self.connection.recv(1)


class _Proxy(ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 100

    def __init__(self, network: Network) -> None:
        self.network = network
        super().__init__(("127.0.0.1", 0), _Connection)


@contextmanager
def cut_network() -> Iterator[tuple[Network, str]]:
    """Yield a network and the URL of its proxy."""
    network = Network()
    with _Proxy(network) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True, name="cut-network")
        thread.start()
        try:
            yield network, f"http://127.0.0.1:{proxy.server_address[1]}"
        finally:
            network.restore()
            proxy.shutdown()
            thread.join()
