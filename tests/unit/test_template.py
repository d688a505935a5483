"""The wiring that the code relies on: queues, time-outs, handlers and variables of template.yaml.

Reads the template as it is written; whether CloudFormation would accept it is what `make check` asks.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SPLITTER = "StartImportFunction"
# Powertools reads its own variables; DATABASE_URL is for the local stack and the tests.
NOT_OURS = "POWERTOOLS_"
NEVER_DEPLOYED = {"DATABASE_URL"}
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,}")


class Consumer(NamedTuple):
    """One SQS event of one function; durations in seconds."""

    function: str
    timeout: int
    queue: str
    event: dict[str, Any]


class Template(NamedTuple):
    """template.yaml, in the shape in which the tests ask for it; `resources` with type and conditions."""

    resources: dict[str, dict[str, Any]]
    functions: dict[str, dict[str, Any]]
    queues: dict[str, dict[str, Any]]
    consumers: list[Consumer]
    variables: set[str]

    def properties(self, name: str) -> dict[str, Any]:
        """The properties of one resource."""
        found: dict[str, Any] = self.resources[name]["Properties"]
        return found

    def routes(self) -> dict[str, dict[str, Any]]:
        """Every HttpApi event: what names it, and its properties."""
        return {
            f"{function}.{name}": event["Properties"]
            for function, properties in self.functions.items()
            for name, event in properties.get("Events", {}).items()
            if event["Type"] == "HttpApi"
        }


class IntrinsicsLoader(yaml.SafeLoader):
    """Reads !Ref, !GetAtt and the like as what they are applied to."""


def plain_value(loader: yaml.SafeLoader, _tag: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


IntrinsicsLoader.add_multi_constructor("!", plain_value)


def consumers_of(functions: dict[str, dict[str, Any]], default_timeout: int) -> list[Consumer]:
    return [
        Consumer(name, function.get("Timeout", default_timeout), logical_id(event["Properties"]["Queue"]), event)
        for name, function in functions.items()
        for event in function.get("Events", {}).values()
        if event["Type"] == "SQS"
    ]


def logical_id(attribute: str) -> str:
    return attribute.partition(".")[0]


@pytest.fixture(scope="module")
def template() -> Template:
    source = yaml.load((ROOT / "template.yaml").read_text(encoding="utf-8"), IntrinsicsLoader)  # noqa: S506
    shared = source["Globals"]["Function"]
    functions = of_type(source, "AWS::Serverless::Function")
    variables = set(shared["Environment"]["Variables"])
    for function in functions.values():
        variables |= set(function.get("Environment", {}).get("Variables", {}))
    consumers = consumers_of(functions, shared["Timeout"])
    return Template(source["Resources"], functions, of_type(source, "AWS::SQS::Queue"), consumers, variables)


def of_type(source: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    resources: dict[str, dict[str, Any]] = source["Resources"]
    return {name: resource.get("Properties", {}) for name, resource in resources.items() if resource["Type"] == kind}


def test_every_queue_has_its_consumer(template: Template) -> None:
    assert {(consumer.queue, consumer.function) for consumer in template.consumers} == {
        ("ImportRequestsQueue", "StartImportFunction"),
        ("ImportRequestsDeadLetterQueue", "SettleFailedImportFunction"),
        ("ImportChunksQueue", "ImportChunkFunction"),
        ("ImportChunksDeadLetterQueue", "SettleFailedChunkFunction"),
        ("OutboxNudgeQueue", "PublishOutboxFunction"),
        ("ImportReportsQueue", "WriteImportReportFunction"),
        ("ProductionRequestsQueue", "StartProductionFunction"),
    }


def test_every_consumed_queue_has_a_dead_letter_queue(template: Template) -> None:
    for consumer in template.consumers:
        policy = template.queues[consumer.queue].get("RedrivePolicy")
        assert policy, f"{consumer.queue} has no RedrivePolicy"
        target = logical_id(policy["deadLetterTargetArn"])
        assert target in template.queues, f"{consumer.queue}: {target} is no queue of this template"
        assert target != consumer.queue


def test_a_message_stays_hidden_for_six_times_its_consumers_timeout(template: Template) -> None:
    for consumer in template.consumers:
        factor = 1 if consumer.function == SPLITTER else 6
        visibility = template.queues[consumer.queue].get("VisibilityTimeout", 30)
        assert visibility >= factor * consumer.timeout, f"{consumer.queue}: {visibility} s for {consumer.timeout} s"


def test_every_consumer_reports_the_records_that_failed(template: Template) -> None:
    for consumer in template.consumers:
        types = consumer.event["Properties"].get("FunctionResponseTypes")
        assert types == ["ReportBatchItemFailures"], f"{consumer.function} fails whole batches"


def test_one_invocation_writes_one_chunk(template: Template) -> None:
    sizes = [
        consumer.event["Properties"].get("BatchSize")
        for consumer in template.consumers
        if consumer.queue == "ImportChunksQueue"
    ]
    assert sizes == [1]


def test_every_handler_of_the_template_exists_and_no_other(template: Template) -> None:
    named = {function["Handler"] for function in template.functions.values()}
    paths = [path for path in (ROOT / "functions").glob("*.py") if defines_handler(path)]
    assert named == {f"{path.stem}.lambda_handler" for path in paths}


def defines_handler(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assigned = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    names = [*functions, *(target.id for target in assigned if isinstance(target, ast.Name))]
    return "lambda_handler" in names


def test_every_function_has_an_event_to_invoke_it_with(template: Template) -> None:
    for function in template.functions.values():
        path = ROOT / "events" / f"{function['Handler'].partition('.')[0]}.json"
        assert path.is_file(), f"events/{path.name} is missing"
        assert isinstance(json.loads(path.read_text(encoding="utf-8")), dict)


def test_every_variable_of_the_template_is_read_by_the_settings(template: Template) -> None:
    ours = {name for name in template.variables if not name.startswith(NOT_OURS)}
    assert ours - variables_read_by_settings() == set()


def test_every_variable_that_the_settings_read_is_set_in_the_template(template: Template) -> None:
    assert variables_read_by_settings() - template.variables == NEVER_DEPLOYED


def variables_read_by_settings() -> set[str]:
    tree = ast.parse((ROOT / "shared/shell/settings.py").read_text(encoding="utf-8"))
    literals = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {literal for literal in literals if VARIABLE.fullmatch(literal)}


def test_no_route_is_open(template: Template) -> None:
    auth = template.properties("Api")["Auth"]
    assert auth["DefaultAuthorizer"] in auth["Authorizers"]
    assert "JwtConfiguration" in auth["Authorizers"][auth["DefaultAuthorizer"]]
    for name, route in template.routes().items():
        assert route.keys() == {"ApiId", "Method", "Path"}, f"{name} says more than its route, such as Auth"
        assert route["ApiId"] == "Api", f"{name} is a route of another API"


def test_there_is_no_other_way_in(template: Template) -> None:
    kinds = {resource["Type"] for resource in template.resources.values()}
    assert not kinds & {"AWS::Serverless::Api", "AWS::Lambda::Url", "AWS::Lambda::Permission"}
    assert [kind for kind in kinds if kind.startswith(("AWS::ApiGateway", "AWS::ElasticLoadBalancing"))] == []
    assert [name for name, function in template.functions.items() if "FunctionUrlConfig" in function] == []


def test_a_function_of_the_api_gives_up_before_api_gateway_does(template: Template) -> None:
    timeouts = {name: template.functions[name]["Timeout"] for name in {r.partition(".")[0] for r in template.routes()}}
    names = ("Imports", "Exhibits", "Custodians", "Custody", "Productions")
    assert timeouts == {f"{name}ApiFunction": 25 for name in names}


@pytest.mark.parametrize("name", ["UserPool", "UserPoolClient"])
def test_there_is_a_user_pool_only_without_an_issuer(template: Template, name: str) -> None:
    assert template.resources[name]["Condition"] == "MakesUserPool"
    unconditional = [
        other
        for other, resource in template.resources.items()
        if other != name and "Condition" not in resource and refers_to(outside_of_ifs(resource), name)
    ]
    assert unconditional == []


def outside_of_ifs(value: Any) -> Any:
    """What is there whatever the condition; `!If` reads as a list that begins with the condition's name."""
    if isinstance(value, dict):
        return {key: outside_of_ifs(item) for key, item in value.items()}
    if isinstance(value, list):
        return [] if value[:1] == ["MakesUserPool"] else [outside_of_ifs(item) for item in value]
    return value


