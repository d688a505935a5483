"""HTTP -> API Gateway's event (payload format 2.0), and a function's answer -> HTTP. Pure.

Fields, their spelling and their absence are AWS's: what a request does not have is left out of its event, except the
authorizer's scopes, which are null.
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

from local.api_routes import Match
from local.errors import LocalError

API_ID = "local"
Pairs = Sequence[tuple[str, str]]

_TEXT = re.compile(r"text/.*|application/(.*[+/])?(json|xml|javascript)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Newer Pythons say it otherwise than AWS.
_PHRASES = {HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Request Entity Too Large"}
# About the connection and not the message: these are the gateway's own.
_OURS = {"connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class MalformedAnswerError(LocalError):
    """A function answered what API Gateway cannot make a response of."""


@dataclass(frozen=True)
class HttpRequest:
    """A request as it was sent; path and query still percent-encoded, headers in their order."""

    method: str
    path: str
    query: str
    headers: Pairs
    body: bytes
    source_ip: str

    def header(self, name: str) -> str:
        """All values of a header, joined by commas; empty where there is none."""
        return ",".join(value for each, value in self.headers if each.lower() == name)


@dataclass(frozen=True)
class HttpAnswer:
    """A response; headers without those of the connection."""

    status: int
    headers: Pairs
    body: bytes


def plain_answer(status: HTTPStatus, headers: Pairs = ()) -> HttpAnswer:
    """What API Gateway says by itself: `{"message":"Not Found"}`."""
    body = json.dumps({"message": _PHRASES.get(status, status.phrase)}, separators=(",", ":")).encode()
    return HttpAnswer(status, [("content-type", "application/json"), *headers], body)


def event_of(
    request: HttpRequest, match: Match, claims: Mapping[str, Any], request_id: str, moment: datetime
) -> dict[str, Any]:
    """The event that the route's function is invoked with."""
    body, encoded = _body(request)
    event = {
        "version": "2.0",
        "routeKey": match.route.key,
        "rawPath": unquote(request.path),
        "rawQueryString": request.query,
        "cookies": [part.strip() for part in request.header("cookie").split(";") if part.strip()],
        "headers": _joined((name.lower(), value) for name, value in request.headers if name.lower() != "cookie"),
        "queryStringParameters": _joined(parse_qsl(request.query, keep_blank_values=True)),
        "requestContext": _context(request, match, claims, request_id, moment),
        "pathParameters": dict(match.variables),
        "body": body,
    }
    optional = ("cookies", "queryStringParameters", "pathParameters", "body")
    return {key: value for key, value in event.items() if value or key not in optional} | {"isBase64Encoded": encoded}


def _context(
    request: HttpRequest, match: Match, claims: Mapping[str, Any], request_id: str, moment: datetime
) -> dict[str, Any]:
    return {
        "accountId": "123456789012",
        "apiId": API_ID,
        "authorizer": {
            "jwt": {
                "claims": {name: _claim(value) for name, value in claims.items() if value is not None},
                "scopes": None,
            }
        },
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
        "time": _clf(moment),
        "timeEpoch": int(moment.timestamp() * 1000),
    }


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: ",".join(each) for name, each in values.items()}


def _body(request: HttpRequest) -> tuple[str, bool]:
    """The body, and whether it is base64: only what says that it is text is passed as text."""
    kind = request.header("content-type").partition(";")[0].strip().lower()
    if _TEXT.fullmatch(kind) and not request.header("content-encoding"):
        try:
            return request.body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(request.body).decode(), bool(request.body)


def _claim(value: Any) -> str:
    """Every claim is a string to the function; lists stand in brackets."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{' '.join(_claim(item) for item in value)}]"
    return str(value)


def _clf(moment: datetime) -> str:
    """The common log format, whatever the locale's names of months."""
    at = moment.astimezone(UTC)
    return f"{at.day:02}/{_MONTHS[at.month - 1]}/{at.year}:{at:%H:%M:%S} +0000"


def answer_of(result: Any) -> HttpAnswer:
    """What a function returned -> the response; raises MalformedAnswerError.

    Without a status code the whole result is the body of a 200. `multiValueHeaders` belong to format 1.0 and are
    passed over.
    """
    if not isinstance(result, dict) or "statusCode" not in result:
        return HttpAnswer(HTTPStatus.OK, [("content-type", "application/json")], json.dumps(result).encode())
    headers = [(str(name).lower(), _text(value)) for name, value in (result.get("headers") or {}).items()]
    if not any(name == "content-type" for name, _ in headers):
        headers.append(("content-type", "text/plain;charset=UTF-8"))
    headers += [("set-cookie", _text(cookie)) for cookie in result.get("cookies") or ()]
    kept = [(name, value) for name, value in headers if name not in _OURS]
    if not all(_HEADER_NAME.fullmatch(name) for name, _ in kept):
        raise MalformedAnswerError("a header's name is none")
    return HttpAnswer(_status(result["statusCode"]), kept, _answer_body(result))


def _status(value: Any) -> int:
    try:
        status = int(value)
    except (TypeError, ValueError) as exc:
        raise MalformedAnswerError(f"statusCode is no number: {value!r}") from exc
    if not 200 <= status <= 599:
        raise MalformedAnswerError(f"statusCode {status} is none")
    return status


def _answer_body(result: Mapping[str, Any]) -> bytes:
    body = result.get("body") or ""
    if not isinstance(body, str):
        raise MalformedAnswerError("the body is no text")
    try:
        return base64.b64decode(body, validate=True) if result.get("isBase64Encoded") else body.encode()
    except (binascii.Error, ValueError) as exc:
        raise MalformedAnswerError("the body is no base64") from exc


def _text(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.isprintable():
        raise MalformedAnswerError("a header's value has a line end, or what is no text")
    return text
