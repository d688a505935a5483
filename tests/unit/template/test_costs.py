"""The costs in docs/operations.md: what the transformed template has, counted, times list prices of us-east-1."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from tests.unit.template.conftest import ROOT, Deployed, deployed_with
from tests.unit.template.test_alarms import PER_TENANT, emitted, metrics_of

HOURS, SECONDS = 730, 730 * 3_600
KEY, SECRET, DASHBOARD, ALARM_METRIC, METRIC, ENDPOINT_HOUR = 1.00, 0.40, 3.00, 0.10, 0.30, 0.01
REQUEST, SNAPSHOT_GB_S, PROXY_UNIT_HOUR, CAPACITY_HOUR = 0.40e-6, 0.0000015046, 0.015, 0.12
# Lambda, "Configuring scaling behavior for SQS event source mappings": 5 pollers, 2 of them only without a maximum
# concurrency; each waits for up to 20 seconds.
POLLERS, POLLS_A_MINUTE = 5, 3
SIZES = ("small", "standard", "large")
OPERATIONS = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
COSTS = OPERATIONS.partition("\n## What it costs\n")[2]


def watched(deployed: Deployed) -> int:
    """The metrics of all alarms."""
    return sum(len(metrics_of(alarm)) for alarm in deployed.of_type("AWS::CloudWatch::Alarm").values())


def secrets(deployed: Deployed) -> int:
    """Our secrets, and those that RDS keeps for the administrators of clusters."""
    clusters = deployed.of_type("AWS::RDS::DBCluster").values()
    managed = [each for each in clusters if each["ManageMasterUserPassword"]]
    return len(deployed.of_type("AWS::SecretsManager::Secret")) + len(managed)


def interfaces(deployed: Deployed) -> list[int]:
    """The zones of each interface endpoint."""
    found = deployed.of_type("AWS::EC2::VPCEndpoint").values()
    return [len(each["SubnetIds"]) for each in found if each.get("VpcEndpointType") == "Interface"]


def polls(deployed: Deployed) -> int:
    """The requests of a month with which Lambda waits for messages."""
    assert all("MaximumConcurrency" in each.mapping["ScalingConfig"] for each in deployed.consumers())
    return len(deployed.consumers()) * POLLERS * POLLS_A_MINUTE * HOURS * 60


def rows(sizes: list[Deployed]) -> dict[str, list[float]]:
    """What is counted in each size, in words with the counts, and what it costs."""
    one = sizes[1]
    assert len(one.of_type("AWS::KMS::Key")) == len(one.of_type("AWS::CloudWatch::Dashboard")) == 1
    zones = sorted({each for size in sizes for each in interfaces(size)})
    alarms = len(one.of_type("AWS::CloudWatch::Alarm"))
    return {
        f"{len(interfaces(one))} services × {zones[0]} or {zones[1]} zones × {HOURS} h × {ENDPOINT_HOUR}": [
            sum(interfaces(each)) * HOURS * ENDPOINT_HOUR for each in sizes
        ],
        f"| {alarms} alarms on {watched(one)} metrics × 0.10": [watched(each) * ALARM_METRIC for each in sizes],
        f"| key 1, {secrets(one)} secrets × 0.40, dashboard 3, the metric of the purge 0.30": [
            KEY + secrets(each) * SECRET + DASHBOARD + METRIC for each in sizes
        ],
        f"| polling of {len(one.consumers())} queues × {POLLERS} pollers × {POLLS_A_MINUTE} requests a minute × ": [
            polls(each) * REQUEST for each in sizes
        ],
    }


def violations(sizes: list[Deployed]) -> list[str]:
    """The rows that the text does not have, with these counts and these figures."""
    missing = []
    for words, costs in rows(sizes).items():
        figures = " | ".join(str(round(each)) for each in costs)
        if not re.search(rf"{re.escape(words)}.* \| {re.escape(figures)} \|\n", COSTS):
            missing.append(f"{words} … | {figures} |")
    return missing


@pytest.fixture
def sizes(transformed: dict[str, Any]) -> list[Deployed]:
    return [deployed_with(transformed, {"Size": size}) for size in SIZES]


def test_every_figure_of_an_idle_month_is_its_count_times_its_price(sizes: list[Deployed]) -> None:
    assert violations(sizes) == []
    for kind in ("AWS::CloudWatch::Alarm", "AWS::SecretsManager::Secret", "AWS::Lambda::EventSourceMapping"):
        more = [Deployed(copy.deepcopy(dict(each.resources)), each.outputs) for each in sizes]
        for each in more:
            each.resources["Another"] = each.resources[next(iter(each.of_type(kind)))]  # type: ignore[index]
        assert len(violations(more)) == 1, f"the negative control: another {kind}"


def test_the_capacity_of_the_database_costs_what_is_stated(sizes: list[Deployed]) -> None:
    minima = [
        each.of_type("AWS::RDS::DBCluster")["DatabaseCluster"]["ServerlessV2ScalingConfiguration"] for each in sizes
    ]
    costs = [
        each["MinCapacity"] * len(size.of_type("AWS::RDS::DBInstance")) * HOURS * CAPACITY_HOUR
        for each, size in zip(minima, sizes, strict=True)
    ]
    figures = re.search(r"^\| Aurora, .* \| (\d+) \| (\d+) \| (\d+) \|$", COSTS, re.MULTILINE)
    assert figures
    # A paused database costs nothing; that of small is awake for some minutes a day.
    assert (costs[0], *map(int, figures.groups()[1:])) == (0, *map(round, costs[1:]))


def test_snapshots_metrics_and_the_proxy_cost_what_is_stated(plain: Deployed, transformed: dict[str, Any]) -> None:
    sizes = [each["MemorySize"] / 1024 for each in plain.functions.values() if "SnapStart" in each]
    cost = sum(sizes) * SNAPSHOT_GB_S * SECONDS
    assert {*sizes} == {1}
    assert f"{len(sizes)} functions × 1 GB × {SNAPSHOT_GB_S:.10f} per second = {round(cost)}," in COSTS
    assert f"for {round(cost)} US dollars" in transformed["Parameters"]["SnapStart"]["Description"]
    names = len(emitted())
    assert f"{round(names * METRIC)} for all {names} of them" in " ".join(COSTS.split())
    of_tenants = len(emitted(PER_TENANT))
    assert f"{of_tenants * METRIC:.2f} for one that imports and has rejections in every" in COSTS
    assert f"{of_tenants * METRIC * 365 / 12 / HOURS:.2f} for one that does so in an hour of each day" in COSTS
    assert f"50 tenants at once cost {round(50 * of_tenants * METRIC)}, all the time" in " ".join(COSTS.split())
    assert f"the proxy 8 units × {PROXY_UNIT_HOUR} × 730 h = {round(8 * PROXY_UNIT_HOUR * HOURS)}" in " ".join(
        COSTS.split()
    )
