"""Messages to SQS: all accepted, or an error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import QueueUnavailableError
from shell.observability import logger
from shell.utils.aws import sqs

BATCH = 10
# SQS allows 12 hours from when the message was received, which is up to a Lambda's 15 minutes ago.
LONGEST_VISIBILITY_S = 43_200 - 900


def send_all(queue_url: str, bodies: Iterable[Mapping[str, object]], delay_s: int = 0) -> int:
    """Send every message, ten a call; returns how many. Raises QueueUnavailableError unless all were accepted."""
    sent = 0
    iterator = iter(bodies)
    while batch := list(islice(iterator, BATCH)):
        entries = [
            {"Id": str(index), "MessageBody": json.dumps(body), "DelaySeconds": delay_s}
            for index, body in enumerate(batch)
        ]
        try:
            # A batch is accepted in part: what failed is listed, not raised.
            answer = sqs().send_message_batch(QueueUrl=queue_url, Entries=entries)  # type: ignore[arg-type]
        except (BotoCoreError, ClientError) as exc:
            raise QueueUnavailableError(f"{sent} messages were accepted, then the queue failed") from exc
        if answer.get("Failed"):
            raise QueueUnavailableError(f"{len(answer['Failed'])} of {len(batch)} messages were not accepted")
        sent += len(batch)
    return sent


def nudge(queue_url: str) -> None:
    """Send an empty message if possible; whoever is nudged also runs on a schedule."""
    try:
        send_all(queue_url, [{}])
    except QueueUnavailableError:
        logger.warning("nudge not sent; the schedule will do")


def postpone(queue_url: str, receipt_handle: str, seconds: int) -> None:
    """Let a message that was received be received again after so many seconds, at most `LONGEST_VISIBILITY_S`.

    Raises QueueUnavailableError if the queue does not say that it will.
    """
    hidden = max(0, min(seconds, LONGEST_VISIBILITY_S))
    try:
        sqs().change_message_visibility(QueueUrl=queue_url, ReceiptHandle=receipt_handle, VisibilityTimeout=hidden)
    except (BotoCoreError, ClientError) as exc:
        raise QueueUnavailableError("a message was not postponed") from exc
