"""Corrections of moto where it differs from AWS: lost messages, inconsistent counts, incomplete S3 notifications.

- Several threads change moto's message lists: a message sent while another is deleted can be lost. SQS does not lose
  messages, so here the lock of the queue covers deleting, receiving and changing visibility too.
- moto reads the clock for each count of a queue: a message that becomes visible in between is in no count. SQS does not
  guarantee exact counts, but waiting until a stack is idle needs them.
- S3 notifications contain the version of the object and a sequencer; those of moto do not.
- S3 refuses a presigned request whose signature does not match, and an object without the SHA-256 that its request
  states; moto does not look at them. It lists the parts of an upload with checksums; moto has none.
- S3 answers preflights without a signature, adds CORS headers to errors too, and stores bodies of any content type.
- SQS and S3 keep what they have answered; moto has it in memory until it ends (see `local.storage`).
- SQS delivers the messages of a group with few messages in flight before those of one with many (fair queues); moto
  ignores the groups of standard queues.
- The clock of SQS can be scaled. Queues then have longer visibility timeouts, which the pollers shorten after a
  failure, by ChangeMessageVisibilityBatch; that request leaves messages unchanged whose visibility a function changed.

Only processes that call `patch_moto` are changed.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from moto.moto_server import werkzeug_app
from moto.s3 import notifications
from moto.s3.responses import S3Response
from moto.sqs import models

from local.services.browser_requests import answer_browsers, keep_bodies
from local.services.presigned_requests import require_signature
from local.storage.messages import StoredMessages, announce, build_message, describe_message
from local.storage.moto_listings import StoredListings
from local.storage.moto_objects import StoredObjects
from local.storage.moto_uploads import StoredUploads
from local.storage.part_checksums import add_checksum, list_checksums
from local.storage.request_bodies import store_bodies
from local.storage.storage import Storage

_CHECK_SECONDS = 0.05
_TRIMMED_AT_ONCE = 1_000


def _read_clock_ms() -> float:
    return time.time() * 1000


def build_scaled_clock(factor: float, clock: Callable[[], float] = _read_clock_ms) -> Callable[[], float]:
    """Return a clock in milliseconds that starts at the current time and runs 1/factor times as fast."""
    start = clock()
    return lambda: start + (clock() - start) / factor


class ReliableQueue(models.Queue):
    """A queue that loses no message, counts each once, is fair, and soon detects that a message is visible again."""

    stored: StoredMessages
    message_retention_period: int

    @property
    def messages(self) -> list[Any]:
        """Return the visible messages in the order of delivery: groups with fewer messages in flight first."""
        visible = super().messages
        if len({message.group_id for message in visible}) < 2:
            return visible
        in_flight = Counter(message.group_id for message in self._messages if message.group_id and not message.visible)
        return sorted(visible, key=lambda message: in_flight[message.group_id])

    @property
    def attributes(self) -> dict[str, Any]:
        """Return moto's attributes with each message in exactly one of the three counts."""
        # Under the lock no message is added, deleted or moved to a dead-letter queue.
        with self._messages_lock:
            attributes = super().attributes
            queued = attributes["ApproximateNumberOfMessages"] + attributes["ApproximateNumberOfMessagesDelayed"]
            return attributes | {"ApproximateNumberOfMessagesNotVisible": len(self._messages) - queued}

    def add_message(self, message: Any) -> None:
        self.stored.send(describe_message(self.name, message), lambda: self.deliver(message))

    def deliver(self, message: Any) -> None:
        """Make a stored message visible."""
        super().add_message(message)

    def delete_message(self, receipt_handle: str) -> None:
        with self._messages_lock:
            deleted = [each.id for each in self._messages if each.had_receipt_handle(receipt_handle)]
            super().delete_message(receipt_handle)
        # Without the lock of the queue, which is never waited for in a transaction.
        self.stored.delete(deleted)

    def restore(self) -> None:
        """Make the messages visible that an earlier process has left, but those that are too old."""
        self.trim()
        for message in self.stored.restore(self.name):
            self.deliver(build_message(message))

    def trim(self) -> None:
        """Delete the messages that are older than the queue keeps them, 1,000 in each transaction."""
        expired = None
        while expired is None or len(expired) == _TRIMMED_AT_ONCE:
            expired = self.stored.trim(self.name, float(self.message_retention_period), _TRIMMED_AT_ONCE)
            gone = set(expired)
            with self._messages_lock:
                self._messages = [message for message in self._messages if message.id not in gone]
                self._pending_messages = {message for message in self._pending_messages if message.id not in gone}

    def wait_for_messages(self, timeout: int) -> None:
        # moto checks once a second and when a message is sent; a visibility timeout that expires sends no notification.
        with self._messages_lock:
            self._messages_lock.wait_for(lambda: self.messages, timeout=min(timeout, _CHECK_SECONDS))


