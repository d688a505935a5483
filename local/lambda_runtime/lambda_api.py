"""The part of Lambda's API that durable functions need, on a free port of 127.0.0.1.

Guarantees Lambda's rules for starting an execution: a qualifier is needed, an execution name belongs to one payload,
`Event` answers at once and `RequestResponse` when the execution has ended. What the function and its callers then ask,
from checkpoints to history, the testing engine's own handlers answer; errors carry the code that SDKs look for.
Differences from AWS: functions that are not durable are refused, nobody has published versions, and payloads have no
limit of size.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from concurrent.futures import CancelledError
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from aws_durable_execution_sdk_python_testing.exceptions import (
    AwsApiException,
    InvalidParameterValueException,
    ResourceNotFoundException,
    ServiceException,
)
from aws_durable_execution_sdk_python_testing.execution import Execution, ExecutionStatus
from aws_durable_execution_sdk_python_testing.web.handlers import ListDurableExecutionsByFunctionHandler
from aws_durable_execution_sdk_python_testing.web.models import HTTPRequest, HTTPResponse
from aws_durable_execution_sdk_python_testing.web.routes import (
    ListDurableExecutionsByFunctionRoute,
    Route,
    Router,
    StartExecutionRoute,
)
from aws_durable_execution_sdk_python_testing.web.server import RequestHandler, WebServer

from local.durable import DurableExecutions, NameTakenError, Started
from local.durable_engine import LATEST
from local.servers import HangingUpServer
from local.template import Template
from local.wiring import Function

_INVOCATION = re.compile(r"/2015-03-31/functions/([^/]+)/invocations")
_FUNCTION = re.compile(
    r"(?:arn:[a-z-]+:lambda:)?(?:[a-z-]+-\d:)?(?:\d{12}:)?(?:function:)?([a-zA-Z0-9-_]+)(?::(\$LATEST|[a-zA-Z0-9-_]+))?"
)
_NAME = re.compile(r"[a-zA-Z0-9-_]{1,64}")
_IDLE_SECONDS = 60.0


class LambdaApi:
    """Listens from the start and answers from `serve` on; a client that comes before that waits."""

    def __init__(self, template: Template) -> None:
        self._server = _Server(template)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it listens, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def serve(self, executions: DurableExecutions) -> None:
        """Begin to answer."""
        self._server.answer_with(executions)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="lambda-api")
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait for the requests that are being answered; executions must have let go of who waits."""
        if self._thread:
            self._server.shutdown()
            self._thread.join()
        self._server.hang_up()
        self._server.server_close()


