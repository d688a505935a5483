"""Match requests to routes as API Gateway does. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from local.template.model import ApiRoute

_GREEDY = 2


@dataclass(frozen=True)
class RouteMatch:
    """A route and the values of its path variables, percent-decoded."""

    route: ApiRoute
    variables: Mapping[str, str]


def find_route(routes: Iterable[ApiRoute], method: str, path: str) -> RouteMatch | None:
    """Return the most specific route for a method and a percent-encoded path, or None if none matches.

    From the left, a literal segment wins over a variable, and a variable over a greedy one. Only the last segment of a
    route can be empty, so `/imports/` is not `/imports`.
    """
    segments = tuple(unquote(part) for part in path.split("/")[1:])
    found = [route for route in routes if route.method == method and _matches(route.segments, segments)]
    if not found:
        return None
    best = min(found, key=lambda route: [_rank(part) for part in route.segments])
    pairs = zip(best.segments, _join_rest(best.segments, segments), strict=True)
    return RouteMatch(best, {part[1:-1].rstrip("+"): value for part, value in pairs if _rank(part)})


def _matches(route: tuple[str, ...], path: tuple[str, ...]) -> bool:
    parts = _join_rest(route, path)
    return len(route) == len(parts) and all(
        value != "" if _rank(part) else part == value for part, value in zip(route, parts, strict=True)
    )


def _join_rest(route: tuple[str, ...], path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the segments of the path; those from a greedy variable on are one."""
    last = len(route) - 1
    return (*path[:last], "/".join(path[last:])) if _rank(route[last]) == _GREEDY and len(path) > last else path


def _rank(part: str) -> int:
    """Return 0 for a literal segment, 1 for a variable, 2 for a greedy one."""
    if not part.startswith("{"):
        return 0
    return _GREEDY if part.endswith("+}") else 1
