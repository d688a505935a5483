"""Every list that can be read backwards gives the same pages on the way back, and in reverse order."""

from __future__ import annotations

from typing import Any

import pytest

from tests.torture.access.openapi_places import places
from tests.torture.access.paged_lists import lists_of
from tests.torture.access.tenants import SHARED_DEVICE, done
from tests.torture.access.two_tenants import Matrix

pytestmark = pytest.mark.slow

# Of other parts of the API: from line to line of a file, or by the numbers of documents.
ONE_WAY = {
    "GET /activities",
    "GET /bates-prefixes",
    "GET /devices",
    "GET /exhibits/keys",
    "GET /exhibits/{exhibitId}/files",
    "GET /imports/{importId}/rejected-rows",
    "GET /productions/{productionId}/files",
    "GET /imports/{importId}/rejections",
    "GET /imports/{importId}/warnings",
    "GET /imports/{importId}/findings",
}


def test_lists_are_read_both_ways() -> None:
    known = places()
    lists = {route for route, named in known.items() if "query:after" in named}
    assert {route for route in lists if "query:before" not in known[route]} <= ONE_WAY


def test_each_list_gives_the_same_pages_on_the_way_back(matrix: Matrix) -> None:
    for route, values in lists_of(matrix.ours, SHARED_DEVICE).items():
        if "query:before" in places()[route]:
            _compare(matrix, route, {name: value for name, value in values.items() if name != "query:limit"})


def _compare(matrix: Matrix, route: str, values: dict[str, Any]) -> None:
    def read(**more: Any) -> Any:
        return done(matrix.ours, route, {**values, **{f"query:{name}": value for name, value in more.items()}})

    whole = read(limit=500)
    assert (whole["next"], whole["prev"]) == (None, None)
    orders = [read(limit=500, order=order)["items"] for order in ("asc", "desc")]
    assert orders[0] == orders[1][::-1], route
    assert whole["items"] in orders
    if "total" in whole:
        assert whole["total"] is None
        assert read(limit=1, count="true")["total"] == len(whole["items"]), route
    page = read(limit=1)
    there = [page["items"]]
    while page["next"]:
        page = read(limit=1, after=page["next"])
        there.append(page["items"])
    back = [page["items"]]
    while page["prev"]:
        page = read(limit=1, before=page["prev"])
        back.append(page["items"])
    assert [item for items in there for item in items] == whole["items"], route
    assert back == there[::-1], route
    assert len(there) > 1, route
