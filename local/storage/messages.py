"""The messages of the local SQS on disk: one that was sent and not deleted is delivered after a restart.

Guaranteed: a message is committed before its sender has its answer, together with the object that it announces; a
batch in one transaction. After a restart every message is visible at once, a delayed one after its whole delay, as if
it had not been received yet: the stack holds the lock of its state directory, so no consumer of an earlier one works on
it, and its visibility need not be waited for. Not guaranteed: that a message whose deletion was being committed is not
delivered again.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from local.storage.index import Index

_KEPT = ("message_attributes", "system_attributes", "group_id")


class QueuedMessage(NamedTuple):
    """A message as the index keeps it; `sent` is a time of this machine."""

    id: str
    queue: str
    body: str
    facts: Mapping[str, Any]
    sent: str


class StoredMessages:
    """The messages of an index."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._batch = threading.local()

    def send(self, message: QueuedMessage, deliver: Callable[[], None]) -> None:
        """Store a message, or move it to another queue; deliver it after the commit, or at the end of a batch."""
        batch = getattr(self._batch, "messages", None)
        if batch is None:
            self._commit([(message, deliver)])
        else:
            batch.append((message, deliver))

    def in_batch(self, send: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose messages are stored in one transaction, and delivered after it."""

        def sent(*args: Any, **kwargs: Any) -> Any:
            self._batch.messages = []
            try:
                answer = send(*args, **kwargs)
                messages = self._batch.messages
            finally:
                self._batch.messages = None
            self._commit(messages)
            return answer

        return sent

    def delete(self, ids: Iterable[str]) -> None:
        """Delete messages."""
        with self._index.transaction():
            for each in ids:
                self._index.write("DELETE FROM messages WHERE id = ?", each)

    def purging(self, purge: Callable[[Any, str], None]) -> Callable[[Any, str], None]:
        """Return a function that purges a queue, whose messages are deleted here, too."""

        def purged(backend: Any, queue_name: str) -> None:
            purge(backend, queue_name)
            with self._index.transaction():
                self._index.write("DELETE FROM messages WHERE queue = ?", queue_name)

        return purged

    def trim(self, queue: str, retention_s: float, most: int) -> list[str]:
        """Delete messages of a queue that are too old, at most so many, and return their ids."""
        oldest = (datetime.now(UTC) - timedelta(seconds=retention_s)).isoformat()
        query = "SELECT id FROM messages WHERE queue = ? AND sent < ? LIMIT ?"
        expired = [str(each) for (each,) in self._index.read(query, queue, oldest, most)]
        if expired:
            self.delete(expired)
        return expired

    def restore(self, queue: str) -> list[QueuedMessage]:
        """Return the messages of a queue in the order in which they were sent."""
        rows = self._index.read(
            "SELECT id, queue, body, facts, sent FROM messages WHERE queue = ? ORDER BY rowid", queue
        )
        return [QueuedMessage._make((*row[:3], json.loads(row[3]), row[4])) for row in rows]

    def _commit(self, messages: Iterable[tuple[QueuedMessage, Callable[[], None]]]) -> None:
        with self._index.transaction():
            for message, deliver in messages:
                values = (*message[:3], json.dumps(message.facts), message.sent)
                self._index.write("INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?)", *values)
                self._index.after_commit(deliver)


def describe_message(queue: str, message: Any) -> QueuedMessage:
    """Return one of moto's messages as the index keeps it."""
    facts = {name: value for name in _KEPT if (value := getattr(message, name))}
    delay_ms = message.delayed_until - (message.sent_timestamp or 0)
    facts |= {"delay_s": round(delay_ms / 1000)} if delay_ms > 0 else {}
    return QueuedMessage(message.id, queue, message.body, facts, datetime.now(UTC).isoformat())


def build_message(message: QueuedMessage) -> Any:
    """Return a stored message as moto has it, as if it had just been sent."""
    from moto.sqs.models import Message

    built: Any = Message(message.id, message.body, message.facts.get("system_attributes"))
    built.message_attributes = message.facts.get("message_attributes", {})
    built.group_id = message.facts.get("group_id")
    built.mark_sent(delay_seconds=message.facts.get("delay_s"))
    return built


def announce(messages: StoredMessages, account_id: str, body: object, queue: str, region: str) -> None:
    """Send the message of an S3 event, in the transaction of the object if there is one."""
    from moto.sqs.models import sqs_backends

    target: Any = sqs_backends[account_id][region].queues.get(queue)
    if target is not None:
        sent = QueuedMessage(str(uuid.uuid4()), queue, json.dumps(body), {}, datetime.now(UTC).isoformat())
        messages.send(sent, lambda: target.deliver(build_message(sent)))
