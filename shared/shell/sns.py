"""Announcements on the events topic.

`publish_sns_message` is the interface kept for callers of the published pattern.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from shell.observability import logger
from shell.settings import settings
from shell.utils.aws import sns

MAX_BATCH = 10
MAX_BATCH_BYTES = 250_000


def publish_sns_message(message: Mapping[str, Any]) -> bool:
    """Publish one message now, with its `eventType` as attribute; False, and a log line, if that failed.

    For announcements that rest on nothing in the database; what tells of a transaction goes through the outbox.
    """
    return bool(publish_messages([("0", message)]))


def publish_messages(messages: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Publish (key, message) pairs in their order; returns the keys that SNS accepted, in batches of part of them."""
    accepted: list[str] = []
    for batch in _batches([(key, json.dumps(message, default=str), message) for key, message in messages]):
        accepted += _publish(batch)
    return accepted


_Encoded = tuple[str, str, Mapping[str, Any]]


def _batches(messages: Sequence[_Encoded]) -> list[list[_Encoded]]:
    batches: list[list[_Encoded]] = []
    size = 0
    for message in messages:
        length = len(message[1].encode())
        if not batches or len(batches[-1]) == MAX_BATCH or size + length > MAX_BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(message)
        size += length
    return batches


def _publish(batch: Sequence[_Encoded]) -> list[str]:
    entries = [
        {
            "Id": key,
            "Message": text,
            "MessageAttributes": {
                "eventType": {"DataType": "String", "StringValue": str(message.get("eventType", "unknown"))}
            },
        }
        for key, text, message in batch
    ]
    try:
        answer = sns().publish_batch(TopicArn=settings().events_topic_arn, PublishBatchRequestEntries=entries)  # type: ignore[arg-type]
    except (BotoCoreError, ClientError):
        logger.exception("events not published", extra={"count": len(entries)})
        return []
    for failure in answer.get("Failed", []):
        logger.warning("event not published", extra={"event": failure.get("Id"), "code": failure.get("Code")})
    return [success["Id"] for success in answer.get("Successful", []) if "Id" in success]
