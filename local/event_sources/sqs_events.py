"""What Lambda makes of SQS messages, and of a function's answer to them; pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

Message = Mapping[str, Any]
"""A message as SQS's ReceiveMessage gives it."""


def sqs_event(messages: Sequence[Message], queue_arn: str) -> dict[str, Any]:
    """The event that Lambda hands to a function for a batch."""
    return {"Records": [_record(message, queue_arn) for message in messages]}


def _record(message: Message, queue_arn: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": dict(message.get("Attributes", {})),
        "messageAttributes": {n: _attribute(v) for n, v in message.get("MessageAttributes", {}).items()},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": queue_arn.split(":")[3],
    }
    if "MD5OfMessageAttributes" in message:
        record["md5OfMessageAttributes"] = message["MD5OfMessageAttributes"]
    return record


def _attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    converted: dict[str, Any] = {"stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
    if "StringValue" in value:
        converted["stringValue"] = value["StringValue"]
    if "BinaryValue" in value:
        converted["binaryValue"] = base64.b64encode(value["BinaryValue"]).decode()
    return converted


def failed_ids(answer: Any, message_ids: Sequence[str]) -> set[str]:
    """The messages that a function which reports batch item failures left to be delivered again.

    No answer, an empty one and an empty list mean that all succeeded; an answer that Lambda cannot read, or an id
    that is not of this batch, fails them all.
    """
    everything = set(message_ids)
    if answer is None:
        return set()
    if not isinstance(answer, dict):
        return everything
    failures = answer.get("batchItemFailures")
    if failures is None:
        return set()
    if not isinstance(failures, list):
        return everything
    named = {str(item.get("itemIdentifier")) if isinstance(item, dict) else "" for item in failures}
    return named if named <= everything else everything


def scheduled_event(name: str, event_id: str, account: str, region: str, moment: datetime) -> dict[str, Any]:
    """The event that EventBridge hands to a function on a schedule."""
    return {
        "version": "0",
        "id": event_id,
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": account,
        "time": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": [f"arn:aws:events:{region}:{account}:rule/{name}"],
        "detail": {},
    }
