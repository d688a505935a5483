"""What `make check` asks of a template: no route that anybody could call, and the linter's word for every region."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from botocore.session import get_session

from tools.check_template import _cfn_lint, list_open_routes


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


def test_every_kind_of_region_that_the_documents_name_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def run(*arguments: str) -> CompletedProcess[str]:
        called.extend(arguments)
        return CompletedProcess(arguments, 0, "", "")

    monkeypatch.setattr("tools.check_template._run", run)
    assert _cfn_lint(Path("template.yaml")) == ""
    regions = called[called.index("--regions") + 1 : called.index("--format")]
    assert {get_session().get_partition_for_region(region) for region in regions} == {"aws", "aws-us-gov"}
    assert {region.partition("-")[0] for region in regions} >= {"us", "eu", "ap"}
