"""The part of `make check` that no linter knows: a route that anybody could call is found."""

from __future__ import annotations

from typing import Any

import pytest

from tools.check_template import list_open_routes


def transformed(**operation: Any) -> dict[str, Any]:
    """What SAM makes of an API with one route, as far as `list_open_routes` looks."""
    schemes = {"Token": {"x-amazon-apigateway-authorizer": {"type": "jwt"}}, "Iam": {"type": "apiKey"}}
    document = {"components": {"securitySchemes": schemes}, "paths": {"/things": {"get": operation}}}
    return {"Resources": {"Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Body": document}}}}


@pytest.mark.parametrize(
    "document",
    [
        transformed(),
        transformed(security=[]),
        transformed(security=[{"NONE": []}]),
        transformed(security=[{"Iam": []}]),
        transformed(security=[{"Token": []}, {"Iam": []}]),
        transformed(security=[{"Token": []}, {}]),
        {"Resources": {"Url": {"Type": "AWS::Lambda::Url", "Properties": {"AuthType": "NONE"}}}},
        {"Resources": {"Route": {"Type": "AWS::ApiGatewayV2::Route", "Properties": {"RouteKey": "GET /things"}}}},
    ],
)
def test_an_open_route_is_found(document: dict[str, Any]) -> None:
    assert len(list(list_open_routes(document))) == 1


def test_a_route_that_asks_for_a_token_passes() -> None:
    assert list(list_open_routes(transformed(security=[{"Token": []}]))) == []
