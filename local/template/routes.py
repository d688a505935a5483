"""The routes of the HTTP API: read from a function's HttpApi events, and matched as API Gateway matches them.

Pure. A route that would be open, or that rests on what is not imitated, raises TemplateError.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from local.errors import TemplateError
from local.intrinsics import target_of
from local.wiring import ApiRoute

_METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
_KNOWN = {"ApiId", "Method", "Path"}
_PATH = re.compile(r"(/([\w.~-]+|\{\w+\}))+")


def api_route(function: str, label: str, properties: Mapping[str, Any], apis: Iterable[str]) -> ApiRoute:
    """A function's HttpApi event -> its route; `apis` are the template's HTTP APIs."""
    unknown = sorted(properties.keys() - _KNOWN)
    if unknown:
        raise TemplateError(f"{label}: the local stack does not imitate {unknown[0]}")
    if "ApiId" not in properties:
        raise TemplateError(f"{label} names no ApiId: SAM would make an API of its own for it, open to everybody")
    if (api := target_of(properties["ApiId"])) not in apis:
        raise TemplateError(f"{label}: {api} is no HTTP API of this template")
    method, path = str(properties.get("Method")).upper(), str(properties.get("Path"))
    if method not in _METHODS:
        raise TemplateError(f"{label}: the local stack does not imitate Method {method}")
    if not _PATH.fullmatch(path):
        raise TemplateError(f"{label}: the local stack does not imitate Path {path}")
    return ApiRoute(function, method, path)


@dataclass(frozen=True)
class Match:
    """A route, and what its variables stand for, percent-decoded."""

    route: ApiRoute
    variables: Mapping[str, str]


def find_route(routes: Iterable[ApiRoute], method: str, path: str) -> Match | None:
    """The most specific route for a method and a path as it was sent; None where there is none.

    A part that is spelled out wins over a variable, from the left; no part is empty, so `/imports/` is not `/imports`.
    """
    sent = tuple(unquote(part) for part in path.split("/")[1:])
    found = [route for route in routes if route.method == method and _fits(route.segments, sent)]
    if not found:
        return None
    best = min(found, key=lambda route: [_is_variable(part) for part in route.segments])
    pairs = zip(best.segments, sent, strict=True)
    return Match(best, {part[1:-1]: value for part, value in pairs if _is_variable(part)})


def _fits(route: tuple[str, ...], sent: tuple[str, ...]) -> bool:
    if len(route) != len(sent):
        return False
    return all(value and (_is_variable(part) or part == value) for part, value in zip(route, sent, strict=True))


def _is_variable(part: str) -> bool:
    return part.startswith("{")
