"""The version of `produce` that its alias points at: no parameter changes without reaching it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any

import pytest

from local.template.intrinsics import load_document
from shell.settings import Settings
from tests.unit.template.conftest import TEMPLATE, Deployed
from tests.unit.template.deploying import Deployment, create_only
from tools.check_template import transform
from tools.packages import Source, all_sources, imports

PARAMETERS: dict[str, dict[str, Any]] = load_document(TEMPLATE)["Parameters"]
# Valid values of parameters that are neither numbers nor choices.
OTHERS = {
    "DatabaseName": "evidence",
    "DatabaseVersion": "8.0.mysql_aurora.3.10.99",
    "DatabaseSnapshot": "arn:aws:rds:us-east-1:123456789012:cluster-snapshot:as-of-nine",
    "CacheNodeType": "cache.t4g.small",
    "JwtIssuer": "https://issuer.example.com",
}
# What these change is read when a production runs; each of them left the alias where it was.
SEEN_BY_PRODUCE = (
    *("DatabaseSnapshot", "DatabaseName", "DatabaseCharset", "CacheNodeType", "LogLevel", "PropertiesFormat"),
)
# The longest values, in characters: Aurora's cluster-<26>, subnet-<17>, a replication group's id (at most 40).
LENGTHS = {"DBClusterResourceId": 34, "Cache": 40, "PrivateSubnetA": 24, "PrivateSubnetB": 24, "DatabaseName": 63}
LONGEST_DESCRIPTION = 256


def another_value(name: str) -> str:
    """A value of the parameter that is not its default."""
    declared = PARAMETERS[name]
    choices = [str(each) for each in declared.get("AllowedValues", []) if each != declared["Default"]]
    if choices:
        return choices[0]
    return str(declared["Default"] + 1) if declared["Type"] == "Number" else OTHERS.get(name, "another")


@cache
def not_read_by_produce() -> frozenset[str]:
    """The variables whose setting is named in no module that `produce` imports, directly or not, at once or later."""
    by_name = {source.module: source for source in all_sources()}
    texts = [source.text for source in _closure(by_name["produce"], by_name) if source.module != "shell.settings"]
    names = (each.name for each in fields(Settings))
    return frozenset(name.upper() for name in names if not any(re.search(rf"\.{name}\b", text) for text in texts))


def _closure(start: Source, by_name: dict[str, Source]) -> Iterator[Source]:
    waiting, seen = [start], {start.module}
    while waiting:
        source = waiting.pop()
        yield source
        names = {prefix for _, name in imports(source) for prefix in (name, name.rpartition(".")[0])}
        found = names & by_name.keys() - seen
        seen |= found
        waiting += [by_name[name] for name in found]


def seen_by_produce(deployment: Deployment) -> dict[str, Any]:
    """The configuration without the variables that nothing in `produce` reads."""
    variables = deployment.configuration["Environment"]["Variables"]
    read = {name: value for name, value in variables.items() if name not in not_read_by_produce()}
    return deployment.configuration | {"Environment": read}


@pytest.fixture(scope="session")
def before(transformed: dict[str, Any]) -> Deployment:
    return Deployment(transformed)


@pytest.fixture(scope="session")
def unnamed() -> dict[str, Any]:
    """The transformed template without the description of the version: as it was, and the negative control."""
    made = transform(TEMPLATE)
    for resource in made["Resources"].values():
        if resource["Type"] == "AWS::Lambda::Version":
            resource["Properties"].pop("Description", None)
    return made


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_a_parameter_that_changes_what_produce_sees_publishes_a_version(
    transformed: dict[str, Any], before: Deployment, name: str
) -> None:
    after = Deployment(transformed, **{name: another_value(name)})
    if seen_by_produce(after) != seen_by_produce(before):
        assert after.published != before.published, f"{name} does not reach the alias of produce"
    if after.published != before.published:
        # PublishVersion: "Lambda doesn't publish a version if the function's configuration and code haven't changed".
        assert after.configuration != before.configuration, f"the deployment of another {name} fails"


@pytest.mark.parametrize("name", SEEN_BY_PRODUCE)
def test_these_parameters_reach_produce_and_did_not_without_the_description(
    transformed: dict[str, Any], unnamed: dict[str, Any], before: Deployment, name: str
) -> None:
    changed = {name: another_value(name)}
    assert Deployment(transformed, **changed).configuration != before.configuration
    assert Deployment(transformed, **changed).published != before.published
    assert Deployment(unnamed, **changed).configuration != Deployment(unnamed).configuration
    assert Deployment(unnamed, **changed).published == Deployment(unnamed).published


def test_a_restore_gives_produce_the_endpoint_and_the_secret_of_the_new_cluster(
    transformed: dict[str, Any], before: Deployment
) -> None:
    after = Deployment(transformed, DatabaseSnapshot=OTHERS["DatabaseSnapshot"])
    old, new = (each.configuration["Environment"]["Variables"] for each in (before, after))
    for variable in ("DB_HOST", "DB_LOCK_HOST", "DB_SECRET_ARN"):
        assert old[variable].startswith(before.physical_id("DatabaseCluster"))
        assert new[variable].startswith(after.physical_id("DatabaseCluster"))
        assert new[variable] != old[variable]


def test_another_size_of_the_same_cache_publishes_nothing(transformed: dict[str, Any]) -> None:
    small, large = (Deployment(transformed, CacheNodeType=f"cache.t4g.{size}") for size in ("small", "large"))
    assert small.configuration == large.configuration
    assert small.published == large.published


def test_what_produce_does_not_read_is_known(deployed: Deployed) -> None:
    assert {"TENANT_CLAIM", "DEFAULT_USER_ID", "CUSTODY_LOCKING"} <= not_read_by_produce()
    read = deployed.variables("ProduceFunction").keys() - not_read_by_produce()
    assert {"DB_HOST", "DB_LOCK_HOST", "DB_SECRET_ARN", "DB_NAME", "BUCKET", "PROPERTIES_FORMAT"} <= read


def test_a_version_that_is_replaced_stays_for_its_executions(deployed: Deployed) -> None:
    (version,) = (each for each in deployed.resources.values() if each["Type"] == "AWS::Lambda::Version")
    assert (version["DeletionPolicy"], version["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_the_description_of_a_version_is_never_too_long(everything: Deployed) -> None:
    (version,) = everything.of_type("AWS::Lambda::Version").values()
    separator, parts = version["Description"]["Fn::Join"]
    lengths = [longest(part) for part in parts]
    assert sum(lengths) + len(separator) * (len(parts) - 1) <= LONGEST_DESCRIPTION


def longest(part: Any) -> int:
    name = part["Ref"] if "Ref" in part else part["Fn::GetAtt"][1]
    choices = PARAMETERS.get(name, {}).get("AllowedValues", [])
    return max(map(len, choices)) if choices else LENGTHS[name]


def test_the_schemas_say_what_replaces_a_database_and_a_version() -> None:
    # The registry's, as shipped by cfn-lint; AWS::Lambda::Version: "Description. Update requires: Replacement".
    assert {"SnapshotIdentifier", "DatabaseName", "KmsKeyId"} <= create_only("AWS::RDS::DBCluster")
    assert "EngineVersion" not in create_only("AWS::RDS::DBCluster")
    assert {"FunctionName", "Description"} <= create_only("AWS::Lambda::Version")
    assert {"AvailabilityZone", "CidrBlock"} <= create_only("AWS::EC2::Subnet")
