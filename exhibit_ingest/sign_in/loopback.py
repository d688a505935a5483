"""The server on this machine that the browser comes back to.

Guaranteed: it listens on 127.0.0.1 alone, and on a port that the client of the issuer knows. It accepts one answer;
what does not match gets an error page and ends nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from exhibit_ingest.errors import CommandError

_TICK_S = 0.2
_DONE = "The browser's part is done. Close this window and go back to the terminal."
_REFUSED = "The sign-in was refused. Close this window and go back to the terminal, which shows the reason."
_UNKNOWN = "This address is not part of the sign-in that the terminal waits for."
Query = dict[str, str]


class Listener(ThreadingHTTPServer):
    """Waits for one answer. Threads, because a browser may open a connection that it does not use."""

    daemon_threads = True
    # On Windows, the option would let another program listen on the same port.
    allow_reuse_address = os.name == "posix"

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self._arrived = threading.Event()
        self._lock = threading.Lock()
        self._matches: Callable[[Query], bool] = lambda _: False
        self._answer: Query | None = None

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.server_port

    def wait(self, matches: Callable[[Query], bool], patience_s: float) -> Query | None:
        """Return the first query that matches; None if there is none within `patience_s`."""
        self._matches = matches
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": _TICK_S}, daemon=True).start()
        try:
            # In short waits: Windows does not interrupt a long one by Ctrl-C.
            for _ in range(max(1, round(patience_s / _TICK_S))):
                if self._arrived.wait(_TICK_S):
                    break
        finally:
            self.shutdown()
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


class _Handler(BaseHTTPRequestHandler):
    server: Listener
    timeout = 10

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path != "/" or not self.server.accept(query):
            return self._respond(HTTPStatus.NOT_FOUND, _UNKNOWN)
        try:
            self._respond(HTTPStatus.OK, _DONE if "code" in query else _REFUSED)
        finally:
            self.server.announce()
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
        with listener:
            yield listener
        return
    raise CommandError(f"The ports {ports[0]} to {ports[-1]} are in use on this machine. {advice}")
