"""Everything that can be encrypted is, at rest with the stack's own key and on the way with TLS."""

from __future__ import annotations

from typing import Any

from core.exports.columns import KEPT_DAYS
from tests.unit.template.conftest import Deployed, deployed_with, target

# Type, and where its key stands. The cache's parameter is as the others': an option, and then encrypted.
KEYS = {
    "AWS::SQS::Queue": "KmsMasterKeyId",
    "AWS::SNS::Topic": "KmsMasterKeyId",
    "AWS::Logs::LogGroup": "KmsKeyId",
    "AWS::Lambda::Function": "KmsKeyArn",
    "AWS::RDS::DBCluster": "KmsKeyId",
    "AWS::ElastiCache::ReplicationGroup": "KmsKeyId",
    "AWS::SecretsManager::Secret": "KmsKeyId",
}


# What reports that the key is lost; its messages are of CloudWatch and have no content.
WITHOUT_KEY = {"PageTopic"}


def test_whatever_rests_is_encrypted_with_the_stacks_key(deployed: Deployed) -> None:
    for kind, key in KEYS.items():
        for name, properties in deployed.of_type(kind).items():
            if name in WITHOUT_KEY:
                continue
            assert key in properties, f"{name} is not encrypted"
            assert target(properties[key]) == "DataKey", name


def test_every_type_with_an_option_to_encrypt_is_looked_at(everything: Deployed) -> None:
    known = {*KEYS, "AWS::S3::Bucket", "AWS::KMS::Key"}
    options = {"KmsKeyId", "KmsMasterKeyId", "KmsKeyArn", "KMSMasterKeyID", "StorageEncrypted", "SqsManagedSseEnabled"}
    encrypting = {each["Type"] for each in everything.resources.values() if options & {*keys_of(each)}}
    assert encrypting <= known
    assert {*KEYS} <= everything.kinds()


def keys_of(value: Any) -> list[str]:
    if isinstance(value, list):
        return [key for item in value for key in keys_of(item)]
    if not isinstance(value, dict):
        return []
    return [key for name, item in value.items() for key in (name, *keys_of(item))]


def test_the_bucket_encrypts_keeps_versions_is_private_and_reached_by_tls_alone(deployed: Deployed) -> None:
    (bucket,) = deployed.of_type("AWS::S3::Bucket").values()
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert target(rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"]) == "DataKey"
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert [*bucket["PublicAccessBlockConfiguration"].values()] == [True] * 4
    (policy,) = deployed.of_type("AWS::S3::BucketPolicy").values()
    (denied,) = policy["PolicyDocument"]["Statement"]
    assert (denied["Effect"], denied["Principal"], denied["Action"]) == ("Deny", "*", "s3:*")
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert denied["Resource"] == [{"Fn::GetAtt": ["EvidenceBucket", "Arn"]}, {"Fn::Sub": "${EvidenceBucket.Arn}/*"}]


def test_the_key_is_open_to_cloudtrail_only_where_there_is_a_trail(transformed: dict[str, Any]) -> None:
    sids = []
    for bucket in ("", "logs"):
        (key,) = deployed_with(transformed, {"DataEventsBucket": bucket}).of_type("AWS::KMS::Key").values()
        sids.append("AllowCloudTrail" in {each["Sid"] for each in key["KeyPolicy"]["Statement"]})
    assert sids == [False, True]


def test_no_version_of_a_load_file_ever_expires(deployed: Deployed) -> None:
    (bucket,) = deployed.of_type("AWS::S3::Bucket").values()
    for rule in bucket["LifecycleConfiguration"]["Rules"]:
        expires = {"ExpirationInDays", "NoncurrentVersionExpiration", "NoncurrentVersionExpirationInDays"} & rule.keys()
        assert not expires or rule.get("Prefix") in ("reports/", "splits/", "previews/", "exports/"), rule["Id"]


def test_stored_ids_outlast_a_request_in_every_version_and_expire(deployed: Deployed) -> None:
    (bucket,) = deployed.of_type("AWS::S3::Bucket").values()
    (rule,) = [each for each in bucket["LifecycleConfiguration"]["Rules"] if each.get("Prefix") == "splits/"]
    days = deployed.resources["ImportRequestsQueue"]["Properties"]["MessageRetentionPeriod"] / 86_400
    assert rule["ExpirationInDays"] >= days
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 1}


