"""The events that Lambda builds from SQS messages, and what a function's response means for them. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

Message = Mapping[str, Any]
"""A message as SQS's ReceiveMessage returns it."""


def build_sqs_event(messages: Sequence[Message], queue_arn: str) -> dict[str, Any]:
    """Return the event that Lambda passes to a function for a batch."""
    return {"Records": [_build_record(message, queue_arn) for message in messages]}


def _build_record(message: Message, queue_arn: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": dict(message.get("Attributes", {})),
        "messageAttributes": {n: _build_attribute(v) for n, v in message.get("MessageAttributes", {}).items()},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": queue_arn.split(":")[3],
    }
    if "MD5OfMessageAttributes" in message:
        record["md5OfMessageAttributes"] = message["MD5OfMessageAttributes"]
    return record


def _build_attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    converted: dict[str, Any] = {"stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
    if "StringValue" in value:
        converted["stringValue"] = value["StringValue"]
    if "BinaryValue" in value:
        converted["binaryValue"] = base64.b64encode(value["BinaryValue"]).decode()
    return converted


def find_failed_ids(response: Any, message_ids: Sequence[str]) -> set[str]:
    """Return the ids of the messages to deliver again, after a function that reports batch item failures.

    A null response, an empty one and an empty list mean that every message succeeded. A response that Lambda cannot
    parse, or an id that is not in this batch, fails every message.
    """
    everything = set(message_ids)
    if response is None:
        return set()
    if not isinstance(response, dict):
        return everything
    failures = response.get("batchItemFailures")
    if failures is None:
        return set()
    if not isinstance(failures, list):
        return everything
    named = {str(item.get("itemIdentifier")) if isinstance(item, dict) else "" for item in failures}
    return named if named <= everything else everything


def build_scheduled_event(name: str, event_id: str, account: str, region: str, time: datetime) -> dict[str, Any]:
    """Return the event that EventBridge passes to a function on a schedule."""
    return {
        "version": "0",
        "id": event_id,
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": account,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": [f"arn:aws:events:{region}:{account}:rule/{name}"],
        "detail": {},
    }
