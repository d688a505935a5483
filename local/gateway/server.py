"""API Gateway's HTTP API on 127.0.0.1: routes, tokens, limits and time-outs in front of an `invoke`.

Guarantees that a function is invoked only for a route of its own and with a token that counts, and that every request
gets one answer: a function that fails, answers nonsense or takes too long never shows its caller more than API
Gateway's own words. Bodies and answers are held in memory, at most 10 MB each.
Differences from AWS: no throttling, no limit on the size of headers nor Lambda's 6 MB for events and answers; chunked
requests are refused with 411.
"""

from __future__ import annotations

import errno
import socket
import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Self

from local.api_events import HttpAnswer, HttpRequest, MalformedAnswerError, answer_of, event_of, plain_answer
from local.api_routes import find_route
from local.errors import LocalError
from local.servers import HangingUpServer
from local.tokens import InvalidTokenError, Tokens
from local.wiring import ApiRoute

MAX_BODY_BYTES = 10 * 1024 * 1024
INTEGRATION_SECONDS = 30.0
LAST_PORT = 65535

# More than this is not even read to be thrown away.
_MOST_DRAINED_BYTES = 10 * MAX_BODY_BYTES
_IDLE_SECONDS = 60.0
_NO_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)

Invoke = Callable[[str, dict[str, Any]], Any]
"""Gives a function's answer to an event; raises whatever it likes."""


class ApiGateway:
    """Serves while the `with` block runs; `port` 0 means a free one. Raises LocalError where the port is taken."""

    def __init__(
        self,
        routes: Sequence[ApiRoute],
        invoke: Invoke,
        tokens: Tokens,
        port: int = 0,
        *,
        integration_timeout: float = INTEGRATION_SECONDS,
    ) -> None:
        self._routes = tuple(routes)
        self._invoke = invoke
        self._tokens = tokens
        self._port = port
        self._timeout = integration_timeout
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        try:
            self._server = _Server(("127.0.0.1", self._port), self)
        except OSError as exc:
            raise _unusable(self._port, exc) from exc
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="api-gateway").start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server.hang_up()

    @property
    def url(self) -> str:
        """Where it listens, without a slash at the end."""
        if self._server is None:
            raise LocalError("the local API is not running")
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, request: HttpRequest) -> HttpAnswer:
        """The response to a request."""
        match = find_route(self._routes, request.method, request.path)
        if match is None:
            return plain_answer(HTTPStatus.NOT_FOUND)
        try:
            claims = self._tokens.check(_token(request))
        except InvalidTokenError as exc:
            challenge = f'Bearer error="invalid_token", error_description="{exc}"'
            return plain_answer(HTTPStatus.UNAUTHORIZED, [("www-authenticate", challenge)])
        request_id = str(uuid.uuid4())
        event = event_of(request, match, claims, request_id, datetime.now(UTC))
        answer = self._integrate(match.route.function, event)
        return HttpAnswer(answer.status, [*answer.headers, ("apigw-requestid", request_id)], answer.body)

    def _integrate(self, function: str, event: dict[str, Any]) -> HttpAnswer:
        outcome: Future[Any] = Future()

        def work() -> None:
            try:
                outcome.set_result(self._invoke(function, event))
            except BaseException as exc:
                outcome.set_exception(exc)

        threading.Thread(target=work, daemon=True, name=f"integration-{function}").start()
        try:
            # A time-out of the invocation's own is a failure like any other, as a function's is in AWS.
            if outcome.exception(self._timeout) is not None:
                return plain_answer(HTTPStatus.INTERNAL_SERVER_ERROR)
            return answer_of(outcome.result())
        except NotYet:
            return plain_answer(HTTPStatus.SERVICE_UNAVAILABLE)
        except MalformedAnswerError:
            return plain_answer(HTTPStatus.INTERNAL_SERVER_ERROR)


def refuse_taken_port(port: int) -> None:
    """Raise LocalError where nothing can listen on a port now; 0 means any free one."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as exc:
        raise _unusable(port, exc) from exc


def _unusable(port: int, error: OSError) -> LocalError:
    reason = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
    other = port + 1 if port < LAST_PORT else 0
    return LocalError(
        f"port {port} of 127.0.0.1 {reason}; choose another with --port {other},"
        f" or make local SERVE_ARGS='--port {other}'"
    )


def _token(request: HttpRequest) -> str:
    """What the Authorization header holds, with or without `Bearer` before it; empty where there is none."""
    scheme, _, rest = request.header("authorization").strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else scheme


class _Server(HangingUpServer):
    def __init__(self, address: tuple[str, int], gateway: ApiGateway) -> None:
        self.gateway = gateway
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    """One connection: reads whole requests, writes whole answers."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "exhibit-ingest-local", ""
    timeout = _IDLE_SECONDS
    # Headers and body are two packets: waiting for the peer's ACK between them costs 40 ms a request.
    disable_nagle_algorithm = True
    server: _Server

    def __getattr__(self, name: str) -> Callable[[], None]:
        # Every method there is or might be: the routes decide which are answered.
        if name.startswith("do_"):
            return self._handle
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: a query may hold what must not be logged."""

    def _handle(self) -> None:
        refusal = self._refusal()
        if refusal is not None:
            self.close_connection = True
            return self._send(plain_answer(refusal))
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("the client went away in the middle of its body")
        path, _, query = self.path.partition("?")
        request = HttpRequest(self.command, path, query, self.headers.items(), body, self.client_address[0])
        return self._send(self.server.gateway.answer(request))

    def _refusal(self) -> HTTPStatus | None:
        """Why the body cannot be taken; what there is of it is read, so that the client gets to see the answer."""
        if self.headers.get("transfer-encoding"):
            return HTTPStatus.LENGTH_REQUIRED
        lengths = self.headers.get_all("content-length") or ["0"]
        if len(lengths) > 1 or not (lengths[0].isascii() and lengths[0].isdigit()):
            return HTTPStatus.BAD_REQUEST
        length = int(lengths[0])
        if length <= MAX_BODY_BYTES:
            return None
        left = min(length, _MOST_DRAINED_BYTES)
        while left and (piece := self.rfile.read(min(left, 65536))):
            left -= len(piece)
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE

    def _send(self, answer: HttpAnswer) -> None:
        bodiless = answer.status in _NO_BODY
        self.send_response(answer.status)
        for name, value in answer.headers:
            if not (bodiless and name == "content-type"):
                self.send_header(name, value.encode("utf-8").decode("latin-1"))
        if not bodiless:
            self.send_header("content-length", str(len(answer.body)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if not bodiless and self.command != "HEAD":
            self.wfile.write(answer.body)
