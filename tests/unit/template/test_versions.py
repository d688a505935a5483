"""The versions that aliases point at: no parameter changes without reaching them, and none publishes what is there."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from local.template.intrinsics import load_document
from tests.unit.template.conftest import TEMPLATE, Deployed
from tests.unit.template.deployment_rules import Deployment, create_only

pytestmark = pytest.mark.slow

DOCUMENT = load_document(TEMPLATE)
PARAMETERS: dict[str, dict[str, Any]] = DOCUMENT["Parameters"]
ALIASED = sorted(name for name, each in DOCUMENT["Resources"].items() if "AutoPublishAlias" in each["Properties"])
API = [name for name in ALIASED if name.endswith("ApiFunction")]
# Valid values of parameters that are neither numbers nor choices.
OTHERS = {
    "DatabaseName": "evidence",
    "DatabaseVersion": "8.0.mysql_aurora.3.10.99",
    "DatabaseSnapshot": "arn:aws:rds:us-east-1:123456789012:cluster-snapshot:as-of-nine",
    "CacheNodeType": "cache.t4g.small",
    "JwtIssuer": "https://issuer.example.com",
    "AlarmEmail": "operator@example.com",
}
# What these change is read by the functions; each of them left the aliases where they were.
SEEN = (
    *("DatabaseSnapshot", "DatabaseName", "DatabaseCharset", "CacheNodeType", "LogLevel", "PropertiesFormat"),
    *("TenantClaim", "RolesClaim", "RolesPrefix", "DefaultRole", "CasesClaim", "CasesRequired"),
    "UserNameClaim",
    "EventBusName",
    *("IdempotencyTtlHours", "CustodyLocking"),
)
# The longest values, in characters: Aurora's cluster-<26>, subnet-<17>, a replication group's id (at most 40).
LENGTHS = {"DBClusterResourceId": 34, "Cache": 40, "PrivateSubnetA": 24, "PrivateSubnetB": 24, "DatabaseName": 63}
LENGTHS |= dict.fromkeys(("DefaultUserId", "TenantClaim", "RolesClaim", "CasesClaim", "UserNameClaim"), 128)
LENGTHS |= {"RolesPrefix": 64, "EventBusName": 40}
# An ARN up to the name of the policy (arn:aws-us-gov:iam::<12>:policy/), and the longest name.
LENGTHS["FunctionConfiguration"] = 41 + 128
LONGEST_DESCRIPTION, LONGEST_POLICY_DESCRIPTION = 256, 1000


def another_value(name: str) -> str:
    """A value of the parameter that is not its default."""
    declared = PARAMETERS[name]
    choices = [str(each) for each in declared.get("AllowedValues", []) if each != declared["Default"]]
    if choices:
        return choices[0]
    return str(declared["Default"] + 1) if declared["Type"] == "Number" else OTHERS.get(name, "another")


@pytest.fixture(scope="session")
def before(transformed: dict[str, Any]) -> Deployment:
    return Deployment(transformed)


@pytest.fixture(scope="session")
def unnamed(transformed: dict[str, Any]) -> dict[str, Any]:
    """The transformed template without the descriptions of the versions: the negative control."""
    made = copy.deepcopy(transformed)
    for resource in made["Resources"].values():
        if resource["Type"] == "AWS::Lambda::Version":
            resource["Properties"].pop("Description", None)
    return made


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_a_parameter_publishes_a_version_exactly_if_it_changes_the_function(
    transformed: dict[str, Any], before: Deployment, name: str
) -> None:
    after = Deployment(transformed, **{name: another_value(name)})
    for function in ALIASED:
        changes = after.configuration(function) != before.configuration(function)
        publishes = after.published(function) != before.published(function)
        assert publishes or not changes, f"{name} does not reach the alias of {function}"
        # PublishVersion: "Lambda doesn't publish a version if the function's configuration and code haven't changed".
        assert changes or not publishes, f"the deployment of another {name} fails at {function}"


@pytest.mark.parametrize("name", SEEN)
def test_these_parameters_reach_the_functions_and_did_not_without_the_description(
    transformed: dict[str, Any], unnamed: dict[str, Any], before: Deployment, name: str
) -> None:
    changed = {name: another_value(name)}
    after = Deployment(transformed, **changed)
    unnamed_before, unnamed_after = Deployment(unnamed), Deployment(unnamed, **changed)
    for function in ALIASED:
        assert after.configuration(function) != before.configuration(function), function
        assert after.published(function) != before.published(function), function
        assert unnamed_after.configuration(function) != unnamed_before.configuration(function), function
        assert unnamed_after.published(function) == unnamed_before.published(function), function


@pytest.mark.parametrize("name", ["DatabaseProxy", "SnapStart"])
def test_the_proxy_and_snapshots_give_versions_to_the_api_alone(
    transformed: dict[str, Any], before: Deployment, name: str
) -> None:
    after = Deployment(transformed, **{name: another_value(name)})
    assert [each for each in ALIASED if after.published(each) != before.published(each)] == API


def test_a_restore_gives_produce_the_endpoint_of_the_new_cluster_and_the_migration_its_secret(
    transformed: dict[str, Any], before: Deployment
) -> None:
    after = Deployment(transformed, DatabaseSnapshot=OTHERS["DatabaseSnapshot"])
    old, new = (each.configuration("ProduceFunction")["Environment"]["Variables"] for each in (before, after))
    for variable in ("DB_HOST", "DB_LOCK_HOST"):
        assert old[variable].startswith(before.physical_id("DatabaseCluster"))
        assert new[variable].startswith(after.physical_id("DatabaseCluster"))
        assert new[variable] != old[variable]
    assert new["DB_SECRET_ARN"] == old["DB_SECRET_ARN"], "the migration gives the restored database this user"
    administrator = after.configuration("MigrateDatabaseFunction")["Environment"]["Variables"]["DB_SECRET_ARN"]
    assert administrator.startswith(after.physical_id("DatabaseCluster"))


def test_another_size_of_the_same_cache_publishes_nothing(transformed: dict[str, Any]) -> None:
    small, large = (Deployment(transformed, CacheNodeType=f"cache.t4g.{size}") for size in ("small", "large"))
    for function in ALIASED:
        assert small.configuration(function) == large.configuration(function)
        assert small.published(function) == large.published(function)


def test_a_version_stays_for_its_executions_or_goes_with_its_snapshot(deployed: Deployed) -> None:
    versions = {name: each for name, each in deployed.resources.items() if each["Type"] == "AWS::Lambda::Version"}
    assert len(versions) == len(ALIASED)
    for name, version in versions.items():
        kept = "Retain" if name.startswith("ProduceFunction") else "Delete"
        assert (version["DeletionPolicy"], version.get("UpdateReplacePolicy", "Delete")) == (kept, kept), name


def test_no_description_is_ever_too_long(everything: Deployed) -> None:
    for version in everything.of_type("AWS::Lambda::Version").values():
        assert length(version["Description"]) <= LONGEST_DESCRIPTION
    policy = everything.resources["FunctionConfiguration"]["Properties"]
    assert length(policy["Description"]) <= LONGEST_POLICY_DESCRIPTION


def length(value: Any) -> int:
    """The longest that a description can be."""
    match value:
        case {"Fn::Join": [str(separator), list(parts)]}:
            return sum(map(length, parts)) + len(separator) * (len(parts) - 1)
        case {"Fn::Sub": str(text)}:
            names = text.replace("${", "").replace("}", "").split(" ")
            return sum(length({"Ref": name}) for name in names) + len(names) - 1
        case {"Ref": str(name)} | {"Fn::GetAtt": [_, str(name)]}:
            declared = PARAMETERS.get(name, {})
            choices = [str(each) for each in (*declared.get("AllowedValues", []), declared.get("MaxValue", ""))]
            return LENGTHS[name] if name in LENGTHS else max(map(len, choices))
    return len(value)


@pytest.mark.parametrize("name", ["DefaultUserId", "TenantClaim", "RolesClaim", "CasesClaim", "UserNameClaim"])
def test_what_a_description_names_has_no_blank_and_a_greatest_length(name: str) -> None:
    assert PARAMETERS[name]["AllowedPattern"] == f"[!-~]{{1,{LENGTHS[name]}}}"


def test_a_prefix_of_roles_has_neither_a_blank_nor_a_comma_which_separate_them() -> None:
    pattern = PARAMETERS["RolesPrefix"]["AllowedPattern"]
    allowed = {text for text in ("", "app:", "a b:", "a,", "x" * 64, "x" * 65) if re.fullmatch(pattern, text)}
    assert allowed == {"", "app:", "x" * LENGTHS["RolesPrefix"]}


def test_the_schemas_say_what_replaces_a_database_a_version_and_a_policy() -> None:
    # The registry's, as shipped by cfn-lint; AWS::Lambda::Version: "Description. Update requires: Replacement".
    assert {"SnapshotIdentifier", "DatabaseName", "KmsKeyId"} <= create_only("AWS::RDS::DBCluster")
    assert "EngineVersion" not in create_only("AWS::RDS::DBCluster")
    assert {"FunctionName", "Description"} <= create_only("AWS::Lambda::Version")
    assert "Description" in create_only("AWS::IAM::ManagedPolicy")
    assert {"AvailabilityZone", "CidrBlock"} <= create_only("AWS::EC2::Subnet")
