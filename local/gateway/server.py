"""API Gateway's HTTP API on 127.0.0.1: routes, tokens, limits and timeouts in front of the functions.

Guaranteed: a function is invoked only for its own routes and with a valid token, and every request gets one response.
If a function fails, returns an invalid result or takes too long, the client sees only API Gateway's own message.
Bodies are held in memory; a request body of more than 10 MB is rejected with 413.
Differences from AWS: no throttling, no limit on the size of headers, and no limit of 6 MB on Lambda's events and
results. Chunked requests are rejected with 411.
"""

from __future__ import annotations

import errno
import json
import socket
import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Self

from local.errors import LocalError
from local.gateway.events import (
    HttpRequest,
    HttpResponse,
    MalformedResponseError,
    build_event,
    build_gateway_response,
    build_response,
)
from local.gateway.routing import find_route
from local.gateway.sign_in import SIGN_IN_PATH, SignIn
from local.gateway.tokens import InvalidTokenError, Tokens
from local.services.http_server import HangingUpServer
from local.template.model import ApiRoute

MAX_BODY_BYTES = 10 * 1024 * 1024
INTEGRATION_SECONDS = 30.0
LAST_PORT = 65535

# A longer body is not drained: the connection is closed instead.
_MAX_DRAINED_BYTES = 10 * MAX_BODY_BYTES
_IDLE_SECONDS = 60.0
_NO_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)

Invoke = Callable[[str, dict[str, Any]], Any]
"""Returns a function's result for an event; may raise any exception."""


class ApiGateway:
    """The HTTP API, served while the `with` block runs.

    `port` 0 means any free port. Entering the block raises LocalError if the port cannot be used. With `sign_in` the
    console gets its tokens here.
    """

    def __init__(
        self,
        routes: Sequence[ApiRoute],
        invoke: Invoke,
        tokens: Tokens,
        port: int = 0,
        *,
        integration_timeout: float = INTEGRATION_SECONDS,
        sign_in: SignIn | None = None,
    ) -> None:
        self._routes = tuple(routes)
        self._invoke = invoke
        self._tokens = tokens
        self._port = port
        self._timeout = integration_timeout
        self._sign_in = sign_in
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        try:
            self._server = _Server(("127.0.0.1", self._port), self)
        except OSError as exc:
            raise _build_port_error(self._port, exc) from exc
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="api-gateway").start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server.hang_up()

    @property
    def url(self) -> str:
        """Return the base URL, without a trailing slash."""
        if self._server is None:
            raise LocalError("the local API is not running")
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def sign_in_fragment(self) -> str:
        """Return what signs in when it follows the address of the console; empty if nothing does."""
        return f"#key={self._sign_in.key}" if self._sign_in else ""

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request."""
        if self._sign_in and (request.method, request.path) == ("POST", SIGN_IN_PATH):
            return self._sign_in.handle(request)
        match = find_route(self._routes, request.method, request.path)
        if match is None:
            return build_gateway_response(HTTPStatus.NOT_FOUND)
        try:
            claims = None if match.route.is_open else self._tokens.check(_read_token(request))
        except InvalidTokenError as exc:
            challenge = f'Bearer error="invalid_token", error_description="{exc}"'
            return build_gateway_response(HTTPStatus.UNAUTHORIZED, [("www-authenticate", challenge)])
        request_id = str(uuid.uuid4())
        event = build_event(request, match, claims, request_id, datetime.now(UTC))
        response = self._invoke_function(match.route.function, event)
        return HttpResponse(response.status, [*response.headers, ("apigw-requestid", request_id)], response.body)

    def _invoke_function(self, function: str, event: dict[str, Any]) -> HttpResponse:
        result: Future[Any] = Future()

        def work() -> None:
            try:
                result.set_result(self._invoke(function, event))
            except BaseException as exc:
                result.set_exception(exc)

        threading.Thread(target=work, daemon=True, name=f"integration-{function}").start()
        try:
            # exception() returns a timeout of the function, which is a failure as in AWS, and raises one of this wait.
            if result.exception(self._timeout) is not None:
                return build_gateway_response(HTTPStatus.INTERNAL_SERVER_ERROR)
            return build_response(result.result())
        except TimeoutError:
            return build_gateway_response(HTTPStatus.SERVICE_UNAVAILABLE)
        except MalformedResponseError:
            return build_gateway_response(HTTPStatus.INTERNAL_SERVER_ERROR)


def build_own_request(
    token: str, method: str, path: str, body: object = None, if_match: str | None = None
) -> HttpRequest:
    """Return a request of this program, under an idempotency key of its own; a body is sent as JSON."""
    headers = [("authorization", f"Bearer {token}"), ("idempotency-key", str(uuid.uuid4())), ("host", "127.0.0.1")]
    headers += [("content-type", "application/json")] if body is not None else []
    headers += [("if-match", if_match)] if if_match is not None else []
    place, _, query = path.partition("?")
    raw = b"" if body is None else json.dumps(body).encode()
    return HttpRequest(method, place, query, headers, raw, "127.0.0.1")


def check_port_is_free(port: int) -> None:
    """Raise LocalError if no server can listen on the port now; 0 means any free port."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as exc:
        raise _build_port_error(port, exc) from exc