def _lock_queue(method: Callable[..., Any]) -> Callable[..., Any]:
    def locked(backend: Any, queue_name: str, *args: Any, **kwargs: Any) -> Any:
        with backend.get_queue(queue_name)._messages_lock:
            return method(backend, queue_name, *args, **kwargs)

    return locked


def note_postponed(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return `method`, ChangeMessageVisibility, which also notes that this delivery of the message was postponed."""

    def postpone(backend: Any, queue_name: str, receipt_handle: str, visibility_timeout: int) -> None:
        method(backend, queue_name, receipt_handle, visibility_timeout)
        for message in _find_messages(backend, queue_name, receipt_handle):
            message.postponed_at = message.approximate_receive_count

    return postpone


def shorten_visibility(backend: Any, queue_name: str, entries: Sequence[dict[str, Any]]) -> tuple[list[str], list[Any]]:
    """Change the visibility of the messages that no function postponed since they were received."""
    with backend.get_queue(queue_name)._messages_lock:
        for entry in entries:
            for message in _find_messages(backend, queue_name, entry["ReceiptHandle"]):
                if getattr(message, "postponed_at", 0) != message.approximate_receive_count:
                    message.change_visibility(int(entry["VisibilityTimeout"]))
    return [entry["Id"] for entry in entries], []


def _find_messages(backend: Any, queue_name: str, receipt_handle: str) -> list[Any]:
    return [each for each in backend.get_queue(queue_name)._messages if each.had_receipt_handle(receipt_handle)]


def add_version(event: Callable[..., Any]) -> Callable[..., Any]:
    """Add the object's version, in versioned buckets, and an increasing sequencer to the S3 events of `event`."""
    numbers = itertools.count(1)

    def complete(event_name: str, bucket: Any, key: Any, notification_id: str) -> Any:
        body = event(event_name, bucket, key, notification_id)
        for record in body["Records"]:
            record["s3"]["object"]["sequencer"] = f"{next(numbers):016X}"
            if bucket.is_versioned:
                record["s3"]["object"]["versionId"] = key.version_id
        return body

    return complete


class Uncounted(list[Any]):
    """A list that stays empty, for the messages that moto would keep for ever."""

    def append(self, _: object) -> None:
        """Do nothing."""


def store_objects(storage: Storage) -> StoredUploads:
    """Have S3 keep its objects in the storage; return its uploads in parts.

    It refuses presigned requests that were not signed with SECRET, or not sent as signed, and uploads of other bytes.

    Browsers are answered by the rules of the bucket alone: moto's own CORS, which allows everything, is turned off.
    """
    application: Any = werkzeug_app.DomainDispatcherApplication
    application.__call__ = answer_browsers(require_signature(store_bodies(storage, application.__call__)))
    server: Any = werkzeug_app
    server.DISABLE_GLOBAL_CORS = True
    keep_bodies()
    objects = StoredObjects(storage)
    uploads = StoredUploads(objects)
    for each in (objects, uploads, StoredListings(objects)):
        each.install()
    return uploads


def patch_moto(factor: float, storage: Storage) -> None:
    """Apply the corrections of this module to moto, in this process."""
    uploads = store_objects(storage)
    messages = StoredMessages(storage.index)
    patched_responses: Any = S3Response
    patched_responses.serialized = list_checksums(uploads.list_checksums, S3Response.serialized)
    patched_responses.head_object = add_checksum(S3Response.head_object)
    patched_notifications: Any = notifications
    patched_notifications._get_s3_event = add_version(notifications._get_s3_event)
    patched_notifications._send_sqs_message = partial(announce, messages)
    _patch_queues(factor, messages)


def _patch_queues(factor: float, messages: StoredMessages) -> None:
    patched: Any = models
    patched.unix_time_millis = build_scaled_clock(factor)
    patched.Queue = ReliableQueue
    ReliableQueue.stored = messages
    patched.Message.instances_tracked = Uncounted()
    backend: Any = models.SQSBackend
    backend.change_message_visibility = note_postponed(backend.change_message_visibility)
    backend.change_message_visibility_batch = shorten_visibility
    for name in ("receive_message", "change_message_visibility"):
        setattr(models.SQSBackend, name, _lock_queue(getattr(models.SQSBackend, name)))
    backend.purge_queue = messages.purging(backend.purge_queue)
    for name in ("send_message_batch", "delete_message_batch"):
        setattr(models.SQSBackend, name, messages.in_batch(getattr(models.SQSBackend, name)))
