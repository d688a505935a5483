"""The part of Lambda's API that durable functions need.

Guaranteed: Lambda's rules for starting an execution. A qualifier is required, an execution name belongs to one payload,
`Event` responds at once and `RequestResponse` when the execution has ended. The testing engine's handlers serve all
other operations, from checkpoints to history. Errors carry the code that SDKs read.
Differences from AWS: only durable functions can be invoked, versions are not published, and the size of payloads is not
limited.
"""

from __future__ import annotations

import json
import re
import socket
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

from local.lambda_runtime.durable_engine import LATEST
from local.lambda_runtime.durable_executions import DurableExecutions, ExecutionAlreadyStartedError, StartedExecution
from local.services.http_server import HangingUpServer
from local.template.model import Function
from local.template.reader import Template

_INVOCATION = re.compile(r"/2015-03-31/functions/([^/]+)/invocations")
_FUNCTION_ID = re.compile(
    r"(?:arn:[a-z-]+:lambda:)?(?:[a-z-]+-\d:)?(?:\d{12}:)?(?:function:)?([a-zA-Z0-9-_]+)(?::(\$LATEST|[a-zA-Z0-9-_]+))?"
)
_EXECUTION_NAME = re.compile(r"[a-zA-Z0-9-_]{1,64}")
_IDLE_SECONDS = 60.0


class LambdaApi:
    """Responds on a listening socket, which it closes in the end."""

    def __init__(self, template: Template, listener: socket.socket, executions: DurableExecutions) -> None:
        self._server = _Server(template, listener, executions)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="lambda-api")
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait for the requests in progress; `DurableExecutions.release` must have been called."""
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()


class _LambdaError(AwsApiException):
    """An error of Lambda's API that the engine has no class for."""

    def __init__(self, code: str, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.code, self.http_status_code, self.message = code, status, message

    def to_dict(self) -> dict[str, Any]:
        """Return the body of the error response."""
        return {"Type": self.code, "message": self.message}


class _Server(WebServer, HangingUpServer):
    """The engine's server without its constructor, which configures this process's root logger."""

    # Its threads are joined when it closes.
    daemon_threads = False

    def __init__(self, template: Template, listener: socket.socket, executions: DurableExecutions) -> None:
        self.template = template
        super(WebServer, self).__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.executions = executions
        self.executor = executions.executor
        self.router = Router()
        self.endpoint_handlers = self._create_endpoint_handlers()
        # This handler starts executions without checking their names.
        del self.endpoint_handlers[StartExecutionRoute]
        self.endpoint_handlers[ListDurableExecutionsByFunctionRoute] = _ListByFunction(self.executor)


class _ListByFunction(ListDurableExecutionsByFunctionHandler):
    """The engine's handler, which compares function names only, extended to accept ARNs."""

    def handle(self, parsed_route: Route, request: HTTPRequest) -> HTTPResponse:
        """Return the function's executions."""
        assert isinstance(parsed_route, ListDurableExecutionsByFunctionRoute)  # noqa: S101 - its only route
        name, _ = _parse_function_id(parsed_route.function_name)
        return super().handle(replace(parsed_route, function_name=name), request)


class _Handler(RequestHandler):
    """One connection: `Invoke` is handled here, every other operation by the engine."""

    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        match = _INVOCATION.fullmatch(urlsplit(self.path).path)
        if match is None:
            super().do_POST()
            return
        try:
            self._invoke(unquote(match[1]))
        except AwsApiException as exc:
            self._send_response(HTTPResponse.create_error_from_exception(exc))

    def _invoke(self, identifier: str) -> None:
        function, qualifier = self._find_function(identifier)
        payload = self._read_payload()
        kind = self.headers.get("X-Amz-Invocation-Type", "RequestResponse")
        if kind == "DryRun":
            self._reply(HTTPStatus.NO_CONTENT)
            return
        started = self._start(function, qualifier, payload)
        if kind == "Event":
            self._reply(HTTPStatus.ACCEPTED, started)
        else:
            self._reply_when_closed(started)

    def _find_function(self, identifier: str) -> tuple[Function, str]:
        """Return the durable function that the request names, and its qualifier."""
        name, qualifier = _parse_function_id(identifier)
        query = parse_qs(urlsplit(self.path).query)
        if "Qualifier" in query:
            qualifier = query["Qualifier"][0]
        function = self.server.template.functions.get(name)
        if function is None or qualifier not in (None, LATEST, function.alias):
            raise ResourceNotFoundException(f"Function not found: {name}:{qualifier}")
        if function.durable is None:
            raise InvalidParameterValueException(
                f"{name} is not durable: the local stack invokes durable functions only"
            )
        if qualifier is None:
            raise InvalidParameterValueException("You cannot invoke a durable function using an unqualified ARN.")
        return function, qualifier

    def _read_payload(self) -> str:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null"
        try:
            json.loads(body)
            return body.decode()
        except ValueError as exc:
            message = "Could not parse request body into json"
            raise _LambdaError("InvalidRequestContentException", HTTPStatus.BAD_REQUEST, message) from exc

    def _start(self, function: Function, qualifier: str, payload: str) -> StartedExecution:
        name = self.headers.get("X-Amz-Durable-Execution-Name") or str(uuid.uuid4())
        if not _EXECUTION_NAME.fullmatch(name):
            raise InvalidParameterValueException(f"DurableExecutionName must match {_EXECUTION_NAME.pattern}")
        try:
            return self.server.executions.start(function, qualifier, name, payload)
        except ExecutionAlreadyStartedError as exc:
            message = f"the execution {name} was started with a different payload"
            raise _LambdaError("DurableExecutionAlreadyStartedException", HTTPStatus.CONFLICT, message) from exc

    def _reply_when_closed(self, started: StartedExecution) -> None:
        try:
            started.closed.result()
        except CancelledError as exc:
            raise ServiceException("the stack is stopping") from exc
        execution = self.server.executions.load(started)
        failed = execution.close_status is not ExecutionStatus.SUCCEEDED
        headers = {"X-Amz-Function-Error": "Unhandled"} if failed else {}
        self._reply(HTTPStatus.OK, started, _build_result(execution), headers)

    def _reply(
        self,
        status: HTTPStatus,
        started: StartedExecution | None = None,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        arn = {"X-Amz-Durable-Execution-Arn": started.arn} if started else {}
        for name, value in ({"X-Amz-Executed-Version": LATEST} | arn | (headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _send_response(self, response: HTTPResponse) -> None:
        # SDKs read the error code from this header; without it they see only the status.
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            code = str(response.body.get("Type", "ServiceException"))
            response = replace(response, headers=response.headers | {"x-amzn-errortype": code})
        super()._send_response(response)


def _parse_function_id(identifier: str) -> tuple[str, str | None]:
    """Return name and qualifier from a function's name, ARN or partial ARN."""
    match = _FUNCTION_ID.fullmatch(identifier)
    if match is None:
        raise InvalidParameterValueException(f"{identifier!r} is not a function name or ARN")
    return match[1], match[2]


def _build_result(execution: Execution) -> bytes:
    result = execution.result
    if result and result.error:
        error = {"errorType": result.error.type, "errorMessage": result.error.message}
        return json.dumps(error | {"stackTrace": result.error.stack_trace or []}).encode()
    return (result.result if result and result.result is not None else "null").encode()
