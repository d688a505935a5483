"""Every built function does its work when AWS's emulator hands it the event of events/, and may do what it asks for.

The work is judged by its effect alone. moto allows everything; what AWS would refuse is found here: of whatever the
built functions ask AWS for, the roles that SAM makes of template.yaml decide whether that function may, and of what
they allow whether anybody needs it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from types import ModuleType

import pytest
from sqlalchemy import URL

from local.lambda_runtime.build_artifact import Artifact
from local.stack.options import DEFAULT_TEMPLATE, REPOSITORY
from local.template.reader import Template
from tests.artifact import document_effects
from tests.artifact.event_sender import logical_id
from tests.artifact.exhaustive_requests import HANDLERS, MODULES, do_everything, effects_in
from tests.artifact.observed_stack import watched
from tests.support.aws.reachable_calls import Sources, never_made
from tests.support.aws.request_resources import AwsRequest, UnknownRequestError, methods, read_request
from tests.support.aws.role_permissions import Grant, Roles, needs
from tests.support.servers.recording_proxy import Seen
from tests.unit.template.conftest import TEMPLATE, Deployed, deployed_with, listed
from tools.check_template import transform

WIRED = Template.load(DEFAULT_TEMPLATE)
EVIDENCE = "arn:aws:s3:::exhibit-ingest-local-123456789012-us-east-1-evidence"
# Of an upload that S3 names no version of, as while the bucket's versioning is suspended; every other is read
# by its version.
READERS = (
    *("StartImportFunction", "ImportChunkFunction", "WriteImportReportFunction"),
    *("ImportChecksApiFunction", "ProfilesApiFunction"),
)
UNSEEN = {Grant(each, "s3:GetObject", f"{EVIDENCE}/{place}/*") for each in READERS for place in ("imports", "volumes")}
CORRECTED = ("ImportChunkFunction", "WriteImportReportFunction", "ImportChecksApiFunction")
UNSEEN |= {Grant(each, "s3:GetObject", f"{EVIDENCE}/corrections/*") for each in CORRECTED}
UNSEEN |= {
    Grant("ProcessVolumeFunction", "s3:GetObject", f"{EVIDENCE}/archives/*"),
    Grant("ProduceFunction", "s3:GetObject", f"{EVIDENCE}/volumes/*"),
}
# The local stack's functions get DATABASE_URL, and look up no secret; the other secret is every function's.
ADMINISTRATOR = "arn:aws:local:::DatabaseCluster.MasterUserSecret.SecretArn"
UNSEEN |= {Grant("MigrateDatabaseFunction", "secretsmanager:GetSecretValue", ADMINISTRATOR)}
PURGER = "arn:aws:local:::PurgeUserSecret.Ref"
UNSEEN |= {
    Grant(each, "secretsmanager:GetSecretValue", PURGER) for each in ("MigrateDatabaseFunction", "PurgeCasesFunction")
}
# Of a version that S3 refuses to delete: the bucket has no Object Lock here.
UNSEEN |= {
    Grant("PurgeCasesFunction", f"s3:GetObject{each}", f"{EVIDENCE}/*")
    for each in ("Version", "Retention", "LegalHold")
}
# For the rest of a migration that takes longer than an invocation.
ITSELF = "arn:aws:lambda:us-east-1:123456789012:function:exhibit-ingest-local-MigrateDatabaseFunction-*"
UNSEEN |= {Grant("MigrateDatabaseFunction", "lambda:InvokeFunction", ITSELF)}
# They name a class of which they do not use this method.
NOT_MADE = {("CustodiansApiFunction", "s3.head_object"), ("WriteImportReportFunction", "s3.head_object")}
NOT_MADE |= {("ImportChecksApiFunction", "s3.get_object"), ("ProductionsApiFunction", "s3.get_object")}
NOT_MADE |= {("UploadsApiFunction", "s3.complete_multipart_upload"), ("PurgeCasesFunction", "s3.head_object")}
NOT_MADE |= {("MigrateDatabaseFunction", "lambda.invoke")}
# They give no queue to `sqs_handler`, which then neither postpones a message nor sends it again.
NOT_MADE |= {
    ("HandleFailedChunkFunction", "sqs.change_message_visibility"),
    ("HandleFailedImportFunction", "sqs.change_message_visibility"),
}
MADE_OF = {
    "s3.upload_fileobj": ("PutObject", "CreateMultipartUpload", "UploadPart", "AbortMultipartUpload"),
    "s3.copy": ("CreateMultipartUpload", "UploadPartCopy", "CompleteMultipartUpload"),
}


@pytest.fixture(scope="module")
def done(
    artifact: Artifact, schema_url: URL, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[AwsRequest], dict[str, Exception]]:
    """All that the functions requested when they had done everything, and the handlers that did not do their work."""
    with watched(artifact, schema_url, tmp_path_factory.mktemp("watched")) as watching:
        broken = do_everything(watching, HANDLERS.values())
        return watching.requests(), broken


@pytest.fixture
def requests(done: tuple[list[AwsRequest], dict[str, Exception]]) -> list[AwsRequest]:
    """All that the functions requested."""
    return done[0]


@pytest.fixture(scope="module")
def deployed() -> Deployed:
    """What is made of the template where nothing is chosen."""
    return deployed_with(transform(TEMPLATE), {})


def without(deployed: Deployed, function: str, action: str) -> Deployed:
    """The template with an action taken out of one function's policies."""
    left = Deployed(copy.deepcopy(dict(deployed.resources)), deployed.outputs)
    for policy in left.role_of(function)["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            statement["Action"] = [each for each in listed(statement["Action"]) if each != action]
    return left


def operations(call: str) -> tuple[str, ...]:
    """The request of a call of boto3's, such as s3.get_object."""
    service, _, method = call.partition(".")
    return tuple(f"{service}:{each}" for each in MADE_OF.get(call) or (methods(service)[method],))


def not_requested(requests: Iterable[AwsRequest]) -> list[str]:
    """What functions can get to by their code, and no request showed."""
    sources, seen = (
        Sources(REPOSITORY / "functions", REPOSITORY / "shared"),
        {(e.caller, e.operation) for e in requests},
    )
    reached = {
        (function, call)
        for function, handler in HANDLERS.items()
        for call in sources.calls_from(handler) - never_made(REPOSITORY / "functions" / f"{handler}.py")
        # The local stack's functions get DATABASE_URL, and look up no secret.
        if not call.startswith("secretsmanager.")
    }
    reachable = {(function, each) for function, call in reached - NOT_MADE for each in operations(call)}
    return sorted(f"{function} {operation}" for function, operation in reachable - seen)


@pytest.mark.slow
@pytest.mark.parametrize("function", HANDLERS)
def test_a_built_function_does_what_its_event_asks(
    done: tuple[list[AwsRequest], dict[str, Exception]], function: str
) -> None:
    if HANDLERS[function] in done[1]:
        raise done[1][HANDLERS[function]]


def without_effect(modules: Iterable[ModuleType]) -> list[str]:
    """The template's functions without a statement of what they must have done."""
    return [function for function, handler in HANDLERS.items() if handler not in effects_in(modules)]


def test_every_function_of_the_template_is_sent_its_event() -> None:
    assert without_effect(MODULES) == []
    assert "ImportChunkFunction" in without_effect([document_effects])
    assert [name for name, handler in HANDLERS.items() if logical_id(handler) != name] == []


@pytest.mark.slow
def test_every_function_may_do_what_it_does(requests: list[AwsRequest], deployed: Deployed) -> None:
    assert Roles(deployed, WIRED).refused(requests) == []


@pytest.mark.slow
def test_no_function_may_do_what_none_is_seen_to_need(requests: list[AwsRequest], deployed: Deployed) -> None:
    assert Roles(deployed, WIRED).unused(requests) == UNSEEN


@pytest.mark.slow
def test_every_reachable_request_of_a_function_was_made(requests: list[AwsRequest]) -> None:
    assert not_requested(requests) == []
    assert not_requested(each for each in requests if each.operation != "sns:PublishBatch") == [
        "ProduceFunction sns:PublishBatch",
        "PublishOutboxFunction sns:PublishBatch",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "action", "place"),
    [
        ("ProduceFunction", "s3:GetObject", "/productions/"),
        ("ProduceFunction", "s3:DeleteObjectVersion", "/productions/"),
        ("StartImportFunction", "s3:ListBucket", "-evidence"),
        ("StartImportFunction", "sqs:ChangeMessageVisibility", ":ImportRequestsQueue"),
        ("ImportChunkFunction", "sqs:ChangeMessageVisibility", ":ImportChunksQueue"),
        ("ImportChunkFunction", "sqs:SendMessage", ":ImportChunksQueue"),
        ("CompleteImportFunction", "sqs:SendMessage", ":ImportCompletionsQueue"),
        ("StartImportFunction", "s3:PutObject", "/splits/"),
        ("StartImportFunction", "sqs:SendMessage", ":ImportRequestsQueue"),
        ("ImportsApiFunction", "s3:PutObject", "/imports/"),
        ("WriteImportReportFunction", "s3:AbortMultipartUpload", "/reports/"),
        ("StartProductionFunction", "lambda:InvokeFunction", ":ProduceFunction:live"),
        ("ResumeProductionsFunction", "lambda:GetDurableExecution", ":ProduceFunction:"),
        ("PublishOutboxFunction", "sns:Publish", ":EventsTopic"),
        ("CompleteImportFunction", "sqs:SendMessage", ":ImportRequestsQueue"),
        ("ProcessVolumeFunction", "s3:DeleteObjectVersion", "/volumes/"),
        ("VolumesApiFunction", "s3:PutObject", "/archives/"),
        ("UploadsApiFunction", "s3:ListMultipartUploadParts", "/imports/"),
        ("UploadsApiFunction", "s3:PutObject", "/previews/"),
    ],
)
def test_an_action_that_is_taken_away_is_missed(
    requests: list[AwsRequest], deployed: Deployed, function: str, action: str, place: str
) -> None:
    found = Roles(without(deployed, function, action), WIRED).refused(requests)
    lost = [each for each in found if each.startswith(f"{function} lacks {action} on ")]
    assert any(place in each for each in lost), found


