"""Least privilege: what a function may do is named, action by action and resource by resource."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.template.conftest import Deployed, listed, target
from tools.stack_names import LONGEST_STACK_NAME

# What SAM gives to a function in a network, with a queue, with tracing, and with durable executions; for describing
# network interfaces and sending traces AWS knows no resource but all.
OF_AWS = {
    "AWSLambdaBasicExecutionRole",
    "AWSLambdaVPCAccessExecutionRole",
    "AWSLambdaSQSQueueExecutionRole",
    "AWSLambdaBasicDurableExecutionRolePolicy",
    "AWSXrayWriteOnlyAccess",
}


def allowed(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (statement for statement in document["Statement"] if statement["Effect"] == "Allow")


def identity_policies(deployed: Deployed) -> Iterator[tuple[str, dict[str, Any]]]:
    """Whose it is, and the document, of every policy that is attached to a role."""
    for name, role in deployed.of_type("AWS::IAM::Role").items():
        yield from ((name, policy["PolicyDocument"]) for policy in role.get("Policies", []))
    for name, policy in deployed.of_type("AWS::IAM::ManagedPolicy").items():
        yield name, policy["PolicyDocument"]


def wildcards(statement: dict[str, Any]) -> list[str]:
    """The actions that are not one action, and the resources that are not of one service and name."""
    actions = [action for action in listed(statement["Action"]) if "*" in action]
    resources = [
        repr(each) for each in listed(statement["Resource"]) if re.fullmatch(r"\*|arn:[^:]*:\w*:.*:\*", str(each))
    ]
    return actions + resources


def test_no_policy_has_a_wildcard_action_or_resource(deployed: Deployed) -> None:
    found = {(name, *wildcards(each)) for name, document in identity_policies(deployed) for each in allowed(document)}
    assert [each for each in found if len(each) > 1] == []


@pytest.mark.parametrize(
    ("action", "resource"),
    [("s3:*", "arn:aws:s3:::bucket/key"), ("sqs:SendMessage*", "arn:aws:sqs:::q"), ("s3:GetObject", "*")],
)
def test_a_wildcard_would_be_found(action: str, resource: str) -> None:
    assert len(wildcards({"Action": action, "Resource": resource})) == 1


def test_operators_have_the_data_api_and_no_function_has_it(deployed: Deployed) -> None:
    (cluster,) = deployed.of_type("AWS::RDS::DBCluster").values()
    assert cluster["EnableHttpEndpoint"] == {"Ref": "DatabaseDataApi"}
    assert "rds-data:" not in str([document for _, document in identity_policies(deployed)])


def test_nothing_has_a_name_for_which_a_deployment_needs_another_capability(deployed: Deployed) -> None:
    # CAPABILITY_IAM, as in samconfig.toml, is for roles and policies that CloudFormation names.
    for kind, name in (("AWS::IAM::Role", "RoleName"), ("AWS::IAM::ManagedPolicy", "ManagedPolicyName")):
        assert [each for each in deployed.of_type(kind).values() if name in each] == []


def test_the_only_policies_of_aws_are_those_that_sam_attaches(deployed: Deployed) -> None:
    for function in deployed.functions:
        attached = deployed.role_of(function)["ManagedPolicyArns"]
        arns = [arn for arn in attached if not (isinstance(arn, dict) and "Ref" in arn)]
        assert {str(arn).rpartition("/")[2] for arn in arns} <= OF_AWS, function


def test_no_two_functions_share_a_role(deployed: Deployed) -> None:
    roles = [target(function["Role"]) for function in deployed.functions.values()]
    assert len(set(roles)) == len(roles) == len(deployed.functions)


def test_only_the_tables_of_the_key_say_all_and_mean_the_key_itself(plain: Deployed) -> None:
    (policy,) = [key["KeyPolicy"] for key in plain.of_type("AWS::KMS::Key").values()]
    for statement in policy["Statement"]:
        wild = statement["Action"] == "kms:*"
        assert wild == (statement["Sid"] == "AccountRootAccess")
        assert wild or "Condition" in statement, f"{statement['Sid']} is for anybody's service"


def test_only_the_function_that_splits_files_may_use_the_stored_ids(deployed: Deployed) -> None:
    """Also by a pattern that covers them: a presigned URL of the API's can do what its function may do.

    The purge of a case deletes what is under any prefix, and hands out no URL.
    """
    places: dict[str, set[str]] = {}
    for name, document in identity_policies(deployed):
        for statement in allowed(document):
            keys = (str(each).partition("-evidence/")[2] for each in listed(statement["Resource"]))
            places.setdefault(name, set()).update(key.partition("/")[0] for key in keys if key)
    assert [each[0] for each in places.pop("PurgeCasesFunctionRole")] == ["*"]
    assert [name for name, found in places.items() if "splits" in found] == ["StartImportFunctionRole"]
    assert all("*" not in each for found in places.values() for each in found)
    assert places["ImportsApiFunctionRole"], "it has keys of its own"


def test_produce_reaches_the_checkpoints_of_no_other_function(plain: Deployed) -> None:
    """SAM attaches a policy of AWS for all functions. What the name begins with must not be cut (64 characters)."""
    (denied,) = [
        statement
        for policy in plain.role_of("ProduceFunction")["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
    ]
    assert denied["Action"] == ["lambda:CheckpointDurableExecution", "lambda:GetDurableExecutionState"]
    name = denied["NotResource"]["Fn::Sub"].rpartition(":function:")[2]
    assert name == "${AWS::StackName}-ProduceFunction-*"
    assert "FunctionName" not in plain.functions["ProduceFunction"], "CloudFormation names it"
    assert LONGEST_STACK_NAME + len("-ProduceFunction-") + len("000000000000") <= 64
