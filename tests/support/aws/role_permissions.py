"""What AWS wants to be allowed for a request, and what a function's role, as SAM makes it, allows.

Sources: AWS's pages of each operation (in S3's the paragraph "Permissions", which has rules of its own for versions,
tags and what is not there), the Service Authorization Reference, and for keys the pages on SSE-KMS of S3, SQS and SNS.
Policies are judged by moto's evaluator, and AWS's own policies are those that moto carries.
Guarantees that a request which no rule here speaks of raises UnknownRequestError.
Not looked at: policies of resources, conditions, boundaries; what Lambda does in a function's name, such as reading its
queue, sending its logs and traces.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.iam.aws_managed_policies import aws_managed_policies_data

from local.template.account import ACCOUNT_ID, REGION
from local.template.intrinsics import resolve
from local.template.reader import PSEUDO_PARAMETERS, Template
from tests.support.aws.request_resources import AwsRequest, UnknownRequestError
from tests.unit.template.conftest import Deployed, listed

BUCKET = "arn:aws:s3:::"
# Every store of the template is encrypted with it; tests/unit/template/test_encryption.py holds it to that.
KEY = "arn:aws:local:::DataKey.Arn"
_LAMBDA = {"Invoke": "InvokeFunction"} | {
    name: name for name in ("GetDurableExecution", "GetDurableExecutionState", "CheckpointDurableExecution")
}
_LISTING = {
    "ListObjectsV2": "s3:ListBucket",
    "ListObjectVersions": "s3:ListBucketVersions",
    "ListMultipartUploads": "s3:ListBucketMultipartUploads",
}
_PUTTING = frozenset({"PutObject", "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload"})


class Need(NamedTuple):
    """An action that must be allowed on a resource."""

    action: str
    resource: str


class Grant(NamedTuple):
    """An action that a function's own policies allow on what a pattern says."""

    function: str
    action: str
    pattern: str


def needs(request: AwsRequest) -> list[Need]:
    """Everything that must be allowed for the request to be answered as it was; raises UnknownRequestError."""
    service, _, operation = request.operation.partition(":")
    rules = {"s3": _of_s3, "sqs": _of_sqs, "sns": _of_sns, "lambda": _of_lambda}
    found = list(rules[service](operation, request)) if service in rules else []
    if not found:
        raise UnknownRequestError(f"no rule says what {request} must be allowed")
    return found


def _of_s3(operation: str, request: AwsRequest) -> Iterator[Need]:
    given = request.parameters
    bucket = BUCKET + given.get("Bucket", "")
    place = f"{bucket}/{given.get('Key', '')}"
    if operation in ("GetObject", "HeadObject"):
        yield from _reading(place, bool(given.get("versionId")))
        if not request.found:
            # To a caller that may not list, S3 says of what is not there that it is forbidden.
            yield Need("s3:ListBucket", bucket)
    elif operation in _PUTTING:
        yield from _writing(place, request)
    elif operation in ("CopyObject", "UploadPartCopy"):
        yield from _writing(place, request)
        yield from _copying(place, request)
    elif operation == "AbortMultipartUpload":
        yield Need("s3:AbortMultipartUpload", place)
    elif operation == "ListParts":
        yield Need("s3:ListMultipartUploadParts", place)
    elif operation in _LISTING:
        yield Need(_LISTING[operation], bucket)
    elif operation == "DeleteObject":
        yield Need("s3:DeleteObjectVersion" if given.get("versionId") else "s3:DeleteObject", place)
    elif operation == "DeleteObjects":
        yield from _deleting(bucket, given["Doomed"])


def _reading(place: str, version: bool) -> Iterator[Need]:
    yield Need("s3:GetObjectVersion" if version else "s3:GetObject", place)
    yield Need("kms:Decrypt", KEY)


def _writing(place: str, request: AwsRequest) -> Iterator[Need]:
    yield Need("s3:PutObject", place)
    yield Need("kms:GenerateDataKey", KEY)
    if request.operation != "s3:PutObject":
        # A part is encrypted with the data key of its upload, and a copy's source is decrypted first.
        yield Need("kms:Decrypt", KEY)
    if "x-amz-tagging" in request.headers:
        yield Need("s3:PutObjectTagging", place)
    if any(name.startswith(("x-amz-acl", "x-amz-grant-")) for name in request.headers):
        yield Need("s3:PutObjectAcl", place)


def _copying(place: str, request: AwsRequest) -> Iterator[Need]:
    source, versioned = BUCKET + request.parameters["CopySource"], bool(request.parameters["CopySourceVersion"])
    yield from _reading(source, versioned)
    if request.operation == "s3:CopyObject" and request.headers.get("x-amz-tagging-directive") != "REPLACE":
        yield Need("s3:GetObjectVersionTagging" if versioned else "s3:GetObjectTagging", source)
        yield Need("s3:PutObjectTagging", place)


def _deleting(bucket: str, doomed: Iterable[tuple[str, str]]) -> Iterator[Need]:
    for key, version in doomed:
        # AWS's page of DeleteObjects wants the first always, and the second where a version is named.
        yield Need("s3:DeleteObject", f"{bucket}/{key}")
        if version:
            yield Need("s3:DeleteObjectVersion", f"{bucket}/{key}")


