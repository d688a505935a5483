"""Generate deploy/deploy-role.yaml: a role that may deploy this stack from GitHub, and what it may do.

The actions are those that CloudFormation's registry names for the types of resources in the template, and those that
SAM and the tools of this repository call. IAM and S3 are limited to names that begin with the stack's name, everything
else to two regions: the role may change other stacks of the same account. Who may deploy writes the roles of the
functions, and so can give them any right.

Run `python -m tools.deploy.role` after a change of the template that adds a type; a test says so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tools.check_template import REGION, transform
from tools.stack_names import LONGEST_STACK_NAME

_ROOT = Path(__file__).parents[2]
TARGET = _ROOT / "deploy" / "deploy-role.yaml"
# "The size of each managed policy cannot exceed 6,144 characters", white space not counted (IAM and AWS STS quotas).
POLICY_CHARACTERS = 6_144


def _name(service: str, actions: str) -> list[str]:
    return [f"{service}:{action}" for action in actions.split()]


# Of options that the template does not use: logs to Firehose, tables in buckets, files in functions.
UNUSED = ("elasticfilesystem", "firehose", "organizations", "s3files", "s3tables", "vpc-lattice", "vpce")
# Documents are not deployed, nor users and groups of IAM.
LEFT_OUT = {
    *_name("s3", "DeleteObject GetObject GetObjectVersion getObject PutObjectAcl"),
    *_name("iam", "AttachGroupPolicy AttachUserPolicy DetachGroupPolicy DetachUserPolicy"),
}
_STACK_CALLS = _name(
    "cloudformation",
    """CreateChangeSet DeleteChangeSet DeleteStack DescribeChangeSet DescribeStackEvents DescribeStackResource
    DescribeStackResources DescribeStacks ExecuteChangeSet GetStackPolicy GetTemplate ListChangeSets ListStackResources
    RollbackStack SetStackPolicy TagResource UntagResource""",
)
_ARTIFACT_CALLS = _name("s3", "GetBucketLocation GetObject GetObjectVersion PutObject")
_TEST_CALLS = _name(
    "cognito-idp", "AdminAddUserToGroup AdminCreateUser AdminDeleteUser AdminInitiateAuth AdminSetUserPassword"
)
# CloudFormation invokes the function of a custom resource, and asks EC2 for Fn::GetAZs; no schema says so. Nor that
# endpoints with private names need Route 53 (Service Authorization Reference, Amazon EC2, dependent actions of
# CreateVpcEndpoint).
_OTHER_CALLS = [
    *_name("cloudformation", "GetTemplateSummary ValidateTemplate"),
    *_name("ec2", "DescribeAccountAttributes DescribeAvailabilityZones"),
    "lambda:InvokeFunction",
    *_name("route53", "AssociateVPCWithHostedZone DisassociateVPCFromHostedZone"),
]
# Actions of the registry that cfn-lint's list of IAM's lacks, and that services check, or may: a stage with tags needs
# apigateway:TagResource (aws-amplify/amplify-cli, issue 12316). IAM accepts actions that it does not know.
UNLISTED = {*_name("apigateway", "TagResource UntagResource"), "lambda:AssociateRuntimeAlias"}

_NOTHING = {"Ref": "AWS::NoValue"}

Statement = dict[str, Any]


@cache
def list_kinds() -> frozenset[str]:
    """Return the types of resources in the transformed template, conditional ones too."""
    return frozenset(each["Type"] for each in transform(_ROOT / "template.yaml")["Resources"].values())


def list_actions(kind: str) -> set[str]:
    """Return the actions of IAM that a type needs; `list_named` has what is left out too."""
    return {each for each in list_named(kind) if each not in LEFT_OUT and _is_action(each)}


def list_named(kind: str) -> set[str]:
    """Return what CloudFormation's registry names for a type: the actions of its handlers, and those for tags."""
    from cfnlint.schema.manager import ProviderSchemaManager

    schema = ProviderSchemaManager().get_resource_schema(REGION, kind).schema
    handlers = [schema.get("handlers", {}).get(name, {}) for name in ("create", "read", "update", "delete")]
    return {action for each in [*handlers, schema.get("tagging", {})] for action in each.get("permissions", [])}


