"""A large file is split with checkpoints: if any worker is killed or paused, the result is that of one pass."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest

from core.errors import CommitOutcomeUnknownError
from core.load_file.splitter import Splitter
from shell.aws import clients
from shell.imports.splitting import checkpoints
from shell.imports.state.progress import CHUNKS
from shell.settings import settings
from tests.integration.imports.checkpointed_splits import (
    FILE,
    count_steps,
    found,
    kill_after_a_checkpoint,
    split_in_one_pass,
    stop,
)
from tests.integration.imports.conftest import Setting
from tests.integration.imports.import_requests import announce, events, put, run_chunks, start, state
from tests.support.application.driver import World, request_messages
from tests.support.faults.step_hooks import Step, at, at_every_step, kill, nothing

pytestmark = pytest.mark.usefixtures("small_checkpoints")


def stored_parts(import_id: int) -> int:
    """The number of versions of the stored ids of an import, and of markers that delete them."""
    listed = clients.s3().list_object_versions(Bucket=settings().bucket, Prefix=f"splits/{import_id}/")
    return len([*listed.get("Versions", []), *listed.get("DeleteMarkers", [])])


def lose() -> None:
    """End a connection before the answer to its COMMIT."""
    raise CommitOutcomeUnknownError


def test_a_file_with_checkpoints_has_the_result_of_one_pass(world: World, setting: Setting) -> None:
    expected = split_in_one_pass(world, setting)
    pending = announce()
    assert start(put(pending, FILE))
    assert found(world, pending.id) == expected
    assert len(expected[2]) > 20
    assert world.query("SELECT COUNT(*) FROM import_splits") == [(0,)]
    assert stored_parts(pending.id) == 0
    assert len(events(world, "import.started")) == 2
    run_chunks(world)
    assert state(pending.id).status == "completed_with_rejections"


def test_a_small_file_has_no_checkpoint(world: World) -> None:
    pending = announce()
    assert start(put(pending, b"\r\n".join(FILE.split(b"\r\n")[:6])))
    assert world.query("SELECT split_checkpoint FROM imports") == [(None,)]


@pytest.mark.usefixtures("unlocked")
@pytest.mark.slow
def test_a_split_that_is_killed_at_any_step_is_resumed_with_the_same_result(world: World, setting: Setting) -> None:
    expected = split_in_one_pass(world, setting)
    count, commits = count_steps(world)
    assert len(commits) > 8
    kills: list[tuple[Step, Step]] = [(at(number, kill), nothing) for number in range(1, count + 1)]
    kills += [(nothing, at(number, kill)) for number in commits]
    for number, (before, after) in enumerate(kills):
        pending = announce(case=f"Killed {number}")
        request = put(pending, FILE)
        stop(before, request, after, world=world)
        assert start(request)
        assert found(world, pending.id) == expected, number
        world.chunk_messages()


def test_a_killed_split_goes_on_where_it_was(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _, request = kill_after_a_checkpoint(world)
    ((import_id, bytes_read),) = world.query("SELECT import_id, bytes_read FROM import_splits")
    assert 0 < bytes_read < len(FILE)
    assert state(import_id).bytes_read == bytes_read, "as a client sees it"
    fed: list[int] = []
    feed = Splitter.feed

    def feed_and_count(self: Any, block: bytes) -> Any:
        fed.append(len(block))
        return feed(self, block)

    monkeypatch.setattr("core.load_file.splitter.Splitter.feed", feed_and_count)
    assert start(request)
    assert sum(fed) == len(FILE) - bytes_read
    assert state(import_id).bytes_read == len(FILE)


@pytest.mark.usefixtures("unlocked")
@pytest.mark.slow
def test_a_commit_whose_outcome_is_lost_counts_once(world: World, setting: Setting) -> None:
    expected = split_in_one_pass(world, setting)
    for number in count_steps(world)[1]:
        pending = announce(case=f"Lost {number}")
        request = put(pending, FILE)
        with at_every_step(world, nothing, at(number, lose)):
            acknowledged = start(request)
        assert acknowledged or start(request)
        assert found(world, pending.id) == expected, number
        world.chunk_messages()


def test_a_split_without_time_goes_on_with_a_new_message(
    world: World, setting: Setting, no_time: Callable[[], None]
) -> None:
    expected = split_in_one_pass(world, setting)
    pending = announce()
    messages, invocations = [put(pending, FILE)], 0
    no_time()
    while messages:
        # The message is finished, and the lock on the file is free for the next one.
        assert start(messages.pop())
        messages += request_messages()
        assert all(message == {"import_id": pending.id, "generation": 1} for message in messages)
        invocations += 1
    assert invocations > len(FILE) // 100
    assert found(world, pending.id) == expected


def test_chunks_without_time_are_sent_by_several_invocations(
    world: World, monkeypatch: pytest.MonkeyPatch, no_time: Callable[[], None]
) -> None:
    no_time()
    monkeypatch.setattr(checkpoints, "build_deadline_check", lambda _: lambda: False)
    monkeypatch.setattr(CHUNKS, "per_page", 7)
    pending = announce()
    messages, sent = [put(pending, FILE)], []
    while messages:
        assert start(messages.pop())
        sent.append([message["chunk_no"] for message in world.chunk_messages()])
        messages += request_messages()
    assert [len(numbers) for numbers in sent] == [7, 7, 6]
    assert sorted(chain.from_iterable(sent)) == list(range(1, 21))