@pytest.mark.slow
def test_an_unused_action_is_found(requests: list[AwsRequest], deployed: Deployed) -> None:
    given = Deployed(copy.deepcopy(dict(deployed.resources)), deployed.outputs)
    statement = given.role_of("PublishOutboxFunction")["Policies"][0]["PolicyDocument"]["Statement"][0]
    statement["Action"] = [*listed(statement["Action"]), "sns:DeleteTopic"]
    extra = Roles(given, WIRED).unused(requests) - Roles(deployed, WIRED).unused(requests)
    assert {(each.function, each.action) for each in extra} == {("PublishOutboxFunction", "sns:DeleteTopic")}


@pytest.mark.parametrize(
    ("method", "uri", "service"),
    [("DELETE", "/bucket", "s3"), ("PUT", "/bucket/key?tagging", "s3"), ("GET", "/2015-03-31/functions/", "lambda")],
)
def test_a_request_that_no_rule_speaks_of_is_an_error(method: str, uri: str, service: str) -> None:
    signed = {"authorization": f"AWS4-HMAC-SHA256 Credential=F/20261121/us-east-1/{service}/aws4_request"}
    with pytest.raises(UnknownRequestError):
        needs(read_request(Seen(method, uri, signed, b"", 200)))


def test_an_unsigned_request_is_an_error() -> None:
    with pytest.raises(UnknownRequestError, match="unsigned:"):
        read_request(Seen("GET", "/bucket/key", {}, b"", 200))