def _is_action(text: str) -> bool:
    """Return whether IAM has this action, of a service that is used; the registry also names calls of APIs."""
    service, _, action = text.partition(":")
    known = _load_services().get(service.lower(), {}).get("Actions", [])
    return service not in UNUSED and (text in UNLISTED or action.lower() in known)


@cache
def _load_services() -> dict[str, Any]:
    from cfnlint.data import AdditionalSpecs
    from cfnlint.helpers import load_resource

    services: dict[str, Any] = load_resource(AdditionalSpecs, "Policies.json")
    return services


def build_template() -> dict[str, Any]:
    """Return the template of the role."""
    actions = {action for kind in list_kinds() for action in list_actions(kind)}
    policies = {
        f"Policy{number}": {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {"PolicyDocument": {"Version": "2012-10-17", "Statement": statements}},
        }
        for number, statements in enumerate(_group(_build_statements(actions)), 1)
    }
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "The role that deploys exhibit-ingest from GitHub. Generated by tools/deploy/role.py.",
        "Parameters": _PARAMETERS,
        "Conditions": {"CreatesProvider": _equals("OidcProvider", ""), "Tests": _equals("RunsSmokeTest", "true")},
        "Resources": {"Provider": _PROVIDER, "Role": _build_role(policies), **policies},
        "Outputs": {
            "RoleArn": {"Description": "The variable DEPLOY_ROLE_ARN.", "Value": {"Fn::GetAtt": ["Role", "Arn"]}}
        },
    }


def _build_statements(actions: set[str]) -> Iterator[Statement]:
    by_service = {prefix: {each for each in actions if each.startswith(f"{prefix}:")} for prefix in ("iam", "s3")}
    linked = {"iam:CreateServiceLinkedRole"}
    roles = _arns("iam::${AWS::AccountId}:role/${StackName}-*", "iam::${AWS::AccountId}:policy/${StackName}-*")
    yield _allow(by_service["iam"] - linked - {"iam:ListRoles"}, roles)
    yield _allow(linked, _arns("iam::${AWS::AccountId}:role/aws-service-role/*"))
    # SAM keeps the built code in a bucket that it creates, with a stack of its own.
    yield _allow(by_service["s3"], _arns("s3:::${StackName}-*", "s3:::aws-sam-cli-managed-default-*"))
    yield _allow(_ARTIFACT_CALLS, _arns("s3:::aws-sam-cli-managed-default-*"))
    stacks = (f"cloudformation:*:${{AWS::AccountId}}:stack/{name}/*" for name in ("${StackName}", "aws-sam-cli-*"))
    yield _allow(_STACK_CALLS, _arns(*stacks, "cloudformation:*:aws:transform/Serverless-2016-10-31"))
    yield {"Fn::If": ["Tests", _allow(_TEST_CALLS, _arns("cognito-idp:*:${AWS::AccountId}:userpool/*")), _NOTHING]}
    objects = _allow(["s3:GetObject", "s3:PutObject"], _arns("s3:::${StackName}-*/*"))
    yield {"Fn::If": ["Tests", objects, _NOTHING]}
    regional = actions - by_service["iam"] - by_service["s3"] | {*_OTHER_CALLS, "iam:ListRoles"}
    for part in _split(sorted(regional, key=str.lower)):
        # Budgets and IAM answer in us-east-1.
        regions = {"StringEquals": {"aws:RequestedRegion": [{"Ref": "AWS::Region"}, "us-east-1"]}}
        yield _allow(part, "*") | {"Condition": regions}


def _split(actions: list[str]) -> Iterator[list[str]]:
    """Yield the actions in parts that leave room in a policy for the rest of the statement."""
    part: list[str] = []
    for action in actions:
        if _count([*part, action]) > POLICY_CHARACTERS - 400:
            yield part
            part = []
        part.append(action)
    yield part


