"""deploy/deploy-role.yaml: a role for GitHub that can deploy the template, and that one environment can assume."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cfnlint.api import lint_file

from tests.unit.template.conftest import ROOT, Deployed, deployed_with, listed
from tools.deploy.role import (
    LEFT_OUT,
    POLICY_CHARACTERS,
    TARGET,
    UNLISTED,
    UNUSED,
    list_actions,
    list_kinds,
    list_named,
    render,
)
from tools.stack_names import LONGEST_STACK_NAME

TEMPLATE: dict[str, Any] = yaml.safe_load(TARGET.read_text(encoding="utf-8"))
ISSUER = "token.actions.githubusercontent.com"
# CloudFormation invokes its function, and calls no service for it.
WITHOUT_ACTIONS = {"AWS::CloudFormation::CustomResource"}


def role(**parameters: str) -> Deployed:
    """What CloudFormation makes of the template with these parameters."""
    named = {"StackName": "exhibit-ingest-staging", "Repository": "firm/exhibit-ingest", "Environment": "staging"}
    return deployed_with(TEMPLATE, {**named, **parameters})


def statements(deployed: Deployed) -> Iterator[dict[str, Any]]:
    for policy in deployed.of_type("AWS::IAM::ManagedPolicy").values():
        yield from policy["PolicyDocument"]["Statement"]


def allowed(deployed: Deployed) -> set[str]:
    return {action.lower() for each in statements(deployed) for action in listed(each["Action"])}


def test_the_file_is_what_the_template_needs_today() -> None:
    assert TARGET.read_text(encoding="utf-8") == render(), "run: python -m tools.deploy.role"


@pytest.mark.parametrize("kind", sorted(list_kinds()))
def test_every_type_of_resource_can_be_made_changed_and_deleted(kind: str) -> None:
    needed = list_actions(kind)
    assert bool(needed) == (kind not in WITHOUT_ACTIONS)
    assert {each.lower() for each in needed} <= allowed(role())


def test_whatever_else_the_registry_names_is_no_action_of_iam() -> None:
    """The registry has names of calls of APIs, whose actions it names too: PutBucketCORS, MountCapsule."""
    named = {each for kind in list_kinds() for each in list_named(kind)} - LEFT_OUT
    left_out = named - {each for kind in list_kinds() for each in list_actions(kind)}
    buckets = """Analytics/Configuration Cors Encryption Lifecycle Metrics/Configuration Replication Tagging"""
    assert {each for each in left_out if each.partition(":")[0] not in UNUSED} == {
        *(f"s3:DeleteBucket{each.replace('/', '')}" for each in buckets.split()),
        *("s3:PutBucketReplication", "s3:PutObjectLockConfiguration", "s3:REST.PUT.OBJECT"),
        "backup-storage:Mount",
    }
    instead = """s3:PutAnalyticsConfiguration s3:PutBucketCORS s3:PutEncryptionConfiguration
    s3:PutLifecycleConfiguration s3:PutMetricsConfiguration s3:PutReplicationConfiguration s3:PutBucketTagging
    s3:PutBucketObjectLockConfiguration
    backup-storage:MountCapsule"""
    assert {each.lower() for each in instead.split()} <= allowed(role())


def test_endpoints_with_private_names_can_be_made() -> None:
    assert {"route53:associatevpcwithhostedzone", "route53:disassociatevpcfromhostedzone"} <= allowed(role())


def test_what_a_new_type_needs_is_missed() -> None:
    assert not {each.lower() for each in list_actions("AWS::DynamoDB::Table")} <= allowed(role())


def test_the_policies_are_within_the_quotas_of_iam() -> None:
    """6,144 characters each without white space, ten attached to a role."""
    policies = role(RunsSmokeTest="true").of_type("AWS::IAM::ManagedPolicy")
    # Of an ARN, the parts that are filled in are shorter than what stands for them, but for the names.
    sizes = [len(json.dumps(each["PolicyDocument"], separators=(",", ":"))) + 100 for each in policies.values()]
    assert max(sizes) <= POLICY_CHARACTERS
    (made,) = role().of_type("AWS::IAM::Role").values()
    assert [each["Ref"] for each in made["ManagedPolicyArns"]] == [*policies]
    assert len(policies) <= 10


def test_no_action_is_a_pattern_and_roles_and_buckets_are_those_of_the_stack() -> None:
    for each in statements(role(RunsSmokeTest="true")):
        services = {action.partition(":")[0] for action in each["Action"]}
        assert not [action for action in each["Action"] if "*" in action]
        if each["Resource"] == "*":
            assert each["Condition"]["StringEquals"]["aws:RequestedRegion"]
            assert "s3" not in services
            assert {action for action in each["Action"] if action.startswith("iam:")} <= {"iam:ListRoles"}
    places = [
        arn["Fn::Sub"].rpartition(":")[2] for each in statements(role()) for arn in each["Resource"] if arn != "*"
    ]
    assert {*places} == {
        *("role/${StackName}-*", "policy/${StackName}-*", "role/aws-service-role/*", "${StackName}-*"),
        *("aws-sam-cli-managed-default-*", "stack/${StackName}/*", "stack/aws-sam-cli-*/*"),
        "transform/Serverless-2016-10-31",
    }


def test_documents_are_out_of_reach_but_for_a_smoke_test() -> None:
    def objects(deployed: Deployed) -> set[str]:
        places = ("${StackName}-*", "${StackName}-*/*")
        of_bucket = [
            each
            for each in statements(deployed)
            if any(str(arn).endswith(f":::{p}'}}") for p in places for arn in listed(each["Resource"]))
        ]
        return {action for each in of_bucket for action in each["Action"]} & {*LEFT_OUT, "s3:PutObject"}

    assert objects(role()) == set()
    assert objects(role(RunsSmokeTest="true")) == {"s3:GetObject", "s3:PutObject"}
    assert not any("Admin" in action for each in statements(role()) for action in each["Action"])


@pytest.mark.parametrize("provider", ["", "arn:aws:iam::123456789012:oidc-provider/" + ISSUER])
def test_one_environment_of_one_repository_gets_the_role(provider: str) -> None:
    made = role(OidcProvider=provider)
    (properties,) = made.of_type("AWS::IAM::Role").values()
    (trust,) = properties["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Action"] == "sts:AssumeRoleWithWebIdentity"
    assert trust["Principal"] == {"Federated": {"Ref": "OidcProvider" if provider else "Provider"}}
    assert len(made.of_type("AWS::IAM::OIDCProvider")) == (not provider)
    # A wildcard would let every branch in.
    subject = {"Fn::Sub": "repo:${Repository}:environment:${Environment}"}
    assert trust["Condition"] == {"StringEquals": {f"{ISSUER}:aud": "sts.amazonaws.com", f"{ISSUER}:sub": subject}}


@pytest.mark.parametrize(
    ("parameter", "value", "fits"),
    [
        ("StackName", "a" * LONGEST_STACK_NAME, True),
        ("StackName", "a" * (LONGEST_STACK_NAME + 1), False),
        ("Repository", "firm/exhibit-ingest", True),
        # The subject of GitHub's tokens for a repository made, renamed or transferred since mid-2026.
        ("Repository", "firm@123456/exhibit-ingest@456789", True),
        ("Repository", "firm/*", False),
    ],
)
def test_a_parameter_takes_what_can_be_deployed(parameter: str, value: str, fits: bool) -> None:
    assert bool(re.fullmatch(TEMPLATE["Parameters"][parameter]["AllowedPattern"], value)) == fits


def test_the_linter_finds_only_that_it_does_not_know_some_actions() -> None:
    """One of them is required for stages with tags: aws-amplify/amplify-cli, issue 12316."""
    found = [(each.rule.id, each.message.partition("'")[2].partition("'")[0]) for each in lint_file(Path(TARGET))]
    assert sorted(found) == sorted(("W3037", each.partition(":")[2].lower()) for each in UNLISTED)


def test_the_guide_deploys_it() -> None:
    guide = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    assert "--template-file deploy/deploy-role.yaml" in guide
    given = {name for name in TEMPLATE["Parameters"] if f"{name}=" in guide}
    assert given == set(TEMPLATE["Parameters"])
    # Names of roles begin with the stack's: the role could change itself.
    (own,) = re.findall(r"deploy-role\.yaml --stack-name (\S+)", guide)
    (deployed,) = re.findall(r"StackName=(\S+)", guide)
    assert not [name for name in (deployed, "exhibit-ingest") if own.startswith(name)]
