"""A stack that is paused starts no work from queues, does not page for that, and loses nothing else."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest

from tests.unit.template.conftest import Deployed, deployed_with
from tools.deploy.pause import main

WORK = {
    *("ImportRequestsQueue", "ImportChunksQueue", "ImportCompletionsQueue"),
    *("VolumeWorkQueue", "ImportReportsQueue", "ProductionRequestsQueue"),
}
WAITING = {"ImportsWaitAlarm", "CompletionsWaitAlarm", "RequestsWaitAlarm", "VolumesWaitAlarm"}


@pytest.fixture
def paused(transformed: dict[str, Any]) -> Deployed:
    return deployed_with(transformed, {"Paused": "true"})


def stopped(deployed: Deployed) -> set[str]:
    return {each.queue for each in deployed.consumers() if not each.mapping.get("Enabled", True)}


def silent(deployed: Deployed) -> set[str]:
    alarms = deployed.of_type("AWS::CloudWatch::Alarm")
    return {name for name, each in alarms.items() if not each.get("ActionsEnabled", True)}


def test_only_the_work_of_queues_stops_and_events_are_published(plain: Deployed, paused: Deployed) -> None:
    assert (stopped(plain), silent(plain)) == (set(), set())
    assert (stopped(paused), silent(paused)) == (WORK, WAITING)
    # A message that waits too long is lost, paused or not.
    assert "OldMessagesAlarm" not in WAITING


def test_a_paused_stack_differs_in_nothing_else(plain: Deployed, paused: Deployed) -> None:
    changed = {name for name, each in paused.resources.items() if each != plain.resources[name]}
    mappings = {name for name in changed if paused.resources[name]["Type"] == "AWS::Lambda::EventSourceMapping"}
    assert (len(mappings), changed - mappings) == (len(WORK), WAITING)


def test_the_dashboard_shows_it(plain: Deployed) -> None:
    (dashboard,) = plain.of_type("AWS::CloudWatch::Dashboard").values()
    texts = [each for each in json.loads(dashboard["DashboardBody"]["Fn::Sub"])["widgets"] if each["type"] == "text"]
    assert ["${Paused}" in each["properties"]["markdown"] for each in texts] == [True]


def test_the_command_changes_this_parameter_alone(
    aws_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    login = {"AWS_ENDPOINT_URL": aws_url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    for variable, value in {**login, "AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "eu-west-1"}.items():
        monkeypatch.setenv(variable, value)
    client = boto3.client("cloudformation", region_name="eu-west-1")
    names = {name: {"Type": "String"} for name in ("Paused", "Size")}
    template = {"Parameters": names, "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
    given = [{"ParameterKey": "Paused", "ParameterValue": "false"}, {"ParameterKey": "Size", "ParameterValue": "large"}]
    client.create_stack(StackName="pausing", TemplateBody=json.dumps(template), Parameters=given)  # type: ignore[arg-type]

    def parameters() -> dict[str, str]:
        (stack,) = client.describe_stacks(StackName="pausing")["Stacks"]
        return {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}

    assert main(["pausing"]) == main(["pausing"]) == 0
    assert parameters() == {"Paused": "true", "Size": "large"}
    assert capsys.readouterr().out.count("is paused: messages wait") == 2
    assert main(["pausing", "--resume"]) == 0
    assert parameters() == {"Paused": "false", "Size": "large"}
    assert main(["another"]) == 1
    client.create_stack(StackName="older", TemplateBody=json.dumps({"Resources": template["Resources"]}))
    assert main(["older"]) == 1
    assert "version without Paused" in capsys.readouterr().err
