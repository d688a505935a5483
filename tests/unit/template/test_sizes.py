"""The three sizes: what belongs to each, and that nothing of the smallest keeps its database awake."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.template.conftest import Deployed, deployed_with, listed

SIZES = ("small", "standard", "large")
CAPACITY: dict[str, dict[str, float]] = {
    "small": {"MinCapacity": 0, "MaxCapacity": 4, "SecondsUntilAutoPause": 300},
    "standard": {"MinCapacity": 0.5, "MaxCapacity": 16},
    "large": {"MinCapacity": 2, "MaxCapacity": 64},
}
# What can be connected at a maximum capacity (Aurora user guide, "Maximum connections for Aurora Serverless v2").
CONNECTIONS = {1: 90, 4: 135, 8: 1_000, 16: 2_000, 32: 3_000, 64: 4_000, 128: 5_000, 192: 6_000, 256: 6_000}


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sized(transformed: dict[str, Any], size: str) -> Deployed:
    return deployed_with(transformed, {"Size": size})


def test_the_alarm_for_connections_goes_off_at_80_percent_of_what_the_capacity_allows(
    transformed: dict[str, Any], size: str
) -> None:
    """Whichever parameter decides the capacity: an alarm for the limit of another one would come too late or never."""
    alarm = transformed["Resources"]["DatabaseConnectionsAlarm"]["Properties"]
    assert alarm["Threshold"] == {
        "Fn::FindInMap": ["ConnectionsAlarm", {"Ref": "DatabaseMaxCapacity"}, {"Ref": "Size"}]
    }
    thresholds = transformed["Mappings"]["ConnectionsAlarm"]
    allowed = transformed["Parameters"]["DatabaseMaxCapacity"]["AllowedValues"]
    assert list(map(str, thresholds)) == list(map(str, allowed)), "a value without an entry fails the deployment"
    for choice in allowed:
        capacity = CAPACITY[size]["MaxCapacity"] if choice == "size" else int(choice)
        limit = CONNECTIONS[max(each for each in CONNECTIONS if each <= capacity)]
        assert thresholds[choice][size] == 0.8 * limit, choice


def test_a_size_sets_capacity_standby_and_chunks(sized: Deployed, size: str) -> None:
    (cluster,) = sized.of_type("AWS::RDS::DBCluster").values()
    assert cluster["ServerlessV2ScalingConfiguration"] == CAPACITY[size]
    assert len(sized.of_type("AWS::RDS::DBInstance")) == (2 if size == "large" else 1)
    chunks = {each.queue: each.mapping["ScalingConfig"]["MaximumConcurrency"] for each in sized.consumers()}
    assert chunks["ImportChunksQueue"] == {"small": 4, "standard": 8, "large": 32}[size]


def test_endpoints_of_the_smallest_are_in_one_zone(sized: Deployed, size: str) -> None:
    interfaces = [each for each in sized.of_type("AWS::EC2::VPCEndpoint").values() if "SubnetIds" in each]
    assert len(interfaces) == 4
    assert {len(each["SubnetIds"]) for each in interfaces} == {1 if size == "small" else 2}


def test_no_size_has_a_schedule_but_the_purge_and_the_smallest_once_a_day(sized: Deployed, size: str) -> None:
    rules = sized.of_type("AWS::Events::Rule").items()
    schedules = {name: each["ScheduleExpression"] for name, each in rules if "EventPattern" not in each}
    assert schedules == {"PurgeExpiredFunctionHourly": "rate(1 day)" if size == "small" else "rate(1 hour)"}


def test_a_purge_that_does_not_run_raises_the_alarm_however_rare_its_schedule(sized: Deployed, size: str) -> None:
    alarm = sized.resources["PurgeMissingAlarm"]["Properties"]
    # Without a run there is no data.
    assert (alarm["TreatMissingData"], alarm["Statistic"], alarm["Threshold"]) == ("breaching", "SampleCount", 1)
    assert alarm["ComparisonOperator"] == "LessThanThreshold"
    # Another size has the migration count once, before the alarm expects more runs.
    assert sized.resources["DatabaseMigration"]["Properties"]["Size"] == {"Ref": "Size"}
    assert "PurgeExpiredFunction" in listed(sized.resources["PurgeMissingAlarm"]["DependsOn"])
    between_runs = 86_400 if size == "small" else 3_600
    assert alarm["Period"] >= between_runs
    # CloudWatch, PutMetricAlarm: with periods of an hour or more, all of them are at most seven days.
    assert between_runs < alarm["Period"] * alarm["EvaluationPeriods"] <= 7 * 86_400


def test_idle_connections_end_long_before_the_database_pauses(sized: Deployed) -> None:
    (parameters,) = sized.of_type("AWS::RDS::DBClusterParameterGroup").values()
    assert int(parameters["Parameters"]["wait_timeout"]) < CAPACITY["small"]["SecondsUntilAutoPause"]


def test_capacity_and_chunks_can_be_set_for_any_size(transformed: dict[str, Any], size: str) -> None:
    chosen = deployed_with(transformed, {"Size": size, "DatabaseMaxCapacity": "96", "ChunkConcurrency": "12"})
    (cluster,) = chosen.of_type("AWS::RDS::DBCluster").values()
    assert cluster["ServerlessV2ScalingConfiguration"]["MaxCapacity"] == {"Ref": "DatabaseMaxCapacity"}
    limits = [each.mapping["ScalingConfig"]["MaximumConcurrency"] for each in chosen.consumers()]
    assert {"Ref": "ChunkConcurrency"} in limits


@pytest.mark.parametrize(
    ("parameter", "value", "kinds"),
    [
        ("DataEventsBucket", "logs", {"AWS::CloudTrail::Trail"}),
        (
            "BackupVaultDays",
            "30",
            {"AWS::Backup::BackupVault", "AWS::Backup::BackupPlan", "AWS::Backup::BackupSelection"},
        ),
    ],
)
def test_what_an_evidence_room_may_need_is_made_only_where_it_is_chosen(
    transformed: dict[str, Any], parameter: str, value: str, kinds: set[str]
) -> None:
    without, chosen = deployed_with(transformed, {}), deployed_with(transformed, {parameter: value})
    assert not kinds & without.kinds()
    assert chosen.kinds() - without.kinds() == kinds


def test_a_vault_that_stays_does_not_take_the_name_of_the_next_stacks(transformed: dict[str, Any]) -> None:
    """A name has at most 50 characters, a stack's at most 25 (tools/stack_names.py), and the first part of an id 8."""
    (vault,) = deployed_with(transformed, {"BackupVaultDays": "30"}).of_type("AWS::Backup::BackupVault").values()
    stack_id = {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]}
    part = {"Fn::Select": [0, {"Fn::Split": ["-", stack_id]}]}
    assert vault["BackupVaultName"] == {"Fn::Join": ["-", [{"Ref": "AWS::StackName"}, part]]}


def test_objects_can_be_held_only_where_it_is_chosen(transformed: dict[str, Any]) -> None:
    enabled = [
        deployed_with(transformed, {"ObjectLock": choice})
        .of_type("AWS::S3::Bucket")["EvidenceBucket"]
        .get("ObjectLockEnabled")
        for choice in ("false", "true")
    ]
    assert enabled == [None, True]


def test_productions_at_once_depend_on_the_size(sized: Deployed, size: str) -> None:
    found = sized.variables("StartProductionFunction")["MAX_PRODUCTIONS"]
    assert found == {"small": "2", "standard": "10", "large": "25"}[size]


@pytest.mark.parametrize(
    ("mode", "factors"), [("OFF", None), ("OPTIONAL", ["SOFTWARE_TOKEN_MFA"]), ("ON", ["SOFTWARE_TOKEN_MFA"])]
)
def test_a_pool_without_a_second_factor_names_none(transformed: dict[str, Any], mode: str, factors: object) -> None:
    (pool,) = deployed_with(transformed, {"UserPoolMfa": mode}).of_type("AWS::Cognito::UserPool").values()
    assert pool.get("EnabledMfas") == factors
