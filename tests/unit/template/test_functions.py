"""Functions: their variables, their versions, and in which order they are deployed."""

from __future__ import annotations

import ast
import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from local.template.intrinsics import load_document
from tests.unit.template.conftest import ROOT, TEMPLATE, Deployed, listed, target
from tools.check_template import transform
from tools.environment_sizes import LIMIT, measure

# Powertools reads its own variables; the others are for the local stack and the tests.
NOT_OURS = "POWERTOOLS_"
NEVER_DEPLOYED = {"AWS_ENDPOINT_URL", "AWS_LAMBDA_FUNCTION_NAME", "DATABASE_URL"}
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,}")
SERVED: tuple[str, ...] = (
    *("Imports", "ImportChecks", "ImportResults", "Profiles", "Exhibits", "Custodians", "Custody", "Productions"),
    *("Activities", "Cases", "Exports", "ProductionFiles", "Uploads", "Volumes"),
)
API = {f"{name}ApiFunction" for name in SERVED}


def variables_read_by_settings() -> set[str]:
    tree = ast.parse((ROOT / "shared/shell/settings.py").read_text(encoding="utf-8"))
    literals = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {literal for literal in literals if VARIABLE.fullmatch(literal)}


def test_the_variables_of_the_template_are_those_that_the_settings_read(deployed: Deployed) -> None:
    every = {name for function in deployed.functions for name in deployed.variables(function)}
    ours = {name for name in every if not name.startswith(NOT_OURS)}
    assert ours == variables_read_by_settings() - NEVER_DEPLOYED
    assert variables_read_by_settings() >= NEVER_DEPLOYED


def test_no_function_has_a_secret_in_its_environment(deployed: Deployed) -> None:
    for function in deployed.functions:
        assert "resolve:" not in str(deployed.variables(function)), function


def test_a_function_of_the_api_gives_up_before_api_gateway_does(deployed: Deployed) -> None:
    (api,) = deployed.of_type("AWS::ApiGatewayV2::Api").values()
    paths = {path: each for path, each in api["Body"]["paths"].items() if not path.startswith("/console")}
    operations = [each for operations in paths.values() for each in operations.values()]
    addresses = str([each["x-amazon-apigateway-integration"]["uri"] for each in operations])
    answering = set(re.findall(r"\$\{(\w+)Aliaslive\}", addresses))
    assert answering == API
    assert len(operations) == addresses.count("Aliaslive"), "a route without an alias has neither canary nor snapshot"
    assert {deployed.functions[name]["Timeout"] for name in answering} == {25}


def test_only_the_api_goes_through_the_proxy_and_no_lock_does(plain: Deployed, everything: Deployed) -> None:
    def at(deployed: Deployed, function: str, variable: str) -> str:
        return target(deployed.variables(function)[variable])

    for function in plain.functions:
        assert at(plain, function, "DB_HOST") == "DatabaseCluster"
        assert at(everything, function, "DB_LOCK_HOST") == "DatabaseCluster"
        assert at(everything, function, "DB_HOST") == ("ConnectionProxy" if function in API else "DatabaseCluster")


def test_no_function_is_changed_before_the_schema(deployed: Deployed) -> None:
    for function in deployed.functions.keys() - {"MigrateDatabaseFunction"}:
        after = listed(deployed.resources[function].get("DependsOn", []))
        assert "DatabaseMigration" in after, f"{function} needs DependsOn: DatabaseMigration"


def test_the_schema_is_migrated_once_everything_on_its_way_is_there(deployed: Deployed) -> None:
    migration = deployed.resources["DatabaseMigration"]
    assert migration["DependsOn"] == "DatabaseWriter"
    reached = {target(each) for each in migration["Properties"]["Endpoints"]}
    assert {"SecretsEndpoint", "S3Endpoint", "LambdaEndpoint"} <= reached
    assert migration["Properties"]["ServiceTimeout"] > deployed.functions["MigrateDatabaseFunction"]["Timeout"]


