"""Deployments of the API: a canary that an alarm rolls back, and snapshots."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.template.conftest import EVERY_OPTION, Deployed, deployed_with, target
from tests.unit.template.test_functions import API

# Lambda SnapStart, "Supported features and limitations".
NOT_WITH_SNAPSHOTS = {"FileSystemConfigs", "ImageUri", "TenancyConfig", "DurableConfig"}
LARGEST_DISK_MB = 512


def groups(deployed: Deployed) -> dict[str, dict[str, Any]]:
    return deployed.of_type("AWS::CodeDeploy::DeploymentGroup")


def test_every_function_of_the_api_is_deployed_as_a_canary(deployed: Deployed) -> None:
    assert set(groups(deployed)) == {f"{name}DeploymentGroup" for name in API}
    for name in API:
        policy = deployed.resources[f"{name}Aliaslive"]["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
        assert target(policy["DeploymentGroupName"]) == f"{name}DeploymentGroup"
        assert target(deployed.resources[f"{name}Aliaslive"]["Properties"]["FunctionName"]) == name
    for group in groups(deployed).values():
        assert group["DeploymentConfigName"]["Fn::Sub"][1] == {"ConfigName": "Canary10Percent10Minutes"}
        assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]


def test_the_alarm_that_rolls_back_goes_off_within_the_canary(deployed: Deployed) -> None:
    for group in groups(deployed).values():
        assert [target(each["Name"]) for each in group["AlarmConfiguration"]["Alarms"]] == ["ApiFunctionErrorsAlarm"]
    alarm = deployed.resources["ApiFunctionErrorsAlarm"]["Properties"]
    metrics = [each["MetricStat"] for each in alarm["Metrics"] if "MetricStat" in each]
    seconds = {each["Period"] * alarm["EvaluationPeriods"] for each in metrics}
    assert max(seconds) <= 5 * 60, "half of the canary: metrics arrive some minutes late"
    assert "UnexpectedErrors" in {each["Metric"]["MetricName"] for each in metrics}


def test_all_at_once_is_not_stopped_by_an_alarm_that_it_is_to_end(transformed: dict[str, Any]) -> None:
    for group in groups(deployed_with(transformed, {"Deployment": "AllAtOnce"})).values():
        assert group["AlarmConfiguration"] == {}


def test_a_function_whose_executions_last_for_days_is_not_moved_by_codedeploy(deployed: Deployed) -> None:
    assert "UpdatePolicy" not in deployed.resources["ProduceFunctionAliaslive"]


@pytest.mark.parametrize(("parameters", "applied"), [({}, "None"), (EVERY_OPTION, "PublishedVersions")])
def test_snapshots_are_made_of_the_api_where_the_parameter_says_so(
    transformed: dict[str, Any], parameters: dict[str, str], applied: str
) -> None:
    values = {"SnapStart": "None", **parameters}
    functions = deployed_with(transformed, parameters).functions
    made = {name: each["SnapStart"]["ApplyOn"] for name, each in functions.items() if "SnapStart" in each}
    assert {name: values[applies["Ref"]] for name, applies in made.items()} == dict.fromkeys(API, applied)
    for name in API:
        assert not NOT_WITH_SNAPSHOTS & functions[name].keys()
        assert functions[name].get("EphemeralStorage", {"Size": LARGEST_DISK_MB})["Size"] <= LARGEST_DISK_MB
