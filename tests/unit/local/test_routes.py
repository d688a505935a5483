"""Routes are read from the template completely, or refused; and matched as API Gateway matches them."""

from __future__ import annotations

from typing import Any

import pytest

from local.errors import TemplateError
from local.gateway.routing import find_route
from local.template.model import ApiRoute
from local.template.routes import parse_api_route

ROUTES = [
    ApiRoute("F", method, path)
    for method, path in (
        ("GET", "/things"),
        ("GET", "/things/{id}"),
        ("GET", "/things/newest"),
        ("GET", "/{kind}/newest"),
        ("PATCH", "/things/{id}"),
        ("GET", "/things/{id}/parts/{part}"),
        ("GET", "/pages/"),
        ("GET", "/pages/{rest+}"),
        ("GET", "/pages/{id}/newest"),
    )
]


@pytest.mark.parametrize(
    ("method", "path", "key", "variables"),
    [
        ("GET", "/things", "GET /things", {}),
        ("GET", "/things/7", "GET /things/{id}", {"id": "7"}),
        ("PATCH", "/things/newest", "PATCH /things/{id}", {"id": "newest"}),
        ("GET", "/things/newest", "GET /things/newest", {}),
        ("GET", "/files/newest", "GET /{kind}/newest", {"kind": "files"}),
        ("GET", "/pages/", "GET /pages/", {}),
        ("GET", "/pages/a", "GET /pages/{rest+}", {"rest": "a"}),
        ("GET", "/pages/a/b%2Fc/", "GET /pages/{rest+}", {"rest": "a/b/c/"}),
        ("GET", "/pages/a/newest", "GET /pages/{id}/newest", {"id": "a"}),
        ("GET", "/things/a%2Fb%20c/parts/%C3%BC", "GET /things/{id}/parts/{part}", {"id": "a/b c", "part": "ü"}),
    ],
)
def test_the_most_specific_route_answers(method: str, path: str, key: str, variables: dict[str, str]) -> None:
    match = find_route(ROUTES, method, path)
    assert match is not None
    assert (match.route.key, match.variables) == (key, variables)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("GET", path) for path in ("/", "", "/thing", "/things/", "//things", "/things/7/", "/things//parts/1")),
        *(("GET", path) for path in ("/Things", "/things/7/parts", "/pages", "http://host/things", "*")),
        *((method, "/things") for method in ("POST", "HEAD", "OPTIONS", "get", "")),
    ],
)
def test_what_no_route_names_is_not_found(method: str, path: str) -> None:
    assert find_route(ROUTES, method, path) is None


def test_only_the_files_of_the_console_need_no_token() -> None:
    properties = {"ApiId": {"Ref": "Api"}, "Method": "GET", "Auth": {"Authorizer": "NONE"}}
    route = parse_api_route("Console", "Console.Page", properties | {"Path": "/console/{page+}"}, ["Api"])
    assert route == ApiRoute("Console", "GET", "/console/{page+}", is_open=True)
    for path, method in (("/console/{page+}", "POST"), ("/consoles", "GET"), ("/cases", "GET")):
        with pytest.raises(TemplateError, match="Auth"):
            parse_api_route("Console", "Console.Page", properties | {"Path": path, "Method": method}, ["Api"])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"ApiId": None}, "open to the public"),
        ({"ApiId": {"Ref": "Other"}}, "Other"),
        ({"ApiId": "abc"}, "reference"),
        ({"Method": "ANY"}, "ANY"),
        ({"Method": None}, "Method"),
        ({"Path": "/{proxy+}/things"}, "proxy"),
        ({"Path": "$default"}, "default"),
        ({"Path": "things"}, "things"),
        ({"Auth": {"Authorizer": "NONE"}}, "Auth"),
        ({"TimeoutInMillis": 1000}, "TimeoutInMillis"),
        ({"PayloadFormatVersion": "1.0"}, "PayloadFormatVersion"),
    ],
)
def test_a_route_that_would_be_open_or_different_is_refused(changes: dict[str, Any], named: str) -> None:
    properties = {"ApiId": {"Ref": "Api"}, "Method": "get", "Path": "/things/{id}"}
    assert parse_api_route("Worker", "Worker.Route", properties, ["Api"]) == ApiRoute("Worker", "GET", "/things/{id}")
    given = {name: value for name, value in (properties | changes).items() if value is not None}
    with pytest.raises(TemplateError, match=named):
        parse_api_route("Worker", "Worker.Route", given, ["Api"])
