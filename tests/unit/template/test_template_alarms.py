"""What tells a person: metrics that the code really emits, a dashboard, and alarms that reach somebody."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from typing import Any

from tests.unit.template.conftest import ROOT, Deployed, listed, target

NAMESPACE, EMITTING = "ExhibitIngest", re.compile(r"\b(?:add_metric|emit_counts)\b")


@cache
def emitted() -> set[str]:
    """The names of the metrics in the code."""
    texts = [path.read_text("utf-8") for path in (ROOT / "shared").rglob("*.py")]
    nodes = (node for text in texts if EMITTING.search(text) for node in ast.walk(ast.parse(text)))
    calls = [node for node in nodes if isinstance(node, ast.Call) and EMITTING.search(ast.unparse(node.func))]
    named = [ast.unparse(argument).strip("'") for call in calls for argument in call.args]
    named += [each.arg or "" for call in calls for each in call.keywords]
    return {name for name in named if re.fullmatch("([A-Z][a-z]+)+", name)}


def metrics_of(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    nested = [each["MetricStat"]["Metric"] for each in alarm.get("Metrics", []) if "MetricStat" in each]
    return nested or [alarm]


def test_every_alarm_tells_somebody_and_says_what_to_do(deployed: Deployed) -> None:
    for name, alarm in deployed.of_type("AWS::CloudWatch::Alarm").items():
        for actions in ("AlarmActions", "OKActions"):
            assert [target(action) for action in alarm[actions]] == ["AlarmTopic"], name
        assert all("Dimensions" in metric for metric in metrics_of(alarm)), f"{name} watches other stacks too"
        assert alarm["TreatMissingData"] in ("breaching", "notBreaching"), name
        assert len(alarm["AlarmDescription"]) > 30, name


def test_an_alarm_of_ours_watches_what_the_code_emits_in_this_stack(deployed: Deployed) -> None:
    alarms = deployed.of_type("AWS::CloudWatch::Alarm").values()
    ours = [metric for alarm in alarms for metric in metrics_of(alarm) if metric["Namespace"] == NAMESPACE]
    assert ours
    for metric in ours:
        assert metric["MetricName"] in emitted()
        assert metric["Dimensions"] == [{"Name": "service", "Value": {"Ref": "AWS::StackName"}}]


def test_the_dashboard_is_json_and_shows_what_is_emitted_and_what_is_there(deployed: Deployed) -> None:
    (dashboard,) = deployed.of_type("AWS::CloudWatch::Dashboard").values()
    written = dashboard["DashboardBody"]["Fn::Sub"]
    metrics = [metric for widget in json.loads(written)["widgets"] for metric in widget["properties"]["metrics"]]
    shown = {metric[1] for metric in metrics if metric[0] == NAMESPACE}
    imported = {"RowsImported", "RowsRejected", "RowWarnings", "ChunksFailed"}
    assert imported | {"TransactionsRetried", "Deadlocks"} <= shown <= emitted()
    assert {name.partition(".")[0] for name in re.findall(r"\$\{([\w.]+)\}", written)} <= deployed.resources.keys()


def test_an_operator_is_written_to_where_an_address_is_given(plain: Deployed, everything: Deployed) -> None:
    assert "AlarmSubscription" not in plain.resources
    subscription = everything.resources["AlarmSubscription"]["Properties"]
    assert (subscription["Protocol"], target(subscription["TopicArn"])) == ("email", "AlarmTopic")


def test_every_alarm_is_explained_to_its_operator(plain: Deployed) -> None:
    guide = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    assert [name for name in plain.of_type("AWS::CloudWatch::Alarm") if f"`{name}`" not in guide] == []


def test_patches_failovers_and_restarts_of_the_database_are_told_too(deployed: Deployed) -> None:
    told = {each["SourceType"]: each for each in deployed.of_type("AWS::RDS::EventSubscription").values()}
    assert {target(each["SnsTopicArn"]) for each in told.values()} == {"AlarmTopic"}
    # Categories of "Amazon RDS event categories and event messages for Aurora"; another name fails the deployment.
    assert {"failover", "failure", "maintenance"} <= {*told["db-cluster"]["EventCategories"]}
    assert {"availability", "failure", "maintenance"} <= {*told["db-instance"]["EventCategories"]}
    assert [target(each) for each in told["db-cluster"]["SourceIds"]] == ["DatabaseCluster"]
    assert {target(each) for each in told["db-instance"]["SourceIds"]} == {*deployed.of_type("AWS::RDS::DBInstance")}


def test_who_publishes_to_an_encrypted_topic_may_use_its_key(deployed: Deployed) -> None:
    (key,) = deployed.of_type("AWS::KMS::Key").values()
    services = {
        service
        for statement in key["KeyPolicy"]["Statement"]
        for service in listed(statement["Principal"].get("Service", []))
        if isinstance(service, str) and {"kms:GenerateDataKey", "kms:Decrypt"} <= {*statement["Action"]}
    }
    assert {"cloudwatch.amazonaws.com", "events.rds.amazonaws.com"} <= services
