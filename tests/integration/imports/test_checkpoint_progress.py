"""A split that is killed again and again, or finds very many repeated ids: it gets further, or is given up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

import handle_failed_import
import start_import
from shell.imports.splitting import checkpoint_store, checkpoints
from tests.integration.imports.checkpointed_splits import found, kill_after_a_checkpoint, kill_at_checkpoint, stop
from tests.integration.imports.conftest import Setting
from tests.integration.imports.import_requests import announce, put, retry, start, state
from tests.support.application.driver import Message, World, call, request_messages
from tests.support.faults.step_hooks import nothing

pytestmark = pytest.mark.usefixtures("small_checkpoints")
REPEATED = b"Control Number,Title\r\n" + b"".join(b"A,title %d\r\n" % number for number in range(60))


@pytest.fixture(autouse=True)
def no_delay(setting: Setting) -> None:
    """Messages that are sent back come at once."""
    setting("REDRIVE_DELAY_SECONDS", "0")


def count_stored(world: World) -> int:
    """The number of duplicates in the database."""
    ((count,),) = world.query("SELECT COUNT(*) FROM import_duplicates")
    return int(count)


def deliver_dead_letter(request: Message) -> list[Message]:
    """A request that failed in every attempt; returns what is sent for it."""
    assert call(handle_failed_import.lambda_handler, request)
    return request_messages()


def fail_twice(request: Message) -> Message:
    """A request that failed in every attempt, twice; returns the message with its progress."""
    (first,) = deliver_dead_letter(request)
    (second,) = deliver_dead_letter(first)
    return second


@pytest.mark.slow
def test_a_search_without_time_stores_a_batch_and_goes_on_after_it(
    world: World, no_time: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_STATEMENT", 4)
    written: list[int] = []

    def write(place: Any, name: str, duplicates: Any, *more: Any) -> bool:
        written.append(len(duplicates))
        return checkpoint_store.write_duplicates(place, name, duplicates, *more)

    monkeypatch.setattr(checkpoints, "write_duplicates", write)
    pending = announce()
    messages, stored = [put(pending, REPEATED)], [0]
    no_time()
    while messages:
        assert start(messages.pop())
        messages += request_messages()
        stored.append(count_stored(world))
    assert max(after - before for before, after in pairwise(stored)) == 4
    assert (sum(written), stored[-1]) == (59, 59)
    assert sorted(found(world, pending.id)[2]) == [(line, 2) for line in range(3, 62)]


def test_a_split_that_starts_over_without_time_is_discarded_by_several_invocations(
    world: World, setting: Setting, no_time: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, request = kill_after_a_checkpoint(world)
    ((chunks,),) = world.query("SELECT COUNT(*) FROM import_chunks")
    monkeypatch.setattr(checkpoint_store, "ROWS_PER_DELETE", 2)
    setting("CHUNK_ROWS", "3")
    no_time()
    assert start(request)
    assert len(request_messages()) == 1
    assert world.query("SELECT COUNT(*) FROM import_chunks") == [(chunks - 2,)]


def test_a_split_that_progresses_is_not_given_up(world: World) -> None:
    import_id, request = kill_after_a_checkpoint(world)
    ((bytes_read,),) = world.query("SELECT bytes_read FROM import_splits")
    second = fail_twice(request)
    assert second == {"import_id": import_id, "generation": 1, "redrive": 1, "progress": [bytes_read, -1, 0]}
    assert state(import_id).status == "splitting"
    stop(nothing, second, kill_at_checkpoint(world), world=world)
    (third,) = deliver_dead_letter(second)
    assert third["progress"] > second["progress"]
    assert deliver_dead_letter(third) == []
    assert state(import_id).failure_code == "NOT_READ"
    assert retry(import_id).status == "splitting"
    assert call(start_import.lambda_handler, *request_messages())
    assert state(import_id).status == "running"


def test_a_split_that_starts_over_and_gets_no_further_is_given_up(world: World, setting: Setting) -> None:
    import_id, request = kill_after_a_checkpoint(world)
    second = fail_twice(request)
    setting("CHUNK_ROWS", "3")
    stop(nothing, second, kill_at_checkpoint(world), world=world)
    assert deliver_dead_letter(second) == []
    assert state(import_id).failure_code == "NOT_READ"


def test_a_split_that_gets_further_while_it_is_given_up_is_not(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import_id, request = kill_after_a_checkpoint(world)
    second = fail_twice(request)

    @contextmanager
    def lock_late(*_: Any) -> Iterator[None]:
        stop(nothing, request, kill_at_checkpoint(world), world=world)
        yield

    monkeypatch.setattr("shell.imports.failed_imports.split_lock", lock_late)
    assert not call(handle_failed_import.lambda_handler, second)
    assert state(import_id).status == "splitting"
    (third,) = deliver_dead_letter(second)
    assert third["progress"] > second["progress"]