def refers_to(value: Any, name: str) -> bool:
    return bool(re.search(rf"'{name}(\.\w+)?'|\$\{{{name}\b", repr(value)))


def test_users_cannot_choose_their_tenant(template: Template) -> None:
    client, pool = template.properties("UserPoolClient"), template.properties("UserPool")
    assert "WriteAttributes" in client, "without it, every attribute can be written"
    assert "custom:tenant_id" not in client["WriteAttributes"]
    assert [(each["Name"], each["Mutable"]) for each in pool["Schema"]] == [("tenant_id", False)]
    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True


def test_the_access_log_holds_neither_query_nor_headers(template: Template) -> None:
    logged = template.properties("Api")["AccessLogSettings"]["Format"]
    assert json.loads(logged)["route"] == "$context.routeKey"
    assert not re.search(r"\$context\.(path\b|authorizer\.claims|identity\.user)|querystring|header", logged)


def test_presigned_addresses_can_upload_and_read_reports_and_do_nothing_else(template: Template) -> None:
    policies = [policy for policy in template.functions["ImportsApiFunction"]["Policies"] if isinstance(policy, dict)]
    statements = [statement for policy in policies for statement in policy.get("Statement", [])]
    allowed = [(statement["Action"], statement["Resource"].rpartition("-evidence")[2]) for statement in statements]
    assert allowed == [(["s3:PutObject", "s3:AbortMultipartUpload"], "/imports/*"), ("s3:GetObject", "/reports/*")]
    assert not any("S3" in name for policy in policies for name in policy)


def test_a_skipped_request_can_be_hidden(template: Template) -> None:
    statements = [
        statement
        for policy in template.functions["StartImportFunction"]["Policies"]
        if isinstance(policy, dict)
        for statement in policy.get("Statement", [])
    ]
    assert ("sqs:ChangeMessageVisibility", "ImportRequestsQueue.Arn") in {
        (statement["Action"], statement["Resource"]) for statement in statements
    }
