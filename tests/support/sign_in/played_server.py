"""A real HTTP server on a free port of 127.0.0.1, whose answers a function decides."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import time
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Received:
    """A request as it arrived; the names of headers are in small letters."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        """The fields of a form."""
        return _first(self.body.decode())


@dataclass(frozen=True)
class Answer:
    """What is sent back; without a status, the connection is closed without an answer."""

    status: int | None = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"


class PlayedServer:
    """`received` has every request; `ahead_s` is how far its clock is ahead of this machine's."""

    def __init__(self, decide: Callable[[Received], Answer], tls: ssl.SSLContext | None = None) -> None:
        self.decide = decide
        self.received: list[Received] = []
        self.ahead_s = 0.0
        played = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                played._handle(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def date_time_string(self, timestamp: float | None = None) -> str:
                return formatdate((timestamp or time()) + played.ahead_s, usegmt=True)

            def log_message(self, *_: object) -> None: ...

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            # A client that breaks off, as one that does not trust the certificate, is part of the play.
            def handle_error(self, *_: object) -> None: ...

        self._server = Server(("127.0.0.1", 0), Handler)
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def run(self) -> Iterator[PlayedServer]:
        """Serve for as long as the block."""
        thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        body = handler.rfile.read(int(headers.get("content-length", 0)))
        request = Received(handler.command, parts.path, _first(parts.query), headers, body)
        self.received.append(request)
        answer = self.decide(request)
        if answer.status is None:
            handler.close_connection = True
            return
        content = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        data = b"" if answer.body is None else content.encode()
        handler.send_response(answer.status)
        for name, value in {"Content-Type": answer.kind, "Content-Length": str(len(data)), **answer.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)


def _first(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}