def _build_port_error(port: int, error: OSError) -> LocalError:
    reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
    other = port + 1 if port < LAST_PORT else 0
    return LocalError(
        f"port {port} of 127.0.0.1 {reason}; choose another with --port {other},"
        f" or make local SERVE_ARGS='--port {other}'"
    )


def _read_token(request: HttpRequest) -> str:
    """Return the token of the Authorization header, with or without `Bearer`; empty if the header is missing."""
    scheme, _, rest = request.header("authorization").strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else scheme


class _Server(HangingUpServer):
    def __init__(self, address: tuple[str, int], gateway: ApiGateway) -> None:
        self.gateway = gateway
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    """One connection, which reads complete requests and writes complete responses."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "exhibit-ingest-local", ""
    timeout = _IDLE_SECONDS
    # Headers and body are two packets; with Nagle's algorithm the second waits 40 ms for the client's ACK.
    disable_nagle_algorithm = True
    server: _Server

    def __getattr__(self, name: str) -> Callable[[], None]:
        # Every method reaches the routes, which decide whether it exists.
        if name.startswith("do_"):
            return self._handle
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write nothing: a query may contain what must not be logged."""

    def _handle(self) -> None:
        error = self._validate_body()
        if error is not None:
            self.close_connection = True
            return self._send(build_gateway_response(error))
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("the client closed the connection before the end of its body")
        path, _, query = self.path.partition("?")
        request = HttpRequest(self.command, path, query, self.headers.items(), body, self.client_address[0])
        return self._send(self.server.gateway.handle(request))

    def _validate_body(self) -> HTTPStatus | None:
        """Return the error status of a body that cannot be accepted, or None.

        A body that is too large is drained first, because a client that is still sending would not read the response.
        """
        if self.headers.get("transfer-encoding"):
            return HTTPStatus.LENGTH_REQUIRED
        lengths = self.headers.get_all("content-length") or ["0"]
        if len(lengths) > 1 or not (lengths[0].isascii() and lengths[0].isdigit()):
            return HTTPStatus.BAD_REQUEST
        length = int(lengths[0])
        if length <= MAX_BODY_BYTES:
            return None
        remaining = min(length, _MAX_DRAINED_BYTES)
        while remaining and (piece := self.rfile.read(min(remaining, 65536))):
            remaining -= len(piece)
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE

    def _send(self, response: HttpResponse) -> None:
        is_bodiless = response.status in _NO_BODY
        self.send_response(response.status)
        for name, value in response.headers:
            if not (is_bodiless and name == "content-type"):
                self.send_header(name, value.encode("utf-8").decode("latin-1"))
        if not is_bodiless:
            self.send_header("content-length", str(len(response.body)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if not is_bodiless and self.command != "HEAD":
            self.wfile.write(response.body)
