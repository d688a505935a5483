"""The first deployment: its zones can be chosen, and one that fails leaves nothing that cannot be deleted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from local.template.conditions import apply_conditions
from tests.unit.template.conftest import EVERY_OPTION, ROOT, Deployed, Properties, deployed_with
from tests.unit.template.deployment_rules import Deployment
from tests.unit.template.test_versions import PARAMETERS, another_value
from tools.deploy.protection import list_protected

SUBNETS = ("PrivateSubnetA", "PrivateSubnetB")
CHOSEN = {"AvailabilityZoneA": "us-east-1a", "AvailabilityZoneB": "us-east-1c"}


def zones(deployed: Deployed) -> list[Any]:
    return [deployed.resources[subnet]["Properties"]["AvailabilityZone"] for subnet in SUBNETS]


def test_the_zones_are_those_of_the_parameters(transformed: dict[str, Any]) -> None:
    assert zones(deployed_with(transformed, CHOSEN)) == [{"Ref": "AvailabilityZoneA"}, {"Ref": "AvailabilityZoneB"}]


def test_without_parameters_the_zones_are_the_first_two_of_the_region(plain: Deployed) -> None:
    assert zones(plain) == [{"Fn::Select": [index, {"Fn::GetAZs": ""}]} for index in (0, 1)]


def placed(value: Any) -> list[str]:
    """The logical ids of the subnets that are named anywhere in a resource."""
    if isinstance(value, list):
        return [name for item in value for name in placed(item)]
    if not isinstance(value, dict):
        return []
    own = [str(value["Ref"])] if value.get("Ref") in SUBNETS else []
    return own + [name for item in value.values() for name in placed(item)]


def test_whatever_is_in_the_network_is_in_these_two_zones(everything: Deployed) -> None:
    kinds = {"AWS::Lambda::Function", "AWS::RDS::DBSubnetGroup", "AWS::RDS::DBProxy", "AWS::ElastiCache::SubnetGroup"}
    for kind in kinds:
        assert {tuple(placed(each)) for each in everything.of_type(kind).values()} == {SUBNETS}, kind
    assert set(everything.of_type("AWS::EC2::Subnet")) == set(SUBNETS)


def refusals(transformed: Mapping[str, Any], parameters: Mapping[str, str]) -> list[str]:
    """What CloudFormation says to these parameters before it creates anything; conditions and rules share functions."""
    rules: list[tuple[Any, Properties]] = [
        (rule.get("RuleCondition", {"Fn::Equals": ["", ""]}), assertion)
        for rule in transformed["Rules"].values()
        for assertion in rule["Assertions"]
    ]
    conditions = {f"Applies{n}": applies for n, (applies, _) in enumerate(rules)}
    conditions |= {f"Holds{n}": assertion["Assert"] for n, (_, assertion) in enumerate(rules)}
    resources = {name: {"Condition": name, "Type": "Rule"} for name in conditions}
    values = {name: str(each.get("Default", "")) for name, each in transformed["Parameters"].items()} | dict(parameters)
    true = apply_conditions({"Conditions": conditions, "Resources": resources}, values)["Resources"]
    return [
        assertion["AssertDescription"]
        for n, (_, assertion) in enumerate(rules)
        if f"Applies{n}" in true and f"Holds{n}" not in true
    ]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, ""),
        (CHOSEN, ""),
        ({"AvailabilityZoneA": "us-east-1a"}, "requires AvailabilityZoneB"),
        ({"AvailabilityZoneB": "us-east-1a"}, "requires AvailabilityZoneA"),
        ({"AvailabilityZoneA": "us-east-1a", "AvailabilityZoneB": "us-east-1a"}, "must differ"),
        ({"Size": "large"}, ""),
        ({"Size": "large", "DatabaseMaxCapacity": "2"}, ""),
        ({"Size": "small", "DatabaseMaxCapacity": "1"}, ""),
        ({"Size": "large", "DatabaseMaxCapacity": "1"}, "DatabaseMaxCapacity to 2 or more, or to size."),
        ({"MonthlyBudget": "300", "AlarmEmail": "operator@example.com"}, ""),
        ({"MonthlyBudget": "300", "AlarmEmail": "none"}, "set AlarmEmail"),
    ],
)
def test_parameters_that_do_not_fit_together_are_refused_before_anything_is_created(
    transformed: dict[str, Any], parameters: dict[str, str], said: str
) -> None:
    found = refusals(transformed, parameters)
    assert len(found) == bool(said)
    assert said in "".join(found)


def protected(transformed: Mapping[str, Any], parameters: Mapping[str, str]) -> list[str]:
    """The resources that refuse to be deleted, as far as their properties say."""
    values = {name: str(each.get("Default", "")) for name, each in transformed["Parameters"].items()} | dict(parameters)
    names = ("DeletionProtection", "DeletionProtectionEnabled", "EnableTerminationProtection", "ObjectLockEnabled")
    found = []
    for name, each in deployed_with(dict(transformed), parameters).resources.items():
        for key in names:
            value = each.get("Properties", {}).get(key)
            value = values[value["Ref"]] if isinstance(value, dict) else value
            found += [name] if value not in (None, False, "false", "INACTIVE") else []
    return found


@pytest.mark.parametrize("parameters", [{}, EVERY_OPTION])
def test_nothing_protects_a_first_deployment_from_being_deleted(
    transformed: dict[str, Any], parameters: dict[str, str]
) -> None:
    assert protected(transformed, parameters) == []
    assert protected(transformed, {**parameters, "DeletionProtection": "true"}) == ["DatabaseCluster"]


def test_nothing_that_a_first_deployment_made_outlives_it(deployed: Deployed) -> None:
    # Retain keeps what a failed creation has made; RetainExceptOnCreate and Snapshot do not. Versions of a function go
    # with their function, and those of a layer have no name that the next deployment needs.
    code = {"AWS::Lambda::LayerVersion", "AWS::Lambda::Version"}
    kept = {name for name, each in deployed.resources.items() if each.get("DeletionPolicy") == "Retain"}
    assert {deployed.resources[name]["Type"] for name in kept} <= code


def test_the_output_says_whether_the_database_is_protected(plain: Deployed) -> None:
    output = plain.outputs["DatabaseProtected"]
    assert output["Value"] == {"Ref": "DeletionProtection"}
    assert "DeletionProtection true" in output["Description"]


@pytest.mark.parametrize(
    ("partition", "host"),
    [
        ("aws", "console.aws.amazon.com"),
        ("aws-us-gov", "console.amazonaws-us-gov.com"),
        ("aws-cn", "console.amazonaws.cn"),
    ],
)
def test_the_dashboard_is_at_the_console_of_the_partition(
    transformed: dict[str, Any], partition: str, host: str
) -> None:
    output = deployed_with(transformed, {"AWS::Partition": partition}).outputs["DashboardUrl"]["Value"]
    address, values = output["Fn::Sub"]
    assert (values, address.startswith("https://${Console}/cloudwatch/")) == ({"Console": host}, True)


@pytest.mark.slow
def test_what_cannot_be_changed_later_is_to_be_decided_for_production(transformed: dict[str, Any]) -> None:
    """Set or commented out: every parameter that replaces or removes what holds data, or a subnet."""
    text = (ROOT / "samconfig.toml").read_text(encoding="utf-8").partition("[prod.deploy.parameters]")[2]
    named = set(re.findall(r'^ *(?:# )?"(\w+)=', text, re.MULTILINE))
    assert named <= PARAMETERS.keys()
    before = Deployment(transformed)
    final = {name for name in PARAMETERS if loses(before, Deployment(transformed, **changed(name)))}
    # A restore sets DatabaseSnapshot.
    assert final - named == {"DatabaseSnapshot"}
    # The charset of the tables, and what S3 never takes back.
    assert {"DatabaseCharset", "ObjectLock"} <= named


def changed(parameter: str) -> dict[str, str]:
    zones = {"AvailabilityZoneA": "us-east-1c", "AvailabilityZoneB": "us-east-1d"}
    return zones if parameter in zones else {parameter: another_value(parameter)}


def loses(before: Deployment, after: Deployment) -> bool:
    held = {name for name, each in before.resources.items() if each["Type"] in {*list_protected(), "AWS::EC2::Subnet"}}
    return any(name not in after.resources or after.physical_id(name) != before.physical_id(name) for name in held)