class _LambdaError(AwsApiException):
    """An error of Lambda's for which the engine has no class."""

    def __init__(self, code: str, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.code, self.http_status_code, self.message = code, status, message

    def to_dict(self) -> dict[str, Any]:
        """The body of the response."""
        return {"Type": self.code, "message": self.message}


class _Server(WebServer, HangingUpServer):
    """The engine's server but for its constructor, which would set up this process's root logger."""

    # Its threads are joined when it closes.
    daemon_threads = False

    def __init__(self, template: Template) -> None:
        self.template = template
        self.executions: DurableExecutions
        super(WebServer, self).__init__(("127.0.0.1", 0), _Handler)

    def answer_with(self, executions: DurableExecutions) -> None:
        """Wire the engine's handlers to a running engine."""
        self.executions = executions
        self.executor = executions.executor
        self.router = Router()
        self.endpoint_handlers = self._create_endpoint_handlers()
        # It would start executions without a look at their names.
        del self.endpoint_handlers[StartExecutionRoute]
        self.endpoint_handlers[ListDurableExecutionsByFunctionRoute] = _ListByFunction(self.executor)


class _ListByFunction(ListDurableExecutionsByFunctionHandler):
    """The engine's, which compares names only, for whatever names a function."""

    def handle(self, parsed_route: Route, request: HTTPRequest) -> HTTPResponse:
        """The function's executions."""
        assert isinstance(parsed_route, ListDurableExecutionsByFunctionRoute)  # noqa: S101 - it is registered so
        name, _ = _named(parsed_route.function_name)
        return super().handle(replace(parsed_route, function_name=name), request)


class _Handler(RequestHandler):
    """One connection: invocations are answered here, all else by the engine."""

    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        match = _INVOCATION.fullmatch(urlsplit(self.path).path)
        if match is None:
            super().do_POST()
            return
        try:
            self._invoked(unquote(match[1]))
        except AwsApiException as exc:
            self._send_response(HTTPResponse.create_error_from_exception(exc))

    def _invoked(self, identifier: str) -> None:
        function, qualifier = self._function(identifier)
        payload = self._payload()
        kind = self.headers.get("X-Amz-Invocation-Type", "RequestResponse")
        if kind == "DryRun":
            self._reply(HTTPStatus.NO_CONTENT)
            return
        started = self._start(function, qualifier, payload)
        if kind == "Event":
            self._reply(HTTPStatus.ACCEPTED, started)
        else:
            self._reply_with_outcome(started)

    def _function(self, identifier: str) -> tuple[Function, str]:
        """The durable function that is meant, and its qualifier."""
        name, qualifier = _named(identifier)
        asked = parse_qs(urlsplit(self.path).query).get("Qualifier")
        qualifier = asked[0] if asked else qualifier
        function = self.server.template.functions.get(name)
        if function is None or qualifier not in (None, LATEST, function.alias):
            raise ResourceNotFoundException(f"Function not found: {name}:{qualifier}")
        if function.durable is None:
            raise InvalidParameterValueException(f"the local stack invokes durable functions only, which {name} is not")
        if qualifier is None:
            raise InvalidParameterValueException("You cannot invoke a durable function using an unqualified ARN.")
        return function, qualifier

    def _payload(self) -> str:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null"
        try:
            json.loads(body)
            return body.decode()
        except ValueError as exc:
            message = "Could not parse request body into json"
            raise _LambdaError("InvalidRequestContentException", HTTPStatus.BAD_REQUEST, message) from exc

    def _start(self, function: Function, qualifier: str, payload: str) -> Started:
        name = self.headers.get("X-Amz-Durable-Execution-Name") or str(uuid.uuid4())
        if not _NAME.fullmatch(name):
            raise InvalidParameterValueException(f"DurableExecutionName must match {_NAME.pattern}")
        try:
            return self.server.executions.start(function, qualifier, name, payload)
        except NameTakenError as exc:
            message = f"the execution {name} was started with another payload"
            raise _LambdaError("DurableExecutionAlreadyStartedException", HTTPStatus.CONFLICT, message) from exc

    def _reply_with_outcome(self, started: Started) -> None:
        try:
            execution = started.closed.result()
        except CancelledError as exc:
            raise ServiceException("the stack is going down") from exc
        failed = execution.close_status is not ExecutionStatus.SUCCEEDED
        told = {"X-Amz-Function-Error": "Unhandled"} if failed else {}
        self._reply(HTTPStatus.OK, started, _outcome(execution), told)

    def _reply(
        self, status: HTTPStatus, started: Started | None = None, body: bytes = b"", more: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        arn = {"X-Amz-Durable-Execution-Arn": started.arn} if started else {}
        for name, value in ({"X-Amz-Executed-Version": LATEST} | arn | (more or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _send_response(self, response: HTTPResponse) -> None:
        # SDKs take an error's code from this header; without it they see nothing but the status.
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            code = str(response.body.get("Type", "ServiceException"))
            response = replace(response, headers=response.headers | {"x-amzn-errortype": code})
        super()._send_response(response)


def _named(identifier: str) -> tuple[str, str | None]:
    """Name and qualifier from a function's name, ARN or partial ARN."""
    match = _FUNCTION.fullmatch(identifier)
    if match is None:
        raise InvalidParameterValueException(f"{identifier!r} names no function")
    return match[1], match[2]


def _outcome(execution: Execution) -> bytes:
    result = execution.result
    if result and result.error:
        error = {"errorType": result.error.type, "errorMessage": result.error.message}
        return json.dumps(error | {"stackTrace": result.error.stack_trace or []}).encode()
    return (result.result if result and result.result is not None else "null").encode()
