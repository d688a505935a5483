"""Announcements on the events topic.

Guaranteed: an answer tells what SNS took, what it will never take, and, by leaving it out, what may be tried again.
Not guaranteed: that what is said not to be taken did not arrive: an answer can be lost on its way.
`publish_sns_message` is the interface kept for callers of the published pattern.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from shell.observability import logger
from shell.settings import settings
from shell.utils.aws import sns

MAX_BATCH = 10
# SNS takes 262,144 with the attributes, of which a message has less than 200.
MAX_BATCH_BYTES = 250_000

# Said of a call: something is wrong with what was to be published, and not with the topic or with us.
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
# Said of an entry, and called its sender's fault: of all senders, until somebody mends a key or a policy.
_NOT_THE_EVENTS = ("Throttl", "KMS", "Authorization", "AccessDenied", "NotFound")


@dataclass(frozen=True)
class Message:
    """What is to be published, under a key of at most 80 letters and digits that the answer names."""

    key: str
    event_type: str
    body: str


@dataclass(frozen=True)
class Answer:
    """The keys that SNS took, and those it will never take; what is in neither failed for now.

    `reachable` is False where the next call would most probably fail too.
    """

    accepted: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    reachable: bool = True


def publish_sns_message(message: Mapping[str, Any]) -> bool:
    """Publish one message now, with its `eventType` as attribute; False, and a log line, if that failed.

    For announcements that rest on nothing in the database; what tells of a transaction goes through the outbox.
    """
    body = json.dumps(message, default=str)
    return bool(publish_batch([Message("0", str(message.get("eventType", "unknown")), body)]).accepted)


def publish_batch(messages: Sequence[Message]) -> Answer:
    """Publish messages in one call: at most MAX_BATCH, and MAX_BATCH_BYTES of bodies, which are ASCII.

    A call that is refused as a whole because something in it is invalid is made again for each message by itself.
    """
    if not messages:
        return Answer()
    try:
        answer = sns().publish_batch(
            TopicArn=settings().events_topic_arn, PublishBatchRequestEntries=[_entry(message) for message in messages]
        )
    except (BotoCoreError, ClientError) as error:
        logger.warning("events not published", extra={"count": len(messages), "code": _code(error)})
        if not _invalid(error):
            return Answer(reachable=False)
        return _one_by_one(messages) if len(messages) > 1 else Answer(refused=frozenset({messages[0].key}))
    return _read(answer)


def _one_by_one(messages: Sequence[Message]) -> Answer:
    accepted, refused = frozenset[str](), frozenset[str]()
    for message in messages:
        answer = publish_batch([message])
        accepted, refused = accepted | answer.accepted, refused | answer.refused
        if not answer.reachable:
            return Answer(accepted, refused, reachable=False)
    return Answer(accepted, refused)


def _entry(message: Message) -> Any:
    attribute = {"DataType": "String", "StringValue": message.event_type}
    return {"Id": message.key, "Message": message.body, "MessageAttributes": {"eventType": attribute}}


def _read(answer: Mapping[str, Any]) -> Answer:
    accepted = frozenset(success["Id"] for success in answer.get("Successful", []))
    failed = answer.get("Failed", [])
    for failure in failed:
        logger.warning("event not published", extra={"event": failure.get("Id"), "code": failure.get("Code")})
    refused = frozenset(failure["Id"] for failure in failed if _is_at_fault(failure))
    return Answer(accepted, refused, reachable=bool(accepted or refused))


def _is_at_fault(failure: Mapping[str, Any]) -> bool:
    return bool(failure.get("SenderFault")) and not str(failure.get("Code", "")).startswith(_NOT_THE_EVENTS)


def _invalid(error: BotoCoreError | ClientError) -> bool:
    if not isinstance(error, ClientError):
        return isinstance(error, ParamValidationError)
    # A wrong topic is no event's fault, and would be everyone's.
    return _code(error) in _INVALID and "TopicArn" not in error.response["Error"].get("Message", "")


def _code(error: BotoCoreError | ClientError) -> str:
    return error.response["Error"].get("Code", "") if isinstance(error, ClientError) else type(error).__name__