def test_another_database_or_schema_or_code_is_migrated_too(deployed: Deployed) -> None:
    # CloudFormation calls a custom resource when one of its properties changes, and only then.
    properties = deployed.resources["DatabaseMigration"]["Properties"].values()
    changing = {target(value) for value in properties if isinstance(value, dict)}
    assert {"DatabaseCluster", "DatabaseName", "DatabaseSnapshot"} <= changing
    assert any(name.startswith("SharedLayer") for name in changing)


def test_functions_are_traced_and_log_to_one_group_that_forgets(deployed: Deployed) -> None:
    for function in deployed.functions.values():
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert target(function["LoggingConfig"]["LogGroup"]) == "FunctionLogs"
    assert all("RetentionInDays" in group for group in deployed.of_type("AWS::Logs::LogGroup").values())


def versions(made: dict[str, Any]) -> set[str]:
    return {name for name, each in made["Resources"].items() if each["Type"] == "AWS::Lambda::Version"}


@pytest.mark.slow
def test_what_a_function_is_made_of_and_nothing_else_gives_it_a_new_version(transformed: dict[str, Any]) -> None:
    def replaced(changed: str) -> set[str]:
        return versions(transformed) - versions(transform(TEMPLATE, {changed: "s3://bucket/another.zip"}))

    for layer in ("SharedLayer", "DependenciesLayer"):
        assert replaced(layer) == versions(transformed)
    for function in ("ProduceFunction", "CustodyApiFunction"):
        assert {name.partition("Version")[0] for name in replaced(function)} == {function}
    assert replaced("ImportChunkFunction") == set()


@pytest.mark.parametrize("lost", ["AutoPublishAliasAllProperties", "PublishLambdaVersion", None])
def test_without_what_makes_it_so_a_changed_layer_leaves_the_old_code_running(tmp_path: Path, lost: str | None) -> None:
    document = load_document(TEMPLATE)
    kept = {name: document["Resources"][name] for name in ("ProduceFunction", "SharedLayer", "DependenciesLayer")}
    for resource in kept.values():
        resource["Properties"].pop(lost, None)
    part = tmp_path / "template.json"
    part.write_text(json.dumps(document | {"Resources": kept, "Outputs": {}}), encoding="utf-8")
    changed = versions(transform(part, {"SharedLayer": "s3://bucket/another.zip"}))
    assert len(changed) == 1
    assert (changed == versions(transform(part))) == (lost is not None)


def test_only_functions_that_send_to_their_own_queue_may_loop(deployed: Deployed) -> None:
    """Lambda would end a chain of messages after 16 invocations: of a split, of checks, of the wait in an outage."""
    own = {
        consumer.function
        for consumer in deployed.consumers()
        for statement in statements(deployed.role_of(consumer.function))
        if "sqs:SendMessage" in listed(statement["Action"])
        and consumer.queue in map(target, listed(statement["Resource"]))
    }
    assert len(own) == 9
    assert own == {name for name, each in deployed.functions.items() if each.get("RecursiveLoop") == "Allow"}


def statements(role: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for policy in role["Policies"] for each in policy["PolicyDocument"]["Statement"]]


def test_every_environment_is_within_lambdas_limit_with_the_longest_names(transformed: dict[str, Any]) -> None:
    sizes = measure(transformed)
    assert len(sizes) > 20
    assert max(sizes.values()) <= LIMIT, sizes


def test_an_environment_that_is_too_large_is_found(transformed: dict[str, Any]) -> None:
    crowded = copy.deepcopy(transformed)
    crowded["Resources"]["ProduceFunction"]["Properties"]["Environment"]["Variables"]["CHUNK_ROWS"] = "2" * 2_000
    assert [name for name, size in measure(crowded).items() if size > LIMIT] == ["ProduceFunction"]


def test_the_api_takes_as_many_requests_as_are_stated(deployed: Deployed) -> None:
    """25 people with the page of an import open, each of which polls once a second, leave three quarters of them."""
    (stage,) = deployed.of_type("AWS::ApiGatewayV2::Stage").values()
    limits = stage["DefaultRouteSettings"]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (100, 200)
    stated = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert "The whole API takes 100 requests a second and bursts of 200." in stated
