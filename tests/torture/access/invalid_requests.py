"""What an unkind client makes of a request. Depends on seeds alone.

Nothing here imports the application: a request is what goes over the wire.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 1.5, 1e308, 10**40, -(2**63), 2**53, "", " ", "x", "\0", "a\0b", "\ud800", "😀"),
    *("x" * 256, "x" * 5_000, "é", "e\u0301", "\u202e", "'; DROP TABLE exhibits; --", "%s", "../..", "__proto__"),
    *("null", "1", "1e5", "NaN", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2026-02-30T00:00:00Z"),
    *("2026-11-21T15:00:00", "2026-11-21T15:00:00+99:99", [], [[]], {}, {"a": 1}, [1, 2], ["x"], [None] * 2_000),
    {"__class__": {"x": 1}},
)
TEXTS = tuple(each for each in JUNK if isinstance(each, str) and each != "\ud800")
NAMES = ("tenantId", "__proto__", "__class__", "constructor", "id", "version", "", "case\0", "Case", "userId")
KEYS = ("", '""', " ", "k" * 256, "k" * 20_000, "é", "a\tb", '"a', "a, b", "*", "\x7f")
VERSIONS = ("", "*", "1", '"1', '"x"', 'W/"1"', '"1", "2"', '"-1"', '"1e3"', '"' + "9" * 400 + '"')
KINDS = ("text/plain", "", "application/json; charset=utf-16", "application/xml", "x/y;z")
HEADERS = (
    *(("Idempotency-Key", key) for key in KEYS),
    *(("If-Match", version) for version in VERSIONS),
    *(("content-type", kind) for kind in KINDS),
    *(("If-None-Match", "*"), ("X-HTTP-Method-Override", "DELETE"), ("x-tenant-id", "other"), ("accept", "\0")),
)
IDS = ("0", "-1", "1e3", "9" * 30, "01", "%00", "..", "%2e%2e", "1%2F2", "😀", "null", "1;2", "1'--", " 1", "x" * 2_000)


@dataclass(frozen=True)
class Request:
    """A request: query without its question mark, headers as they are sent."""

    method: str
    path: str
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


def damaged(rng: random.Random, request: Request) -> Request:
    """The request with one to three things done to it."""
    for damage in rng.choices(DAMAGES, weights=[5, 3, 2, 2, 3], k=rng.choice((1, 1, 2, 3))):
        request = damage(rng, request)
    return request


def _body(rng: random.Random, request: Request) -> Request:
    """Another value, name or shape somewhere in the JSON."""
    try:
        value = json.loads(request.body)
    except (ValueError, RecursionError):
        return replace(request, body=json.dumps(rng.choice(JUNK)).encode())
    return replace(request, body=json.dumps(_changed(rng, value)).encode())


def _changed(rng: random.Random, value: Any) -> Any:
    if rng.random() < 0.15 or not isinstance(value, (dict, list)) or not value:
        return rng.choice(JUNK)
    if isinstance(value, list):
        at = rng.randrange(len(value))
        return rng.choice(([*value, *value], value[:-1], [*value[:at], _changed(rng, value[at]), *value[at + 1 :]]))
    name = rng.choice(list(value))
    left = {each: value[each] for each in value if each != name}
    return rng.choice(
        (left, {**value, rng.choice(NAMES): rng.choice(JUNK)}, {**left, name: _changed(rng, value[name])})
    )


def _bytes(rng: random.Random, request: Request) -> Request:
    """Other bytes, or other JSON than there ought to be."""
    body = request.body or b"{}"
    at = rng.randrange(len(body) + 1)
    pieces = (b"\xff", b"\0", b'"', b"{", b"}", b",", b"\\ud800", b"1e999", b"NaN", b"//", b"[" * 3_000)
    twice = body.replace(b"{", b'{"case": 1, "case": 2, ', 1)
    changed = (body[:at], body[:at] + rng.choice(pieces) + body[at:], b"\xef\xbb\xbf" + body, body + body, twice)
    return replace(request, body=rng.choice((*changed, json.loads('"\\u0000"').encode(), rng.randbytes(20))))


def _query(rng: random.Random, request: Request) -> Request:
    """Parameters that are unknown, there twice, or of another kind."""
    name = rng.choice(("limit", "after", "case", "status", "deviceId", "from", "tenantId", "", "__proto__"))
    value = rng.choice((*map(quote, TEXTS), "%", "%zz", "%ff", "a&b", "a=b", "1&limit=2", "+", "0", "501"))
    return replace(request, query="&".join(filter(None, (request.query, f"{name}={value}"))))


def _path(rng: random.Random, request: Request) -> Request:
    """Another id, or a path that nearly is one."""
    parts = request.path.split("/")
    places = [at for at, part in enumerate(parts) if part.isdigit()] or [len(parts) - 1]
    parts[rng.choice(places)] = rng.choice(IDS)
    path = "/".join(parts)
    return replace(request, path=rng.choice((path, path, path, request.path + "/", "/" + request.path)))


def _header(rng: random.Random, request: Request) -> Request:
    """A header that is missing, another, or there twice."""
    name, value = rng.choice(HEADERS)
    others = tuple(each for each in request.headers if each[0].lower() != name.lower())
    return replace(request, headers=rng.choice((others, (*others, (name, value)), (*request.headers, (name, value)))))


DAMAGES: tuple[Callable[[random.Random, Request], Request], ...] = (_body, _bytes, _query, _path, _header)
