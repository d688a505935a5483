"""AWS's Lambda Runtime API for one worker process.

Each worker has its own port, which identifies it: the API itself has no identifier for workers.
Only the endpoints that a runtime client needs exist: next, response, error and init error.
"""

from __future__ import annotations

import json
import queue
import re
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from local.lambda_runtime.invocation import Invocation

_ROOT = "/2018-06-01/runtime"
_RESULT = re.compile(_ROOT + r"/invocation/([^/]+)/(response|error)")

OnFailure = Callable[[bool, str, str, Any], None]
"""Receives an error: whether it is an init error, its type, its message, its stack trace."""


class RuntimeApi:
    """The API for one worker. Errors go to `on_failure`, responses to the current invocation."""

    def __init__(self, on_failure: OnFailure) -> None:
        self.on_failure = on_failure
        self._inbox: queue.SimpleQueue[Invocation | None] = queue.SimpleQueue()
        self._current: Invocation | None = None
        self._closed = False
        self._server = _Server(("127.0.0.1", 0), self)
        self._thread = threading.Thread(target=self._serve, daemon=True, name=f"runtime-api-{self.address}")
        self._thread.start()

    @property
    def address(self) -> str:
        """Return the API's address as host:port."""
        host, port = self._server.server_address[:2]
        return f"{host!s}:{port}"

    def offer(self, invocation: Invocation) -> None:
        """Queue an invocation for the worker, which fetches it when it is ready."""
        self._inbox.put(invocation)

    def take(self) -> Invocation | None:
        """Wait for the next invocation and return it; return None after `close`."""
        self._current = self._inbox.get()
        return self._current

    def complete(self, request_id: str, body: bytes) -> bool:
        """Complete the current invocation; return False if it has a different request id."""
        current = self._current
        if current is None or current.request_id != request_id:
            return False
        current.succeed(body)
        return True

    def close(self) -> None:
        """Stop serving; a waiting worker gets no further invocation."""
        if self._closed:
            return
        self._closed = True
        self._inbox.put(None)
        # handle_request() returns only after a connection.
        socket.create_connection(self._server.server_address[:2], timeout=5).close()  # type: ignore[arg-type]
        self._thread.join()
        self._server.server_close()

    def _serve(self) -> None:
        while not self._closed:
            self._server.handle_request()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], api: RuntimeApi) -> None:
        self.api = api
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the broken connection of a killed worker; `Worker` reports its end."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        invocation = self.server.api.take() if self.path == f"{_ROOT}/invocation/next" else None
        if invocation is None:
            self._reply(HTTPStatus.NOT_FOUND)
            return
        headers = {
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Invoked-Function-Arn": invocation.arn,
            "Lambda-Runtime-Deadline-Ms": str(invocation.mark_fetched()),
            "Content-Type": "application/json",
        }
        self._reply(HTTPStatus.OK, invocation.payload, headers)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        match = _RESULT.fullmatch(self.path)
        if match and match[2] == "response":
            is_current = self.server.api.complete(match[1], body)
            self._reply(HTTPStatus.ACCEPTED if is_current else HTTPStatus.BAD_REQUEST)
        elif match or self.path == f"{_ROOT}/init/error":
            self.server.api.on_failure(match is None, *_parse_error(body))
            self._reply(HTTPStatus.ACCEPTED)
        else:
            self._reply(HTTPStatus.NOT_FOUND)

    def _reply(self, status: HTTPStatus, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Write nothing; each worker has its own log."""


def _parse_error(body: bytes) -> tuple[str, str, Any]:
    try:
        error = json.loads(body)
    except ValueError:
        return "Runtime.UnknownReason", body.decode("utf-8", errors="replace"), None
    return str(error.get("errorType")), str(error.get("errorMessage")), error.get("stackTrace")
