"""A proxy on 127.0.0.1 that requests to a storage go through, and that drops, refuses, stalls or alters chosen ones.

It passes one request a connection on, head and body as they arrive. It counts parts by number: how often each was
begun, and how often the storage took it; and requests whose client went away before they were answered.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

Fault = Literal["", "drop", "half", "answer", "503", "early 503", "stall", "alter"]
_BLOCK = 1 << 20
_SLOW_DOWN = (
    b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nConnection: close\r\nContent-Length: 42\r\n\r\n"
    b"<Error><Code>SlowDown</Code></Error>      "
)


@dataclass
class FaultyProxy:
    """`choose` gets the number of a PUT, from 1, and returns its fault.

    `on_progress` is called when the storage has half of a PUT, and when it took one.
    """

    choose: Callable[[int], Fault] = lambda _: ""
    on_progress: Callable[[], None] = lambda: None
    is_down: bool = False
    url: str = ""
    begun: Counter[int] = field(default_factory=Counter)
    taken: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    abandoned: int = 0
    refused: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Event = field(default_factory=threading.Event)

    def serve(self, listener: socket.socket) -> None:
        """Accept connections until the listener is closed."""
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            if self.is_down:
                self.refused += 1
                _reset(client)
            else:
                threading.Thread(target=self._handle, args=(client,), daemon=True).start()

    def close(self) -> None:
        """End what stalls."""
        self._closing.set()

    def _handle(self, client: socket.socket) -> None:
        try:
            with client:
                self._pass_on(client)
        except OSError:
            with self._lock:
                self.abandoned += 1

    def _pass_on(self, client: socket.socket) -> None:
        head, rest = _read_head(client)
        method, url = head.split(b" ", 2)[:2]
        number = int((re.search(rb"[?&]partNumber=(\d+)", url) or [b"", b"0"])[1])
        with self._lock:
            self.begun.update([number] if method == b"PUT" else [])
            fault = self.choose(self.begun.total()) if method == b"PUT" else ""
            self.faults.update([fault] if fault else [])
        if fault == "drop":
            return _reset(client)
        if fault == "early 503":
            return client.sendall(_SLOW_DOWN)
        length = int((re.search(rb"\r\nContent-Length: (\d+)", head, re.IGNORECASE) or [b"", b"0"])[1])
        blocks = _read_body(client, rest, length)
        if fault == "503":
            for _ in blocks:
                pass
            return client.sendall(_SLOW_DOWN)
        with _connect(url) as storage:
            storage.sendall(_rewrite(head, url))
            self._send_body(storage, blocks, length, fault, client)
            return self._answer(client, storage, method, number, fault)

    def _send_body(
        self, storage: socket.socket, blocks: Iterator[bytes], length: int, fault: Fault, client: socket.socket
    ) -> None:
        sent = 0
        for block in blocks:
            if fault in ("half", "stall") and sent + len(block) > length // 2:
                if fault == "stall":
                    self._closing.wait(600)
                _reset(client)
                raise OSError("dropped")
            storage.sendall(bytes([block[0] ^ 1]) + block[1:] if fault == "alter" and not sent else block)
            if sent < length // 2 <= sent + len(block):
                self.on_progress()
            sent += len(block)

    def _answer(self, client: socket.socket, storage: socket.socket, method: bytes, number: int, fault: Fault) -> None:
        answer = b"".join(iter(lambda: storage.recv(_BLOCK), b""))
        if method == b"PUT" and answer.split(b" ", 2)[1] == b"200":
            with self._lock:
                self.taken[number] += 1
            self.on_progress()
        if fault == "answer":
            return _reset(client)
        if _is_closed(client):
            raise OSError("the client is gone")
        return client.sendall(answer)


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        block = client.recv(_BLOCK)
        if not block:
            raise OSError("no request")
        data += block
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _read_body(client: socket.socket, rest: bytes, length: int) -> Iterator[bytes]:
    left = length
    while left:
        block = rest or client.recv(min(_BLOCK, left))
        if not block:
            raise OSError("the request ended")
        rest = b""
        left -= len(block)
        yield block


def _is_closed(client: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        return not client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return False


def _connect(url: bytes) -> socket.socket:
    host, _, port = url.split(b"/")[2].decode().partition(":")
    return socket.create_connection((host, int(port or 80)), timeout=600)


def _rewrite(head: bytes, url: bytes) -> bytes:
    """Return the head as the server gets it, whose answer ends with the connection."""
    path = b"/" + url.split(b"/", 3)[3]
    lines = [line for line in head.replace(url, path, 1).split(b"\r\n") if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def _reset(client: socket.socket) -> None:
    """End a connection as a router does that has forgotten it."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    client.close()


@contextmanager
def faulty_proxy() -> Iterator[FaultyProxy]:
    """A proxy for the block, at first without faults."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        proxy = FaultyProxy(url=f"http://127.0.0.1:{listener.getsockname()[1]}")
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        try:
            yield proxy
        finally:
            proxy.close()
            listener.shutdown(socket.SHUT_RDWR)
