"""Convert HTTP requests to API Gateway's events (payload format 2.0), and functions' results to HTTP responses. Pure.

Field names, and which fields are absent, follow AWS: what a request does not have is omitted from its event, except for
the authorizer's scopes, which are null.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote

from local.errors import LocalError
from local.gateway.routing import RouteMatch

API_ID = "local"
Pairs = Sequence[tuple[str, str]]

_TEXT = re.compile(r"text/.*|application/(.*[+/])?(json|xml|javascript)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Newer versions of Python use another phrase than AWS.
_PHRASES = {HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Request Entity Too Large"}
# Headers of the connection, not of the message: the gateway sets them.
_CONNECTION_HEADERS = {"connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class MalformedResponseError(LocalError):
    """API Gateway cannot build a response from the function's result."""


@dataclass(frozen=True)
class HttpRequest:
    """A request as it was sent: path and query percent-encoded, headers in their order."""

    method: str
    path: str
    query: str
    headers: Pairs
    body: bytes
    source_ip: str

    def header(self, name: str) -> str:
        """Return all values of a header, joined by commas; empty if the header is missing."""
        return ",".join(value for each, value in self.headers if each.lower() == name)


@dataclass(frozen=True)
class HttpResponse:
    """A response, without the headers of the connection."""

    status: int
    headers: Pairs
    body: bytes


def build_gateway_response(status: HTTPStatus, headers: Pairs = ()) -> HttpResponse:
    """Return a response of API Gateway itself, such as `{"message":"Not Found"}`."""
    body = json.dumps({"message": _PHRASES.get(status, status.phrase)}, separators=(",", ":")).encode()
    return HttpResponse(status, [("content-type", "application/json"), *headers], body)


def build_event(
    request: HttpRequest, match: RouteMatch, claims: Mapping[str, Any] | None, request_id: str, time: datetime
) -> dict[str, Any]:
    """Return the event to invoke the route's function with; `claims` are None for a route without a token."""
    body, encoded = _encode_body(request)
    event = {
        "version": "2.0",
        "routeKey": match.route.key,
        "rawPath": unquote(request.path),
        "rawQueryString": request.query,
        "cookies": [part.strip() for part in request.header("cookie").split(";") if part.strip()],
        "headers": _join_values((name.lower(), value) for name, value in request.headers if name.lower() != "cookie"),
        "queryStringParameters": _join_values(parse_qsl(request.query, keep_blank_values=True)),
        "requestContext": _build_context(request, match, claims, request_id, time),
        "pathParameters": dict(match.variables),
        "body": body,
    }
    optional = ("cookies", "queryStringParameters", "pathParameters", "body")
    return {key: value for key, value in event.items() if value or key not in optional} | {"isBase64Encoded": encoded}


def _build_context(
    request: HttpRequest, match: RouteMatch, claims: Mapping[str, Any] | None, request_id: str, time: datetime
) -> dict[str, Any]:
    return {
        "accountId": "123456789012",
        "apiId": API_ID,
        **({} if claims is None else {"authorizer": _build_authorizer(claims)}),
        "domainName": request.header("host"),
        "domainPrefix": request.header("host").partition(".")[0],
        "http": {
            "method": request.method,
            "path": unquote(request.path),
            "protocol": "HTTP/1.1",
            "sourceIp": request.source_ip,
            "userAgent": request.header("user-agent"),
        },
        "requestId": request_id,
        "routeKey": match.route.key,
        "stage": "$default",
        "time": _format_clf(time),
        "timeEpoch": int(time.timestamp() * 1000),
    }


def _build_authorizer(claims: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: _format_claim(value) for name, value in claims.items() if value is not None}
    return {"jwt": {"claims": given, "scopes": None}}


def _join_values(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: ",".join(each) for name, each in values.items()}


def _encode_body(request: HttpRequest) -> tuple[str, bool]:
    """Return the body, and whether it is base64; only a body with a text content type is passed as text."""
    kind = request.header("content-type").partition(";")[0].strip().lower()
    if _TEXT.fullmatch(kind) and not request.header("content-encoding"):
        try:
            return request.body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(request.body).decode(), bool(request.body)


def _format_claim(value: Any) -> str:
    """Return a claim as a string, which all claims are in an event; the items of a list are in brackets."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{' '.join(_format_claim(item) for item in value)}]"
    return str(value)


def _format_clf(time: datetime) -> str:
    """Return a time in the Common Log Format, independent of the locale."""
    at = time.astimezone(UTC)
    return f"{at.day:02}/{_MONTHS[at.month - 1]}/{at.year}:{at:%H:%M:%S} +0000"


def build_response(result: Any) -> HttpResponse:
    """Return the response for a function's result; raise MalformedResponseError if it is invalid.

    A result without a status code is the body of a 200. `multiValueHeaders` belong to format 1.0 and are ignored.
    """
    if not isinstance(result, dict) or "statusCode" not in result:
        return HttpResponse(HTTPStatus.OK, [("content-type", "application/json")], json.dumps(result).encode())
    headers = [(str(name).lower(), _format_value(value)) for name, value in (result.get("headers") or {}).items()]
    if not any(name == "content-type" for name, _ in headers):
        headers.append(("content-type", "text/plain;charset=UTF-8"))
    headers += [("set-cookie", _format_value(cookie)) for cookie in result.get("cookies") or ()]
    kept = [(name, value) for name, value in headers if name not in _CONNECTION_HEADERS]
    if not all(_HEADER_NAME.fullmatch(name) for name, _ in kept):
        raise MalformedResponseError("a header has an invalid name")
    return HttpResponse(_parse_status(result["statusCode"]), kept, _decode_body(result))


def _parse_status(value: Any) -> int:
    try:
        status = int(value)
    except (TypeError, ValueError) as exc:
        raise MalformedResponseError(f"statusCode must be a number, not {value!r}") from exc
    if not 200 <= status <= 599:
        raise MalformedResponseError(f"statusCode must be from 200 to 599, not {status}")
    return status


def _decode_body(result: Mapping[str, Any]) -> bytes:
    body = result.get("body") or ""
    if not isinstance(body, str):
        raise MalformedResponseError("the body must be a string")
    try:
        return base64.b64decode(body, validate=True) if result.get("isBase64Encoded") else body.encode()
    except (binascii.Error, ValueError) as exc:
        raise MalformedResponseError("the body is not valid base64") from exc


def _format_value(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.isprintable():
        raise MalformedResponseError("a header's value contains a line break or another control character")
    return text
