"""The API: no route is open, users cannot choose their tenant, and the access log tells no secret."""

from __future__ import annotations

import json
import re
from typing import Any

from core.roles import NO_ROLE, Role
from tests.unit.template.conftest import OTHER_ISSUER, ROOT, Deployed, deployed_with, target
from tools.check_template import list_open_routes


def test_no_route_is_open(deployed: Deployed) -> None:
    assert list(list_open_routes({"Resources": deployed.resources})) == []
    (api,) = deployed.of_type("AWS::ApiGatewayV2::Api").values()
    (scheme,) = api["Body"]["components"]["securitySchemes"].values()
    assert scheme["x-amazon-apigateway-authorizer"]["jwtConfiguration"].keys() == {"issuer", "audience"}


def test_there_is_no_other_way_in(deployed: Deployed) -> None:
    kinds = deployed.kinds()
    apis = {kind for kind in kinds if kind.startswith(("AWS::ApiGateway", "AWS::ElasticLoadBalancing"))}
    assert apis == {"AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::Stage"}
    assert "AWS::Lambda::Url" not in kinds
    callers = {permission["Principal"] for permission in deployed.of_type("AWS::Lambda::Permission").values()}
    assert callers == {"apigateway.amazonaws.com", "events.amazonaws.com"}


def test_tokens_of_another_issuer_make_no_pool(transformed: dict[str, Any], plain: Deployed) -> None:
    pools = {"AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient", "AWS::Cognito::UserPoolGroup"}
    assert pools <= plain.kinds()
    elsewhere = deployed_with(transformed, OTHER_ISSUER)
    assert not pools & elsewhere.kinds()
    assert not re.search(r"\bUserPool(Client)?\b", str(elsewhere.resources) + str(elsewhere.outputs))


def test_users_cannot_choose_their_tenant(plain: Deployed) -> None:
    clients = plain.of_type("AWS::Cognito::UserPoolClient")
    (pool,) = plain.of_type("AWS::Cognito::UserPool").values()
    assert sorted(clients) == ["ConsoleClient", "UserPoolClient"]
    for client in clients.values():
        assert "WriteAttributes" in client, "without it, every attribute can be written"
        assert not {"custom:tenant_id", "custom:cases"} & set(client["WriteAttributes"])
        assert {"custom:tenant_id", "custom:cases"} <= set(client["ReadAttributes"]), "or no token has them"
    assert [(each["Name"], each["Mutable"]) for each in pool["Schema"]] == [("tenant_id", False), ("cases", True)]
    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True


def test_who_changes_their_address_proves_it_first(plain: Deployed) -> None:
    (pool,) = plain.of_type("AWS::Cognito::UserPool").values()
    written = plain.of_type("AWS::Cognito::UserPoolClient")["UserPoolClient"]["WriteAttributes"]
    assert "email" in written
    assert pool["UserAttributeUpdateSettings"] == {"AttributesRequireVerificationBeforeUpdate": ["email"]}


def test_the_pools_groups_are_the_roles_and_every_function_of_the_api_looks_for_them(plain: Deployed) -> None:
    groups = plain.of_type("AWS::Cognito::UserPoolGroup").values()
    assert sorted(each["GroupName"] for each in groups) == sorted(Role)
    assert {target(each["UserPoolId"]) for each in groups} == {"UserPool"}
    for function in plain.functions:
        variables = plain.variables(function)
        assert (variables["ROLES_CLAIM"], variables["DEFAULT_ROLE"]) == ({"Ref": "RolesClaim"}, {"Ref": "DefaultRole"})
        assert (variables["CASES_CLAIM"], variables["CASES_REQUIRED"]) == (
            {"Ref": "CasesClaim"},
            {"Ref": "CasesRequired"},
        )
        assert variables["ROLES_PREFIX"] == {"Ref": "RolesPrefix"}
        assert variables["USER_NAME_CLAIM"] == {"Ref": "UserNameClaim"}


def test_a_pools_roles_come_from_its_groups_which_no_user_can_write(transformed: dict[str, Any]) -> None:
    parameters = transformed["Parameters"]
    assert parameters["RolesClaim"]["Default"] == "cognito:groups"
    assert parameters["DefaultRole"]["Default"] == "viewer"
    assert set(parameters["DefaultRole"]["AllowedValues"]) == {NO_ROLE, *Role}
    assertions = [each["Assert"] for each in transformed["Rules"]["UserPoolRequiresRolesClaim"]["Assertions"]]
    claims = {"RolesClaim": "cognito:groups", "CasesClaim": "custom:cases", "RolesPrefix": ""}
    assert assertions == [{"Fn::Equals": [{"Ref": name}, claim]} for name, claim in claims.items()]


def test_the_access_log_holds_neither_query_nor_headers(deployed: Deployed) -> None:
    (stage,) = deployed.of_type("AWS::ApiGatewayV2::Stage").values()
    logged = stage["AccessLogSettings"]["Format"]["Fn::Sub"]
    assert json.loads(logged)["route"] == "$context.routeKey"
    assert not re.search(r"\$context\.(path\b|authorizer\.claims|identity\.user)|querystring|header", logged)


def test_every_file_is_a_function_that_is_called_as_it_is(plain: Deployed) -> None:
    handlers = {name: function["Handler"] for name, function in plain.functions.items()}
    assert set(handlers.values()) == {f"{path.stem}.lambda_handler" for path in (ROOT / "functions").glob("*.py")}
    for name, handler in handlers.items():
        words = re.findall("[A-Z][a-z]+", name.removesuffix("Function"))
        assert handler == "_".join(words).lower() + ".lambda_handler"
