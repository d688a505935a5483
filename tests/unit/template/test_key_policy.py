"""The stack's key admits every service of AWS that uses it in its own name, whatever the parameters.

IAM policies cover who calls a service. A service that encrypts or decrypts in its own name has no IAM policy: only a
statement of the key's policy admits it, and without one the deployment succeeds and the service fails later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.template.conftest import EVERY_OPTION, OTHER_ISSUER, Deployed, deployed_with, listed, target

LOGS = "logs.${AWS::Region}.${AWS::URLSuffix}"
# The service that uses the key in its own name, by type and property.
IN_ITS_OWN_NAME = {
    # "Allow Lambda to use this key for durable functions" (AWS Lambda Developer Guide, "Encrypting AWS Lambda durable
    # execution data"): Lambda encrypts the input for every caller that invokes the function.
    "AWS::Lambda::Function DurableConfig.KMSKeyArn": "lambda.amazonaws.com",
    # Amazon CloudWatch Logs User Guide, "Encrypt log data in CloudWatch Logs using AWS Key Management Service".
    "AWS::Logs::LogGroup KmsKeyId": LOGS,
    # AWS CloudTrail User Guide, "Configure AWS KMS key policies for CloudTrail".
    "AWS::CloudTrail::Trail KMSKeyId": "cloudtrail.amazonaws.com",
}
# The key is used with the permissions of an identity, which the key's first statement lets IAM policies grant.
WITH_PERMISSIONS_OF = {
    "AWS::Lambda::Function KmsKeyArn": "Lambda's grant, by the deploying identity's kms:CreateGrant",
    "AWS::RDS::DBCluster KmsKeyId": "the grant of RDS, by the deploying identity's kms:CreateGrant",
    "AWS::RDS::DBCluster MasterUserSecret.KmsKeyId": "the deploying identity, and who reads the secret",
    "AWS::SecretsManager::Secret KmsKeyId": "the deploying identity, and who reads the secret",
    "AWS::ElastiCache::ReplicationGroup KmsKeyId": "the grant of ElastiCache, by the deploying identity",
    "AWS::S3::Bucket BucketEncryption.ServerSideEncryptionConfiguration.ServerSideEncryptionByDefault.KMSMasterKeyID": (
        "who reads and writes an object"
    ),
    "AWS::SQS::Queue KmsMasterKeyId": "who sends and receives; services that do are found by the queues' policies",
    "AWS::SNS::Topic KmsMasterKeyId": "who publishes; services that do are found by the topics' policies",
    "AWS::Backup::BackupVault EncryptionKeyArn": "the policies of BackupRole and of AWS Backup's own role",
}
CHOICES = {
    "defaults": {},
    "every option": {**EVERY_OPTION, "DataEventsBucket": "logs", "BackupVaultDays": "30", "ObjectLock": "true"},
    "small": {"Size": "small", "Deployment": "AllAtOnce", **OTHER_ISSUER},
    "large": {"Size": "large"},
}


def uses(value: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The properties that are the key; policies and patterns, which name it as a resource, are left out."""
    if value in ({"Ref": "DataKey"}, {"Fn::GetAtt": ["DataKey", "Arn"]}):
        yield ".".join(path)
    for key, item in value.items() if isinstance(value, dict) else ():
        if key not in ("PolicyDocument", "Policies", "EventPattern"):
            yield from uses(item, (*path, key))
    for item in value if isinstance(value, list) else ():
        yield from uses(item, path)


def uses_of(deployed: Deployed) -> set[str]:
    resources = deployed.resources.values()
    return {f"{each['Type']} {place}" for each in resources for place in uses(each.get("Properties", {}))}


def senders(deployed: Deployed) -> set[str]:
    """The services that send to a queue or topic which the key encrypts."""
    encrypted = {name for name, each in deployed.resources.items() if "KmsMasterKeyId" in each.get("Properties", {})}
    policies = [
        *deployed.of_type("AWS::SQS::QueuePolicy").values(),
        *deployed.of_type("AWS::SNS::TopicPolicy").values(),
    ]
    found = set()
    for policy in policies:
        if encrypted & {target(each) for each in policy.get("Queues", policy.get("Topics", []))}:
            allowed = [each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow"]
            found |= {service for each in allowed for service in listed(each["Principal"]["Service"])}
    return found


def admitted(deployed: Deployed) -> set[str]:
    """The services that may encrypt and decrypt by the key's policy, only for this account."""
    (key,) = deployed.of_type("AWS::KMS::Key").values()
    found = set()
    for statement in key["KeyPolicy"]["Statement"]:
        encrypts = any(action.startswith("kms:GenerateDataKey") for action in listed(statement["Action"]))
        ours_only = "AWS::AccountId" in repr(statement.get("Condition"))
        if "Service" in statement["Principal"] and encrypts and ours_only:
            services = listed(statement["Principal"]["Service"])
            found |= {each["Fn::Sub"] if isinstance(each, dict) else each for each in services}
    return found


@pytest.mark.parametrize("chosen", CHOICES)
def test_a_service_that_uses_the_key_in_its_own_name_is_in_its_policy(transformed: dict[str, Any], chosen: str) -> None:
    deployed = deployed_with(transformed, CHOICES[chosen])
    needed = {IN_ITS_OWN_NAME[use] for use in uses_of(deployed) if use in IN_ITS_OWN_NAME} | senders(deployed)
    assert {"lambda.amazonaws.com", "sns.amazonaws.com", "s3.amazonaws.com", LOGS} <= needed
    assert admitted(deployed) == needed


@pytest.mark.parametrize("chosen", CHOICES)
def test_every_use_of_the_key_is_one_or_the_other(transformed: dict[str, Any], chosen: str) -> None:
    assert uses_of(deployed_with(transformed, CHOICES[chosen])) <= IN_ITS_OWN_NAME.keys() | WITH_PERMISSIONS_OF.keys()


def test_every_entry_of_both_lists_is_made_with_some_parameters(transformed: dict[str, Any]) -> None:
    found = uses_of(deployed_with(transformed, CHOICES["every option"]))
    assert found == IN_ITS_OWN_NAME.keys() | WITH_PERMISSIONS_OF.keys()


def test_without_its_statement_lambda_is_missed(transformed: dict[str, Any]) -> None:
    deployed = deployed_with(transformed, {})
    (key,) = deployed.of_type("AWS::KMS::Key").values()
    policy = key["KeyPolicy"]
    policy["Statement"] = [each for each in policy["Statement"] if each["Sid"] != "AllowLambdaDurableExecutions"]
    assert "lambda.amazonaws.com" not in admitted(deployed)


def test_who_sends_events_of_rds_and_alarms_is_found_by_the_policy_of_their_topic(plain: Deployed) -> None:
    assert plain.of_type("AWS::RDS::EventSubscription")
    assert plain.of_type("AWS::CloudWatch::Alarm")
    assert {"events.rds.amazonaws.com", "cloudwatch.amazonaws.com"} <= senders(plain)
