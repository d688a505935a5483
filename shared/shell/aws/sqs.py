"""Messages to SQS: a call sends all of them or raises."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Protocol

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import QueueUnavailableError
from core.tenants.labels import build_label
from shell.aws.clients import sqs, wake_sqs
from shell.aws.key_refusals import KeyRefusedError
from shell.observability import log_failure, logger

BATCH_SIZE = 10
WAKE_ATTEMPTS = 5
# SQS allows 12 hours from when the message was received, which is up to a Lambda's 15 minutes ago.
LONGEST_VISIBILITY_S = 43_200 - 900


class JsonMessage(Protocol):
    """What can be sent: `shell.work.messages` has the classes."""

    def to_json(self) -> str:
        """Return the body."""


def send_messages(
    queue_url: str, messages: Iterable[JsonMessage], delay_s: int = 0, tenant_id: str | None = None
) -> int:
    """Send every message, ten a call; return how many. Raises QueueUnavailableError unless all were accepted.

    The messages of a tenant are a group: while many of them wait, SQS delivers those of other tenants first ("Amazon
    SQS fair queues"). Messages without a tenant belong to no group.
    """
    bodies = (message.to_json() for message in messages)
    return _send(queue_url, bodies, delay_s, build_label(tenant_id) if tenant_id else None)


def send_again(queue_url: str, body: str, group: str | None, delay_s: int) -> None:
    """Send a copy of a received message to its group; raises QueueUnavailableError unless it was accepted."""
    _send(queue_url, [body], delay_s, group)


def _send(queue_url: str, bodies: Iterable[str], delay_s: int, group: str | None) -> int:
    sent, options = 0, {"DelaySeconds": delay_s, **({"MessageGroupId": group} if group else {})}
    iterator = iter(bodies)
    while batch := list(islice(iterator, BATCH_SIZE)):
        entries = [{"Id": str(index), "MessageBody": body, **options} for index, body in enumerate(batch)]
        try:
            # A batch can be accepted in part: rejected entries are listed, not raised.
            response = sqs().send_message_batch(QueueUrl=queue_url, Entries=entries)  # type: ignore[arg-type]
        except (BotoCoreError, ClientError) as exc:
            raise QueueUnavailableError(f"{sent} messages were accepted, then the queue failed.") from exc
        if response.get("Failed"):
            raise QueueUnavailableError(f"{len(response['Failed'])} of {len(batch)} messages were not accepted.")
        sent += len(batch)
    return sent


def wake(queue_url: str, delay_s: int = 0, attempts: int = WAKE_ATTEMPTS) -> bool:
    """Send an empty message so that the queue's consumer runs, and return whether it was sent; log it if it was not.

    An attempt takes 3 seconds at most.
    """
    entry = {"Id": "0", "MessageBody": "{}", "DelaySeconds": delay_s}
    try:
        response = wake_sqs(attempts).send_message_batch(QueueUrl=queue_url, Entries=[entry])  # type: ignore[list-item]
        sent = not response.get("Failed")
    except KeyRefusedError as error:
        log_failure(error)
        sent = False
    except (BotoCoreError, ClientError):
        sent = False
    if not sent:
        logger.warning("wake not sent; the next one will run the consumer")
    return sent


def postpone(queue_url: str, receipt_handle: str, seconds: int) -> None:
    """Hide a received message for so many seconds, at most `LONGEST_VISIBILITY_S`; then SQS delivers it again.

    Raises QueueUnavailableError if SQS does not confirm.
    """
    hidden = max(0, min(seconds, LONGEST_VISIBILITY_S))
    try:
        sqs().change_message_visibility(QueueUrl=queue_url, ReceiptHandle=receipt_handle, VisibilityTimeout=hidden)
    except (BotoCoreError, ClientError) as exc:
        raise QueueUnavailableError("A message was not postponed.") from exc
