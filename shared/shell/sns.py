"""Publish messages to the events topic.

Guaranteed: a response lists the messages that SNS accepted and those that it will never accept; any other message may
be retried.
Every message has its tenant in the attribute `tenantId`, so that a subscription can filter by it; the attribute is
missing only if the message has no tenant.
Not guaranteed: that a message which is not listed as accepted did not arrive: SNS's response can be lost.
`publish_sns_message` is the interface kept for callers of the published pattern.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from shell.aws.clients import sns
from shell.aws.key_refusals import KeyRefusedError
from shell.observability import log_failure, logger
from shell.settings import settings

MAX_BATCH = 10
# SNS accepts 262,144 bytes including attributes; those of a message have less than 400.
MAX_BATCH_BYTES = 250_000

# Error codes of a call that mean an invalid message, not a problem of the topic or of credentials.
_INVALID = frozenset(
    {
        *(
            "InvalidParameter",
            "InvalidParameterValue",
            "ParameterValueInvalid",
            "ValidationError",
            "ValidationException",
        ),
        *("BatchRequestTooLong", "InvalidBatchEntryId", "BatchEntryIdsNotDistinct", "TooManyEntriesInBatchRequest"),
    }
)
# Error codes of an entry that SNS reports as the sender's fault but that concern every message, such as a KMS key.
_NOT_THE_MESSAGE = ("Throttl", "KMS", "Authorization", "AccessDenied", "NotFound")


@dataclass(frozen=True)
class Message:
    """A message to publish; the response refers to it by `key`, at most 80 letters and digits.

    `tenant_id` is empty if the message has no tenant.
    """

    key: str
    event_type: str
    body: str
    tenant_id: str


@dataclass(frozen=True)
class PublishResponse:
    """The keys of accepted messages and of permanently refused ones; any other message failed for now.

    `codes` are the error codes of those that were refused, by their keys. `reachable` is False if the next call would
    probably fail too.
    """

    accepted: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    reachable: bool = True
    codes: Mapping[str, str] = field(default_factory=dict)


def publish_sns_message(message: Mapping[str, Any]) -> bool:
    """Publish one message now, with `eventType` and `tenantId` as attributes; return False, and log it, if that fails.

    Use it for messages that do not depend on the database; events of a transaction go through the outbox.
    """
    body = json.dumps(message, default=str)
    event_type, tenant_id = str(message.get("eventType", "unknown")), str(message.get("tenantId", ""))
    return bool(publish_batch([Message("0", event_type, body, tenant_id)]).accepted)


def publish_batch(messages: Sequence[Message]) -> PublishResponse:
    """Publish messages in one call: at most MAX_BATCH messages with ASCII bodies of MAX_BATCH_BYTES in total.

    If SNS refuses the whole call because a message is invalid, each message is published by itself.
    """
    if not messages:
        return PublishResponse()
    try:
        response = sns().publish_batch(
            TopicArn=settings().events_topic_arn, PublishBatchRequestEntries=[_entry(message) for message in messages]
        )
    except KeyRefusedError as error:
        log_failure(error)
        return PublishResponse(reachable=False)
    except (BotoCoreError, ClientError) as error:
        logger.warning("events not published", extra={"count": len(messages), "code": _code(error)})
        if not _is_invalid_message(error):
            return PublishResponse(reachable=False)
        if len(messages) > 1:
            return _one_by_one(messages)
        key = messages[0].key
        return PublishResponse(refused=frozenset({key}), codes={key: _code(error)})
    return _parse_response(response)


def _one_by_one(messages: Sequence[Message]) -> PublishResponse:
    accepted, refused, codes = frozenset[str](), frozenset[str](), dict[str, str]()
    for message in messages:
        response = publish_batch([message])
        accepted, refused, codes = accepted | response.accepted, refused | response.refused, codes | {**response.codes}
        if not response.reachable:
            return PublishResponse(accepted, refused, reachable=False, codes=codes)
    return PublishResponse(accepted, refused, codes=codes)


def _entry(message: Message) -> Any:
    values = {"eventType": message.event_type, "tenantId": message.tenant_id}
    # SNS refuses an empty value.
    attributes = {name: {"DataType": "String", "StringValue": value} for name, value in values.items() if value}
    return {"Id": message.key, "Message": message.body, "MessageAttributes": attributes}


def _parse_response(response: Mapping[str, Any]) -> PublishResponse:
    accepted = frozenset(success["Id"] for success in response.get("Successful", []))
    failed = response.get("Failed", [])
    for failure in failed:
        logger.warning("event not published", extra={"event": failure.get("Id"), "code": failure.get("Code")})
    codes = {failure["Id"]: str(failure.get("Code", "")) for failure in failed if _is_refused(failure)}
    return PublishResponse(accepted, frozenset(codes), reachable=bool(accepted or codes), codes=codes)


def _is_refused(failure: Mapping[str, Any]) -> bool:
    return bool(failure.get("SenderFault")) and not str(failure.get("Code", "")).startswith(_NOT_THE_MESSAGE)


def _is_invalid_message(error: BotoCoreError | ClientError) -> bool:
    if not isinstance(error, ClientError):
        return isinstance(error, ParamValidationError)
    # A wrong topic ARN fails every message and is not a property of one.
    return _code(error) in _INVALID and "TopicArn" not in error.response["Error"].get("Message", "")


def _code(error: BotoCoreError | ClientError) -> str:
    return error.response["Error"].get("Code", "") if isinstance(error, ClientError) else type(error).__name__
