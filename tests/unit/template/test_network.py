"""The network: addresses that can be chosen, or a network that is already there, with its endpoints or without."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.unit.template.conftest import EVERY_OPTION, Deployed, deployed_with
from tests.unit.template.test_bucket import texts
from tests.unit.template.test_first_deployment import refusals

OWN = {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::RouteTable", "AWS::EC2::SubnetRouteTableAssociation"}
GIVEN = {"VpcId": "vpc-1", "SubnetIdA": "subnet-1", "SubnetIdB": "subnet-2", "VpcCidr": "10.1.2.0/24"}
TABLES = {"RouteTableIds": "rtb-1,rtb-2"}
TABLES_OF_BOTH = {"Fn::Split": [",", {"Ref": "RouteTableIds"}]}


@pytest.fixture(params=["true", "false"], ids=["endpoints", "no endpoints"])
def existing(transformed: dict[str, Any], request: pytest.FixtureRequest) -> Deployed:
    """Every option in a network that is already there."""
    options = {**EVERY_OPTION, **GIVEN, **TABLES, "EventBusName": "default", "CreateEndpoints": request.param}
    return deployed_with(transformed, options)


def names(value: Any) -> set[str]:
    """What is referred to, or waited for."""
    if isinstance(value, list):
        return {name for item in value for name in names(item)}
    if not isinstance(value, dict):
        return set()
    own = {value["Ref"]} if isinstance(value.get("Ref"), str) else set()
    attribute = {value["Fn::GetAtt"][0]} if isinstance(value.get("Fn::GetAtt"), list) else set()
    return own | attribute | {name for item in value.values() for name in names(item)}


def test_in_a_network_that_is_there_nothing_of_it_is_made_or_referred_to(
    existing: Deployed, everything: Deployed
) -> None:
    assert everything.kinds() >= OWN
    assert not existing.kinds() & OWN
    gone = {name for name, each in everything.resources.items() if each["Type"] in OWN}
    for name, each in existing.resources.items():
        assert not names(each.get("Properties", {})) & gone, name
        assert not {*texts(each.get("DependsOn", []))} & gone, name
    for subnets in (each["SubnetIds"] for each in existing.of_type("AWS::RDS::DBSubnetGroup").values()):
        assert subnets == [{"Ref": "SubnetIdA"}, {"Ref": "SubnetIdB"}]


def test_endpoints_are_made_all_or_none(existing: Deployed) -> None:
    endpoints = existing.of_type("AWS::EC2::VPCEndpoint")
    migration = existing.resources["DatabaseMigration"]["Properties"]
    assert len(endpoints) in (0, 6)
    assert {*names(migration["Endpoints"])} <= {*endpoints}
    for each in endpoints.values():
        assert each["VpcId"] == {"Ref": "VpcId"}
        assert each.get("RouteTableIds", TABLES_OF_BOTH) == TABLES_OF_BOTH


def test_the_migration_waits_for_the_way_to_what_it_calls(everything: Deployed) -> None:
    reached = names(everything.resources["DatabaseMigration"]["Properties"])
    assert {"SecretsEndpoint", "SqsEndpoint", "S3Endpoint", "LambdaEndpoint", "PrivateRouteA"} <= reached


def test_the_addresses_are_those_of_the_parameter(everything: Deployed) -> None:
    (network,) = everything.of_type("AWS::EC2::VPC").values()
    assert network["CidrBlock"] == {"Ref": "VpcCidr"}
    blocks = [each["CidrBlock"]["Fn::Select"] for each in everything.of_type("AWS::EC2::Subnet").values()]
    assert blocks == [[index, {"Fn::Cidr": [{"Ref": "VpcCidr"}, 2, 8]}] for index in (0, 1)]
    rules = everything.of_type("AWS::EC2::SecurityGroup")["FunctionSecurityGroup"]["SecurityGroupEgress"]
    assert {str(each["CidrIp"]) for each in rules} == {"0.0.0.0/0", "{'Ref': 'VpcCidr'}"}


@pytest.mark.parametrize(
    ("cidr", "fits"),
    [("10.41.0.0/16", True), ("10.1.2.0/24", True), ("10.0.0.0/8", False), ("10.0.0.0/29", False), ("10.0.0.0", False)],
)
def test_a_network_has_a_size_that_aws_allows(transformed: dict[str, Any], cidr: str, fits: bool) -> None:
    assert bool(re.fullmatch(transformed["Parameters"]["VpcCidr"]["AllowedPattern"], cidr)) == fits


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, []),
        ({"VpcCidr": "10.1.0.0/16"}, []),
        ({**GIVEN, **TABLES}, []),
        ({**GIVEN, "CreateEndpoints": "false"}, []),
        (GIVEN, ["RouteTableIds"]),
        ({**GIVEN, **TABLES, "VpcCidr": "10.41.0.0/16"}, ["requires VpcCidr"]),
        ({**GIVEN, **TABLES, "SubnetIdB": "subnet-none"}, ["requires SubnetIdB"]),
        ({**GIVEN, **TABLES, "SubnetIdB": "subnet-1"}, ["must differ"]),
        ({"CreateEndpoints": "false"}, ["set CreateEndpoints to true"]),
        ({"SubnetIdA": "subnet-1"}, ["require VpcId"]),
        ({"BackupVaultLock": "governance"}, ["require BackupVaultDays"]),
        ({"BackupVaultLock": "governance", "BackupVaultDays": "35"}, []),
    ],
)
def test_what_does_not_fit_together_is_refused(
    transformed: dict[str, Any], parameters: dict[str, str], said: list[str]
) -> None:
    found = refusals(transformed, parameters)
    assert len(found) == len(said), found
    assert all(text in refusal for text, refusal in zip(said, found, strict=True))