def _of_sqs(operation: str, request: AwsRequest) -> Iterator[Need]:
    actions = {
        "SendMessage": "SendMessage",
        "SendMessageBatch": "SendMessage",
        "ChangeMessageVisibility": "ChangeMessageVisibility",
    }
    if operation in actions:
        name = str(request.parameters["QueueUrl"]).rpartition("/")[2]
        yield Need(f"sqs:{actions[operation]}", f"arn:aws:sqs:{REGION}:{ACCOUNT_ID}:{name}")
        if actions[operation] == "SendMessage":
            yield from _encrypting()


def _of_sns(operation: str, request: AwsRequest) -> Iterator[Need]:
    if operation in ("Publish", "PublishBatch"):
        yield Need("sns:Publish", str(request.parameters["TopicArn"]))
        yield from _encrypting()


def _encrypting() -> Iterator[Need]:
    yield Need("kms:GenerateDataKey", KEY)
    yield Need("kms:Decrypt", KEY)


def _of_lambda(operation: str, request: AwsRequest) -> Iterator[Need]:
    if operation in _LAMBDA:
        resource = request.parameters.get("FunctionName") or request.parameters["DurableExecutionArn"]
        yield Need(f"lambda:{_LAMBDA[operation]}", str(resource))


@cache
def _of_aws() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(aws_managed_policies_data)
    return found


@dataclass
class Roles:
    """The roles of a deployed template, with the names that the local stack gives to what they speak of."""

    deployed: Deployed
    template: Template

    def refused(self, requests: Iterable[AwsRequest]) -> list[str]:
        """What a caller requested and may not do, sorted, each once; a caller that is no function may do nothing."""
        missing = {
            (each.caller, need) for each in requests for need in needs(each) if not self._allows(each.caller, need)
        }
        return sorted(f"{caller} lacks {need.action} on {need.resource}" for caller, need in missing)

    def unused(self, requests: Iterable[AwsRequest]) -> set[Grant]:
        """What functions' own policies allow and no request needed."""
        needed = {(each.caller, need) for each in requests for need in needs(each)}
        return {grant for grant in self.grants if not any(_covers(grant, *each) for each in needed)}

    @cached_property
    def grants(self) -> set[Grant]:
        """What functions' own policies allow, but for the one that all of them have."""
        return {
            Grant(function, action, pattern)
            for function in self.deployed.functions
            for document in self._own(function)
            for statement in document["Statement"]
            for action in listed(statement["Action"])
            for pattern in listed(statement["Resource"])
        }

    def may(self, function: str, action: str) -> bool:
        """Whether the function may do so with anything at all."""
        documents = self._documents(function)
        resources = {
            each for document in documents for said in document["Statement"] for each in listed(said["Resource"])
        }
        return any(self._allows(function, Need(action, resource)) for resource in resources)

    def _allows(self, function: str, need: Need) -> bool:
        judged = {policy.is_action_permitted(*need) for policy in self._policies.get(function, ())}
        return PermissionResult.PERMITTED in judged and PermissionResult.DENIED not in judged

    @cached_property
    def _policies(self) -> dict[str, list[IAMPolicy]]:
        return {
            function: [IAMPolicy({"policy_document": json.dumps(each)}) for each in self._documents(function)]
            for function in self.deployed.functions
        }

    def _own(self, function: str) -> list[Any]:
        """What the policies allow. What one denies is by AWS's names of functions, which the local stack lacks."""
        policies = [each["PolicyDocument"] for each in self.deployed.role_of(function).get("Policies", [])]
        allowed = [[each for each in policy["Statement"] if each["Effect"] == "Allow"] for policy in policies]
        return [self._resolved({"Statement": statements}) for statements in allowed if statements]

    def _documents(self, function: str) -> Sequence[Any]:
        attached = self.deployed.role_of(function)["ManagedPolicyArns"]
        return self._own(function) + [self._managed(arn) for arn in attached]

    def _managed(self, arn: Any) -> Any:
        if isinstance(arn, Mapping) and arn.get("Ref") in self.deployed.resources:
            return self._resolved(self.deployed.resources[arn["Ref"]]["Properties"]["PolicyDocument"])
        return _of_aws()[str(self._resolved(arn)).rpartition("/")[2]]["Document"]

    def _resolved(self, value: Any) -> Any:
        return resolve(value, self._named)

    def _named(self, name: str, attribute: str | None) -> str:
        """The name that the local stack gives; of what it does not have, one that nothing else has."""
        if name in PSEUDO_PARAMETERS:
            return PSEUDO_PARAMETERS[name]
        template = self.template
        if name in template.queues and attribute == "Arn":
            return template.queue_arn(name)
        if name in template.topics:
            return template.topics[name].name if attribute == "TopicName" else template.topic_arn(name)
        if name in template.functions and attribute == "Arn":
            return template.function_arn(name)
        made = self.deployed.resources[name]
        if made["Type"] == "AWS::Lambda::Alias":
            return f"{template.function_arn(made['Properties']['FunctionName']['Ref'])}:{made['Properties']['Name']}"
        return f"arn:aws:local:::{name}.{attribute or 'Ref'}"


def _covers(grant: Grant, caller: str, need: Need) -> bool:
    document = {"Statement": {"Effect": "Allow", "Action": grant.action, "Resource": grant.pattern}}
    permitted = IAMPolicy({"policy_document": json.dumps(document)}).is_action_permitted(*need)
    return caller == grant.function and permitted is PermissionResult.PERMITTED
