"""The server on this machine that the browser comes back to.

Guaranteed: it listens on the addresses of `localhost` alone, 127.0.0.1 and ::1, so that no other program gets what
comes back, and on a port that the client of the issuer knows. It accepts one answer; what does not match, or is for
another host, gets an error page and ends nothing.
"""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from urllib.parse import parse_qs, urlsplit

from exhibit_ingest.errors import CommandError

_TICK_S = 0.2
_TAKEN = (errno.EADDRINUSE, errno.EACCES)
_DONE = "The browser's part is done. Close this window and go back to the terminal."
_REFUSED = "The sign-in was refused. Close this window and go back to the terminal, which shows the reason."
_UNKNOWN = "This address is not part of the sign-in that the terminal waits for."
Query = dict[str, str]


class Listener:
    """Waits for one answer to `localhost`, whichever of its addresses the browser chooses."""

    def __init__(self, port: int) -> None:
        self._arrived = threading.Event()
        self._lock = threading.Lock()
        self._matches: Callable[[Query], bool] = lambda _: False
        self._answer: Query | None = None
        self._servers = [_Server(self, socket.AF_INET, "127.0.0.1", port)]
        self.port = self._servers[0].server_port
        self.hosts = (f"localhost:{self.port}", f"127.0.0.1:{self.port}")
        try:
            self._servers.append(_Server(self, socket.AF_INET6, "::1", self.port))
        except OSError as exc:
            # A machine can be without IPv6; but a browser would go to another program that is there.
            if exc.errno in _TAKEN:
                self.close()
                raise

    def begin(self, matches: Callable[[Query], bool]) -> None:
        """Answer requests from now on."""
        self._matches = matches
        for server in self._servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": _TICK_S}, daemon=True).start()

    def wait(self, patience_s: float) -> Query | None:
        """Return the first query that matches; None if there is none within `patience_s`."""
        # In short waits: Windows does not interrupt a long one by Ctrl-C.
        for _ in range(max(1, round(patience_s / _TICK_S))):
            if self._arrived.wait(_TICK_S):
                break
        return self._answer

    def accept(self, query: Query) -> bool:
        """Keep the query if it is the first that matches, and return whether it is."""
        with self._lock:
            if self._answer is not None or not self._matches(query):
                return False
            self._answer = query
            return True

    def announce(self) -> None:
        """End the wait, once the browser has its page."""
        self._arrived.set()

    def close(self) -> None:
        """Listen no longer."""
        for server in self._servers:
            server.stop()


class _Server(ThreadingHTTPServer):
    """Threads, because a browser may open a connection that it does not use."""

    daemon_threads = True
    # On Windows, the option would let another program listen on the same port.
    allow_reuse_address = os.name == "posix"

    def __init__(self, listener: Listener, family: socket.AddressFamily, address: str, port: int) -> None:
        self.listener, self.address_family, self._is_serving = listener, family, False
        super().__init__((address, port), _Handler)

    def server_bind(self) -> None:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            # Of Windows, where another program could otherwise take over the port.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        # That of HTTPServer looks up the name of the address, which takes seconds on some machines.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def serve_forever(self, poll_interval: float = _TICK_S) -> None:
        self._is_serving = True
        super().serve_forever(poll_interval)

    def stop(self) -> None:
        if self._is_serving:
            self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """Print nothing: a browser that breaks off is not an error, and the address has the code."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10

    def do_GET(self) -> None:
        listener, parts = self.server.listener, urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        is_here = self.headers.get("Host", "").lower() in listener.hosts and parts.path == "/"
        if not is_here or not listener.accept(query):
            return self._respond(HTTPStatus.NOT_FOUND, _UNKNOWN)
        try:
            self._respond(HTTPStatus.OK, _DONE if "code" in query else _REFUSED)
        finally:
            listener.announce()
        return None

    def _respond(self, status: HTTPStatus, text: str) -> None:
        page = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>exhibit-ingest</title><p>{text}</p></html>'
        body = page.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        # The address has the code.
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: the address has the code."""


@contextmanager
def listen(ports: tuple[int, ...], advice: str) -> Iterator[Listener]:
    """Listen on the first free port; raise CommandError, with the advice, if none is free."""
    for port in ports:
        try:
            listener = Listener(port)
        except OSError:
            continue
        try:
            yield listener
        finally:
            listener.close()
        return
    raise CommandError(f"The ports {ports[0]} to {ports[-1]} are in use on this machine. {advice}")
