"""Match requests to routes as API Gateway does. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from local.template.model import ApiRoute


@dataclass(frozen=True)
class RouteMatch:
    """A route and the values of its path variables, percent-decoded."""

    route: ApiRoute
    variables: Mapping[str, str]


def find_route(routes: Iterable[ApiRoute], method: str, path: str) -> RouteMatch | None:
    """Return the most specific route for a method and a percent-encoded path, or None if none matches.

    From the left, a literal segment wins over a variable. No segment is empty, so `/imports/` is not `/imports`.
    """
    segments = tuple(unquote(part) for part in path.split("/")[1:])
    found = [route for route in routes if route.method == method and _matches(route.segments, segments)]
    if not found:
        return None
    best = min(found, key=lambda route: [_is_variable(part) for part in route.segments])
    pairs = zip(best.segments, segments, strict=True)
    return RouteMatch(best, {part[1:-1]: value for part, value in pairs if _is_variable(part)})


def _matches(route: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if len(route) != len(path):
        return False
    return all(value and (_is_variable(part) or part == value) for part, value in zip(route, path, strict=True))


def _is_variable(part: str) -> bool:
    return part.startswith("{")