def test_the_database_is_reached_by_tls_alone_and_not_from_outside(deployed: Deployed) -> None:
    (parameters,) = deployed.of_type("AWS::RDS::DBClusterParameterGroup").values()
    assert parameters["Parameters"]["require_secure_transport"] == "ON"
    assert all(
        instance["PubliclyAccessible"] is False for instance in deployed.of_type("AWS::RDS::DBInstance").values()
    )
    assert all(proxy["RequireTLS"] for proxy in deployed.of_type("AWS::RDS::DBProxy").values())


def test_the_cache_is_reached_by_tls_alone_and_forgets_nothing(everything: Deployed) -> None:
    (cache,) = everything.of_type("AWS::ElastiCache::ReplicationGroup").values()
    assert (cache["TransitEncryptionEnabled"], cache["AtRestEncryptionEnabled"]) == (True, True)
    assert "AuthToken" in cache
    (parameters,) = everything.of_type("AWS::ElastiCache::ParameterGroup").values()
    assert parameters["Properties"] == {"maxmemory-policy": "noeviction"}


def test_what_must_outlive_the_stack_does_and_with_it_its_key(plain: Deployed) -> None:
    # Layers and versions of functions hold nothing of anybody's: SAM keeps the old ones for a roll-back.
    code = {"AWS::Lambda::LayerVersion", "AWS::Lambda::Version"}
    kept = {
        name: each
        for name, each in plain.resources.items()
        if each.get("DeletionPolicy", "Delete") != "Delete" and each["Type"] not in code
    }
    # What a first deployment that failed has made is empty, and the next one needs its names.
    retained = dict.fromkeys(("EvidenceBucket", "DataKey", "UserPool"), "RetainExceptOnCreate")
    assert {name: each["DeletionPolicy"] for name, each in kept.items()} == retained | {"DatabaseCluster": "Snapshot"}
    assert all(each["DeletionPolicy"].startswith(each["UpdateReplacePolicy"]) for each in kept.values())
    # cfn-lint would warn (W3011) of these alone: a replaced function of produce stays for its executions.
    replaced = {name for name, each in plain.resources.items() if "UpdateReplacePolicy" in each and name not in kept}
    assert {name.partition("Version")[0] for name in replaced} == {
        *("ProduceFunction", "ProduceFunctionRole", "ProduceFunctionAliaslive"),
    }


def test_nothing_that_shows_statements_is_switched_on(deployed: Deployed) -> None:
    (cluster,) = deployed.of_type("AWS::RDS::DBCluster").values()
    assert cluster["EnableCloudwatchLogsExports"] == ["error"]
    assert "innodb_print_all_deadlocks" not in str(deployed.of_type("AWS::RDS::DBClusterParameterGroup"))
    assert not any(
        instance.get("EnablePerformanceInsights") for instance in deployed.of_type("AWS::RDS::DBInstance").values()
    )


def test_the_network_is_not_reached_from_outside(deployed: Deployed) -> None:
    assert not {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::EIP"} & deployed.kinds()
    ingress = [
        rule
        for group in deployed.of_type("AWS::EC2::SecurityGroup").values()
        for rule in group.get("SecurityGroupIngress", [])
    ]
    ingress += deployed.of_type("AWS::EC2::SecurityGroupIngress").values()
    assert ingress
    assert [rule for rule in ingress if "SourceSecurityGroupId" not in rule or "CidrIp" in rule] == []


def test_every_service_that_the_functions_call_has_its_endpoint(deployed: Deployed) -> None:
    names = [endpoint["ServiceName"]["Fn::Sub"] for endpoint in deployed.of_type("AWS::EC2::VPCEndpoint").values()]
    assert {name.rpartition(".")[2] for name in names} == {"s3", "sqs", "sns", "secretsmanager", "lambda"}


def test_the_file_of_an_export_is_kept_as_long_as_the_api_offers_it(deployed: Deployed) -> None:
    (bucket,) = deployed.of_type("AWS::S3::Bucket").values()
    [rule] = [each for each in bucket["LifecycleConfiguration"]["Rules"] if each.get("Prefix") == "exports/"]
    assert rule["ExpirationInDays"] == KEPT_DAYS
