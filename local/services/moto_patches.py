"""moto, where AWS keeps a promise that moto does not: nothing lost, and notifications that name the version.

moto's queues are lists that several threads change: while one deletes a message, a message that another sends can be
lost. SQS never loses one, so here each queue's own lock covers deleting, receiving and changing visibility too.
moto looks at the clock anew for each count of a queue: what became visible in between was in none. SQS promises no
exact counts, but whoever waits here until all is done needs them.
S3 tells the version of a new object and a sequencer; moto tells neither. The clock of SQS can be scaled.
Only processes that call `make_faithful` are changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from moto.core.utils import unix_time_millis
from moto.s3 import notifications
from moto.sqs import models

_CHECK_SECONDS = 0.05


def scaled_clock(factor: float, clock: Callable[[], float] = unix_time_millis) -> Callable[[], float]:
    """A clock in milliseconds that starts now and runs 1/factor times as fast."""
    start = clock()
    return lambda: start + (clock() - start) / factor


class FaithfulQueue(models.Queue):
    """A queue that loses nothing, counts each message once and notices soon that one is visible again."""

    @property
    def attributes(self) -> dict[str, Any]:
        """moto's, with each message in exactly one of the three counts: in flight is what the others leave."""
        # Meanwhile none comes, goes, or moves to a dead-letter queue.
        with self._messages_lock:
            told = super().attributes
            waiting = told["ApproximateNumberOfMessages"] + told["ApproximateNumberOfMessagesDelayed"]
            return told | {"ApproximateNumberOfMessagesNotVisible": len(self._messages) - waiting}

    def delete_message(self, receipt_handle: str) -> None:
        with self._messages_lock:
            super().delete_message(receipt_handle)

    def wait_for_messages(self, timeout: int) -> None:
        # moto would look again after a second, unless a message is sent; time that passes notifies nobody.
        with self._messages_lock:
            self._messages_lock.wait_for(lambda: self.messages, timeout=min(timeout, _CHECK_SECONDS))


def _with_queue_locked(method: Callable[..., Any]) -> Callable[..., Any]:
    def locked(backend: Any, queue_name: str, *args: Any, **kwargs: Any) -> Any:
        with backend.get_queue(queue_name)._messages_lock:
            return method(backend, queue_name, *args, **kwargs)

    return locked


def with_version(event: Callable[..., Any]) -> Callable[..., Any]:
    """An S3 event that also tells the object's version, where its bucket has versions, and a rising sequencer."""
    numbers = itertools.count(1)

    def complete(event_name: str, bucket: Any, key: Any, notification_id: str) -> Any:
        body = event(event_name, bucket, key, notification_id)
        for record in body["Records"]:
            record["s3"]["object"]["sequencer"] = f"{next(numbers):016X}"
            if bucket.is_versioned:
                record["s3"]["object"]["versionId"] = key.version_id
        return body

    return complete


def make_faithful(factor: float) -> None:
    """Change moto, in this process and for good, as the module's docstring says."""
    changed: Any = models
    changed.unix_time_millis = scaled_clock(factor)
    changed.Queue = FaithfulQueue
    changed_notifications: Any = notifications
    changed_notifications._get_s3_event = with_version(notifications._get_s3_event)
    for name in ("receive_message", "change_message_visibility"):
        setattr(models.SQSBackend, name, _with_queue_locked(getattr(models.SQSBackend, name)))
