"""An error of the stack's key is a wrong setting in every call of AWS, and never an outage that is waited for."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from aws_lambda_powertools.utilities.parameters import SecretsProvider
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from shell import sns
from shell.aws import clients, secrets, sqs
from shell.aws.key_refusals import KeyRefusedError, find_refusal, watch_key
from shell.aws.secrets import SecretUnavailableError
from shell.lambda_handlers import choose_wait, is_outage
from shell.work.messages import WakeMessage

REFUSALS = {
    # Lambda
    "KMSAccessDeniedException": "accessdenied",
    "KMSDisabledException": "disabled",
    "KMSInvalidStateException": "invalidstate",
    "KMSNotFoundException": "notfound",
    # S3
    "KMS.DisabledException": "disabled",
    "KMS.KMSInvalidStateException": "invalidstate",
    "KMS.NotFoundException": "notfound",
    "KMS.InvalidKeyUsageException": "invalidkeyusage",
    # SQS, in both of its protocols, and SNS
    "KmsAccessDenied": "accessdenied",
    "KMS.AccessDeniedException": "accessdenied",
    "KMS.OptInRequired": "optinrequired",
    "KMSDisabled": "disabled",
    # Secrets Manager
    "DecryptionFailure": "decryptionfailure",
}
OTHERS = (
    "KMSThrottling",
    "KmsThrottled",
    "KMS.ThrottlingException",
    "KMSInternalException",
    "AccessDenied",
    "NotFound",
    "",
)
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "lambda": ("invoke", {"FunctionName": "f"}),
    "s3": ("get_object", {"Bucket": "bucket", "Key": "k"}),
    "sqs": ("send_message_batch", {"QueueUrl": "q", "Entries": []}),
    "sns": ("publish_batch", {"TopicArn": "t", "PublishBatchRequestEntries": []}),
    "secretsmanager": ("get_secret_value", {"SecretId": "s"}),
}


def stub(service: str, code: str) -> Any:
    """A client of the service whose next call fails."""
    client = watch_key(boto3.client(service, region_name="us-east-1"))  # type: ignore[call-overload]
    stubber = Stubber(client)
    stubber.add_client_error(CALLS[service][0], code)
    stubber.activate()
    return client


def test_the_codes_of_each_service_are_distinguished_from_others() -> None:
    assert {code: find_refusal(code) for code in REFUSALS} == REFUSALS
    assert [find_refusal(code) for code in OTHERS] == [None] * len(OTHERS)


@pytest.mark.parametrize("service", CALLS)
def test_each_client_raises_a_wrong_setting_that_is_not_waited_for(
    service: str, capsys: pytest.CaptureFixture[str]
) -> None:
    method, arguments = CALLS[service]
    with pytest.raises(
        KeyRefusedError, match=r"Key DataKey of the stack refuses [\w ]+ \(KMSDisabledException\): enable"
    ):
        getattr(stub(service, "KMSDisabledException"), method)(**arguments)
    assert '"SettingsErrors":[1.0]' in capsys.readouterr().out
    error = KeyRefusedError()
    assert (is_outage(error), choose_wait(error, 1)) == (False, 5)
    with pytest.raises(ClientError):
        getattr(stub(service, "KMSThrottlingException"), method)(**arguments)


def test_the_message_names_the_principal_that_the_key_must_allow() -> None:
    with pytest.raises(
        KeyRefusedError, match=r"\(KMSAccessDeniedException\): allow lambda\.amazonaws\.com to use the key"
    ):
        stub("lambda", "KMSAccessDeniedException").invoke(FunctionName="f")


def test_a_message_that_a_queue_refuses_in_a_batch_is_such_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    client = watch_key(boto3.client("sqs", region_name="us-east-1"))
    failed = [{"Id": "0", "SenderFault": True, "Code": "KMS.AccessDeniedException"}]
    with Stubber(client) as stubber:
        stubber.add_response("send_message_batch", {"Successful": [], "Failed": failed})
        monkeypatch.setattr(sqs, "sqs", lambda: client)
        with pytest.raises(KeyRefusedError, match="refuses SQS"):
            sqs.send_messages("https://queue", [WakeMessage()])


def test_what_never_fails_stays_so_and_logs_the_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The outbox keeps the events, and wakes its relay later."""
    monkeypatch.setenv("EVENTS_TOPIC_ARN", "arn:topic")
    monkeypatch.setattr(sns, "sns", lambda: stub("sns", "KMSDisabled"))
    monkeypatch.setattr(sns, "settings", lambda: type("Settings", (), {"events_topic_arn": "arn:topic"}))
    assert not sns.publish_batch([sns.Message("0", "kind", "{}", "")]).reachable
    monkeypatch.setattr(sqs, "wake_sqs", lambda _attempts: stub("sqs", "KmsDisabled"))
    assert not sqs.wake("https://queue")
    reasons = [vars(record)["reason"] for record in caplog.records if record.message == "failed"]
    assert ["of the stack refuses S" in reason for reason in reasons] == [True, True]


def test_a_secret_that_cannot_be_decrypted_says_so_unless_it_was_read_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_last_read", {"known": "before"})

    def provide(code: str) -> None:
        provider = SecretsProvider(boto3_client=stub("secretsmanager", code))
        monkeypatch.setattr(secrets, "_provider", lambda: provider)

    provide("DecryptionFailure")
    with pytest.raises(KeyRefusedError, match="refuses Secrets Manager"):
        secrets.get_secret("new", max_age_s=0)
    provide("DecryptionFailure")
    assert secrets.get_secret("known", max_age_s=0) == "before"
    provide("InternalServiceError")
    with pytest.raises(SecretUnavailableError):
        secrets.get_secret("new", max_age_s=0)


def test_every_client_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    made: list[Any] = [clients.s3(), clients.sqs(), clients.sns(), clients.lambda_client(), clients.wake_sqs(1)]
    for client in made:
        service = client.meta.service_model
        operation = service.operation_model(service.operation_names[0])
        with pytest.raises(KeyRefusedError):
            client.meta.events.emit("after-call.x.Y", parsed={"Error": {"Code": "KMSDisabled"}}, model=operation)