def _group(statements: Iterable[Statement]) -> list[list[Statement]]:
    """Return the statements in as few policies as their order allows."""
    groups: list[list[Statement]] = [[]]
    for statement in statements:
        if groups[-1] and _count([*groups[-1], statement]) > POLICY_CHARACTERS - 100:
            groups.append([])
        groups[-1].append(statement)
    return groups


def _count(value: object) -> int:
    """Return the characters of a value as IAM counts them, or a few more."""
    return len(repr(value).replace(" ", ""))


def _allow(actions: Iterable[str], resource: object) -> Statement:
    return {"Effect": "Allow", "Action": sorted(actions, key=str.lower), "Resource": resource}


def _arns(*names: str) -> list[object]:
    return [{"Fn::Sub": f"arn:${{AWS::Partition}}:{name}"} for name in names]


def _equals(parameter: str, value: str) -> dict[str, Any]:
    return {"Fn::Equals": [{"Ref": parameter}, value]}


def _build_role(policies: Iterable[str]) -> dict[str, Any]:
    provider = {"Fn::If": ["CreatesProvider", {"Ref": "Provider"}, {"Ref": "OidcProvider"}]}
    subject = {"Fn::Sub": "repo:${Repository}:environment:${Environment}"}
    trust = {
        "Effect": "Allow",
        "Principal": {"Federated": provider},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {f"{_ISSUER}:aud": "sts.amazonaws.com", f"{_ISSUER}:sub": subject}},
    }
    properties = {
        "Description": {"Fn::Sub": "Deploys ${StackName} from the environment ${Environment} of ${Repository}."},
        "MaxSessionDuration": 7200,
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
        "ManagedPolicyArns": [{"Ref": name} for name in policies],
    }
    return {"Type": "AWS::IAM::Role", "Properties": properties}


_ISSUER = "token.actions.githubusercontent.com"
_PROVIDER = {
    "Type": "AWS::IAM::OIDCProvider",
    "Condition": "CreatesProvider",
    # Other roles can trust it too.
    "DeletionPolicy": "Retain",
    "UpdateReplacePolicy": "Retain",
    "Properties": {"Url": f"https://{_ISSUER}", "ClientIdList": ["sts.amazonaws.com"]},
}
_PARAMETERS = {
    "StackName": {
        "Type": "String",
        "AllowedPattern": f"[a-z][a-z0-9-]{{0,{LONGEST_STACK_NAME - 1}}}",
        "Description": (
            "Name of the stack that the role deploys, such as exhibit-ingest-staging. The name of the role's own "
            "stack must not begin with it."
        ),
    },
    "Repository": {
        "Type": "String",
        "AllowedPattern": "[^/*]+/[^/*]+",
        "Description": (
            "GitHub's <owner>/<repository>; <owner>@<id>/<repository>@<id> for one that was created, renamed or "
            "transferred since mid-2026 (docs/operations.md, Deploy from GitHub, says how to read it)."
        ),
    },
    "Environment": {
        "Type": "String",
        "AllowedValues": ["staging", "production"],
        "Description": "The environment of the repository whose jobs get the role.",
    },
    "OidcProvider": {
        "Type": "String",
        "Default": "",
        "Description": "ARN of the account's provider for GitHub, if it has one; if empty, one is created.",
    },
    "RunsSmokeTest": {
        "Type": "String",
        "Default": "false",
        "AllowedValues": ["true", "false"],
        "Description": "Allows what make smoke does: create users, read and write objects of the stack. For staging.",
    },
}


def render() -> str:
    """Return the text of deploy/deploy-role.yaml."""
    body = yaml.dump(build_template(), width=118, sort_keys=False, default_flow_style=None, Dumper=_Dumper)
    return f"# Generated by `python -m tools.deploy.role`; docs/operations.md, Deploy from GitHub.\n{body}"


class _Dumper(yaml.SafeDumper):
    """Writes no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return True: a repeated value is repeated."""
        return True


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
    sys.exit(0)
