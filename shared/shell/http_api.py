"""How an HTTP request enters our code: who asks, what for, and which answer an error becomes.

Guaranteed: tenant and user come from the checked token's claims alone; every error is a problem document (RFC 9457)
with a name that scripts can rely on; an error that is not ours says nothing of what it met.
Not guaranteed: that the token is genuine; API Gateway's authorizer has checked it, and no route is without one. That
two requests of one process may run at once: Powertools' resolver holds the current one, and Lambda sends one at a time.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qs

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Request, Response
from aws_lambda_powertools.event_handler.depends import Depends
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestUnsupportedContentType, RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Header, Path, Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from pydantic import BaseModel

from core.contracts.common import MAX_ID, Caller, FieldProblem, Problem
from core.contracts.problems import FALLBACK, INVALID, NO_ROUTE, UNSUPPORTED, ProblemKind, kind_of
from core.contracts.queries import CaseQuery, ExhibitQuery, ImportQuery, PageQuery
from core.errors import ExhibitIngestError, StaleVersionError
from core.http_headers import ETAGS_PATTERN, KEY_PATTERN, idempotency_key
from core.idempotency import KeyedRequest
from shell.invocation import invocation_deadline, log_failure
from shell.observability import logger
from shell.settings import settings

JSON, PROBLEM = "application/json", "application/problem+json"
_JSON_TYPES = (JSON, "application/merge-patch+json")
Made = Response[str]
Handler = Callable[[dict[str, Any], Any], Any]

Id = Annotated[int, Path(ge=1, le=MAX_ID)]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern=KEY_PATTERN,
        description="A new one for every new request, at most 255 characters; the same for a repetition.",
    ),
]
Page = Annotated[PageQuery, Query()]
WhichImports = Annotated[ImportQuery, Query()]
WhichExhibits = Annotated[ExhibitQuery, Query()]
OfCase = Annotated[CaseQuery, Query()]
MaybeKey = Annotated[str | None, Header(alias="Idempotency-Key", pattern=KEY_PATTERN)]
IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", pattern=ETAGS_PATTERN, description="The ETag of the version that you are changing."),
]


@dataclass(frozen=True)
class ApiRequest:
    """A request as a route sees it."""

    caller: Caller
    route: str
    _request: Request

    def keyed(self, key: str | None) -> KeyedRequest:
        """The request under the key that its Idempotency-Key field holds.

        Its fingerprint is the same for the same method, path, query, precondition and body, whatever the order of the
        body's members or its spaces. Raises InvalidInputError for what is no key.
        """
        clean = None if key is None else idempotency_key(key)
        return KeyedRequest(self.caller.tenant_id, self.route, clean, _fingerprint(self._request))


def asked(request: Request) -> ApiRequest:
    """Who asks for what; raises ForbiddenError for a token without tenant or user."""
    context = request.resolved_event.get("requestContext") or {}
    claims = ((context.get("authorizer") or {}).get("jwt") or {}).get("claims") or {}
    caller = Caller.of_claims(claims, settings().tenant_claim)
    return ApiRequest(caller, f"{request.method} {request.route}", request)


Asked = Annotated[ApiRequest, Depends(asked)]


def http_app() -> APIGatewayHttpResolver:
    """A resolver that checks requests against their contracts and answers every error with a problem document."""
    app = APIGatewayHttpResolver(
        enable_validation=True, response_validation_error_http_code=500, json_body_deserializer=_json
    )
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(RequestUnsupportedContentType)(
        lambda _error: problem(UNSUPPORTED, "Send the body as application/json.")
    )
    app.not_found(lambda _error: problem(NO_ROUTE, "There is no such route; the OpenAPI document lists them."))
    app.exception_handler(ExhibitIngestError)(_ours)
    app.exception_handler(Exception)(_unexpected)
    return app


def http_handler(app: APIGatewayHttpResolver) -> Handler:
    """The Lambda handler of a resolver."""

    def lambda_handler(event: dict[str, Any], context: Any) -> Any:
        request_id = (event.get("requestContext") or {}).get("requestId")
        with invocation_deadline(context), logger.append_context_keys(request_id=request_id):
            refusal = _refusal(event)
            return app.resolve(_readable(event), context) if refusal is None else _as_event(refusal)

    return lambda_handler


def _refusal(event: Mapping[str, Any]) -> Response[str] | None:
    """What Powertools would take for something else: forms as JSON, the first of several values of a parameter."""
    repeated = [name for name, values in parse_qs(event.get("rawQueryString") or "").items() if len(values) > 1]
    if repeated:
        errors = [FieldProblem(location=f"query/{name[:100]}", message="it is there twice") for name in repeated[:20]]
        return problem(INVALID, "A query parameter may be given once; see `errors`.", errors=errors)
    if event.get("body") and _media_type(event) not in ("", *_JSON_TYPES):
        return problem(UNSUPPORTED, "Send the body as application/json.")
    return None


def _media_type(event: Mapping[str, Any]) -> str:
    return str((event.get("headers") or {}).get("content-type", "")).partition(";")[0].strip().lower()


def _as_event(answer: Response[str]) -> dict[str, Any]:
    headers = {"Content-Type": PROBLEM, **{name: str(value) for name, value in answer.headers.items()}}
    return {"statusCode": answer.status_code, "headers": headers, "body": answer.body, "isBase64Encoded": False}


def answers(status: int, model: type[BaseModel], *problems: int, etag: bool = False) -> dict[int, OpenAPIResponse]:
    """What a route answers, for the OpenAPI document: the model, and the problems beside those that any route has."""
    good: OpenAPIResponse = {"description": HTTPStatus(status).phrase, "content": {JSON: {"model": model}}}
    if etag:
        good["headers"] = {"ETag": {"description": "The version, for If-Match.", "schema": {"type": "string"}}}
    documents = {status: good}
    for code in sorted({400, 403, 500, 503, *problems}):
        documents[code] = {"description": HTTPStatus(code).phrase, "content": {PROBLEM: {"model": Problem}}}
    return documents


def problem(
    kind: ProblemKind,
    detail: str,
    *,
    errors: list[FieldProblem] | None = None,
    current_version: int | None = None,
    retry_after_s: int | None = None,
) -> Response[str]:
    """A problem document as an answer."""
    retry_after = kind.retry_after_s if retry_after_s is None else retry_after_s
    document = Problem(
        type=f"urn:exhibit-ingest:problem:{kind.name}",
        title=kind.title,
        status=kind.status,
        detail=detail,
        errors=errors,
        current_version=current_version,
    )
    headers: Mapping[str, Any] = {} if retry_after is None else {"Retry-After": str(retry_after)}
    body = document.model_dump_json(by_alias=True, exclude_none=True)
    return Response(kind.status, PROBLEM, body, headers=headers)


def _ours(error: ExhibitIngestError) -> Response[str]:
    kind = kind_of(error)
    if kind.status >= 500:
        log_failure(error)
    current = error.current_version if isinstance(error, StaleVersionError) else None
    detail = str(error) if kind is not FALLBACK else FALLBACK.title
    return problem(kind, detail, current_version=current, retry_after_s=getattr(error, "retry_after_s", None))


def _unexpected(error: Exception) -> Response[str]:
    log_failure(error)
    return problem(FALLBACK, "Something went wrong here; the operator finds it in the log of this request.")


def _invalid(error: RequestValidationError) -> Response[str]:
    """Where and how, but never what was sent."""
    errors = [
        FieldProblem(location="/".join(map(str, each["loc"])), message=str(each.get("msg", each["type"])))
        for each in list(error.errors())[:20]
    ]
    return problem(INVALID, "The request is not as the OpenAPI document describes it; see `errors`.", errors=errors)


def _readable(event: dict[str, Any]) -> dict[str, Any]:
    """The event with its body as text; a body that is no UTF-8 becomes one that is no JSON, and is refused as such."""
    event = {**event, "headers": {**(event.get("headers") or {}), "content-type": JSON}}
    if not event.get("isBase64Encoded"):
        return event
    try:
        body = base64.b64decode(event.get("body") or "", validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        body = "\0"
    return {**event, "isBase64Encoded": False, "body": body}


def _json(body: str) -> Any:
    """The document; one that is nested beyond all reason is as good as none."""
    try:
        return json.loads(body)
    except RecursionError as exc:
        raise json.JSONDecodeError("too deeply nested", "", 0) from exc


def _fingerprint(request: Request) -> bytes:
    """Numbers are compared as they are written: as binary fractions, different ones could be equal."""
    event = request.resolved_event
    try:
        body = json.loads(request.body or "null", parse_float=str)
    except (ValueError, RecursionError):
        # Of a route that takes no body; whatever came is a part of the request.
        body = request.body
    said = [
        *(request.method, event.get("rawPath"), event.get("rawQueryString"), event.headers.get("if-match")),
        *(json.dumps(body, sort_keys=True),),
    ]
    return hashlib.sha256(json.dumps(said).encode()).digest()
