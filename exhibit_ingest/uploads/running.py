"""One run of a task in a queue: its requests, which end when the queue is stopped."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from exhibit_ingest.uploads.connection import Connection
from exhibit_ingest.uploads.faults import Answer
from exhibit_ingest.uploads.storage import Body, Storage
from exhibit_ingest.uploads.tasks import Task


class StoppedError(Exception):
    """The queue was stopped."""


class RunningQueue(Protocol):
    """What a run needs of its queue; `changed` guards `connection` and `done`."""

    storage: Storage
    stopped: threading.Event
    changed: threading.Condition
    connection: Connection
    done: Counter[str]

    def clock(self) -> float:
        """Return seconds that only grow."""

    def add(self, tasks: list[Task]) -> None:
        """Run these next."""


class Run:
    """A `Context`; `sent` are the bytes that its request to the storage has sent, once it `is_requesting`."""

    def __init__(self, queue: RunningQueue, task: Task) -> None:
        self._queue, self._task, self.sent, self.is_requesting = queue, task, 0, False

    def clock(self) -> float:
        """Return seconds that only grow."""
        return self._queue.clock()

    def put(self, url: str, blocks: Iterable[bytes], size: int, headers: dict[str, str]) -> Answer:
        """PUT bytes to a presigned URL."""
        return self._queue.storage.put(url, self._make_body(blocks, size), headers)

    def post(self, url: str, document: bytes, headers: dict[str, str]) -> Answer:
        """POST a document to a presigned URL."""
        return self._queue.storage.post(url, self._make_body([document], len(document)), headers)

    def add(self, tasks: Sequence[Task]) -> None:
        """Run these next."""
        self._queue.add(list(tasks))

    def count_there(self, things: int = 1) -> None:
        """Count files or parts that the bucket had before."""
        with self._queue.changed:
            self._queue.done["there"] += things

    def _make_body(self, blocks: Iterable[bytes], size: int) -> Body:
        with self._queue.changed:
            self.is_requesting = True
            self._queue.connection.begin()
        return Body(blocks, size, self._note_sent, self._wait)

    def _note_sent(self, sent: int) -> None:
        self._wait(0)
        self.sent = sent
        with self._queue.changed:
            self._queue.connection.move(self._task)

    def _wait(self, seconds: float) -> None:
        if self._queue.stopped.wait(seconds):
            raise StoppedError
