"""What nothing needs any more is deleted while the stack runs, in bounded steps; and no file of an object is left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from moto.sqs import models

from local.lambda_runtime import durable_executions
from local.services import moto_patches
from local.services.moto_patches import ReliableQueue
from local.storage.index import Index
from local.storage.messages import QueuedMessage, StoredMessages, build_message
from local.storage.storage import Storage
from tests.unit.local.test_durable_engine import SAGA, engine, succeed


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = Storage(tmp_path / "objects")
    yield opened
    opened.close()


def build_queue(storage: Storage) -> Any:
    queue: Any = ReliableQueue("queue", "us-east-1", "123456789012")  # type: ignore[abstract]
    queue.stored = StoredMessages(storage.index)
    queue.message_retention_period = 60
    return queue


def send(queue: Any, age_s: int, number: int) -> None:
    sent = (datetime.now(UTC) - timedelta(seconds=age_s)).isoformat()
    message = QueuedMessage(f"{age_s}-{number}", queue.name, "body", {}, sent)
    queue.stored.send(message, lambda: queue.deliver(build_message(message)))


def list_stored(queue: Any) -> list[str]:
    return [message.id for message in queue.stored.restore(queue.name)]


def test_messages_that_are_too_old_leave_a_queue_that_is_served(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "sqs_backends", {})
    monkeypatch.setattr(moto_patches, "_TRIMMED_AT_ONCE", 2)
    queue = build_queue(storage)
    for number in range(5):
        send(queue, 61, number)
    send(queue, 1, 0)
    queue.trim()
    assert list_stored(queue) == [message.id for message in queue._messages] == ["1-0"]


def test_executions_that_lambda_would_not_retain_are_forgotten_at_the_next_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable_executions, "_TRIMMED_AT_ONCE", 2)
    with engine(tmp_path, succeed) as (executions, _):
        for name in "abcd":
            executions.start(SAGA, "live", name, "{}").closed.result(60)
        assert list(executions.get_statuses("Saga")) == [*"abcd"]
        age(executions._store._index, "abc", SAGA.durable.retention_days if SAGA.durable else 0)
        executions._trims_at = 0.0
        left = []
        for name in "efg":
            executions.start(SAGA, "live", name, "{}").closed.result(60)
            left.append("".join(executions.get_statuses("Saga")))
        # Two at the first start, one at the second; then none for an hour.
        assert left == ["cde", "def", "defg"]
        [names] = [[row[1] for row in executions._store.list_names()]]
        assert sorted(names) == [*"defg"]


def age(index: Index, names: str, days: int) -> None:
    """Have executions be so many days, and a minute, old."""
    before = (datetime.now(UTC) - timedelta(days=days, minutes=1)).isoformat()
    with index.transaction():
        for name in names:
            index.write("UPDATE executions SET saved = ? WHERE name = ?", before, name)


def test_a_draft_that_is_kept_while_it_is_deleted_leaves_no_file(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The move of a draft to its place comes between the two deletions."""
    blob, unlink, moves = storage.blobs.write(b"bytes").blob, Path.unlink, [True]

    def unlink_and_move(path: Path, **options: bool) -> None:
        unlink(path, **options)
        if moves.pop() if moves else False:
            storage.blobs.keep(blob)

    monkeypatch.setattr(Path, "unlink", unlink_and_move)
    storage.blobs.delete([blob])
    assert not moves
    assert not any(path.is_file() for path in (storage.blobs.folder / "blobs").rglob("*"))
    assert storage.blobs.list_drafts() == []
