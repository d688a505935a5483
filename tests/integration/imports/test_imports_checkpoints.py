"""A large file is split with checkpoints: whoever is killed, paused or overtaken, the result is that of one pass."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from itertools import chain
from typing import Any

import pytest
from sqlalchemy import text

import settle_failed_import
import start_import
from core.errors import CommitOutcomeUnknownError, ImportBusyError
from core.load_file.splitter import Splitter
from shell.aws import clients
from shell.imports import chunk_registration, split_checkpoints, split_store
from shell.imports import start as start_module
from shell.settings import settings
from tests.integration.imports.conftest import Chunks, Setting
from tests.integration.imports.support import announce, cancel, events, put, retry, run_chunks, start, state
from tests.support.stepping import KilledError, Step, at, at_every_step, kill, nothing
from tests.support.world import Message, World, call, request_messages

# Repeated ids in and between checkpoints, a repeated header, dates that need an order, and characters beyond ASCII.
ROWS = [f"A-{number % 17},name é {number},{number % 12 + 1}/{number % 28 + 1}/2001" for number in range(40)]
ROWS[20] = "Control Number,Title,Document Date"
FILE = "\r\n".join(["Control Number,Title,Document Date", *ROWS, ""]).encode()
FOUND = (
    "SELECT status, HEX(sha256), encoding, layout, date_orders, rows_seen, size, chunk_count, chunks_left FROM imports",
    "SELECT chunk_no, byte_start, byte_end, first_line, last_line, row_count, HEX(sha256), status FROM import_chunks",
    "SELECT line_no, first_line FROM import_duplicates",
    "SELECT line_no, seq, column_name, code, message FROM import_warnings",
)
Found = list[list[tuple[Any, ...]]]


@pytest.fixture(autouse=True)
def _small(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows, chunks of two, and a checkpoint after every fifth chunk at the latest."""
    monkeypatch.setattr("shell.imports.split.SLICE_BYTES", 100)
    monkeypatch.setattr("shell.imports.stored_ids.GROUP_BYTES", 400)
    setting("CHUNK_ROWS", "2")
    setting("SPLIT_CHECKPOINT_CHUNKS", "5")


@pytest.fixture
def unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the import's row keeps workers apart, as when the lock on the file is lost."""
    monkeypatch.setattr("shell.imports.start.split_lock", lambda *_: nullcontext())


def found(world: World, import_id: int) -> Found:
    """What the split of an import left in the database."""
    keys = ("id", *["import_id"] * 3)
    return [
        sorted(map(tuple, world.query(f"{query} WHERE {key} = :id", id=import_id)), key=repr)
        for query, key in zip(FOUND, keys, strict=True)
    ]


def split_in_one_pass(world: World, setting: Setting) -> Found:
    """The result without checkpoints."""
    setting("SPLIT_CHECKPOINT_CHUNKS", "1000")
    pending = announce(case="One pass")
    assert start(put(pending, FILE))
    world.chunk_messages()
    setting("SPLIT_CHECKPOINT_CHUNKS", "5")
    return found(world, pending.id)


def stored_parts(import_id: int) -> int:
    """The number of versions of the stored ids of an import, and of markers that delete them."""
    listed = clients.s3().list_object_versions(Bucket=settings().bucket, Prefix=f"splits/{import_id}/")
    return len([*listed.get("Versions", []), *listed.get("DeleteMarkers", [])])


def stop(step: Step, request: Message, after: Step = nothing, *, world: World) -> None:
    """Start the import of a request, and be killed at a step."""
    with pytest.raises(KilledError), at_every_step(world, step, after):
        start_module.start_imports(request)


def lose() -> None:
    """End a connection before the answer to its COMMIT."""
    raise CommitOutcomeUnknownError


def count_steps(world: World) -> tuple[int, list[int]]:
    """The number of statements and COMMITs of a split with checkpoints, and the numbers of the COMMITs."""
    request = put(announce(case="Steps"), FILE)
    with at_every_step(world) as steps:
        start_module.start_imports(request)
    world.chunk_messages()
    return steps.count, steps.commits


def kill_after_a_checkpoint(world: World, **body: Any) -> tuple[int, Message]:
    """An import whose worker was killed after its second checkpoint, and its request."""
    pending = announce(**body)
    request = put(pending, FILE)
    written: list[int] = []

    def kill_at_second(_number: int) -> None:
        names = {row[0] for row in world.query("SELECT split_checkpoint FROM imports WHERE id = :id", id=pending.id)}
        written.extend(1 for name in names - {None} if name not in seen)
        seen.update(names)
        if len(written) == 2:
            raise KilledError

    seen: set[str | None] = set()
    stop(nothing, request, kill_at_second, world=world)
    return pending.id, request


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
    ((bytes_read,),) = world.query("SELECT bytes_read FROM import_splits")
    assert 0 < bytes_read < len(FILE)
    fed: list[int] = []
    feed = Splitter.feed

    def feed_and_count(self: Any, block: bytes) -> Any:
        fed.append(len(block))
        return feed(self, block)

    monkeypatch.setattr("core.load_file.splitter.Splitter.feed", feed_and_count)
    assert start(request)
    assert sum(fed) == len(FILE) - bytes_read


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


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to have every deadline near."""

    def change() -> None:
        for module in ("split_checkpoints", "chunk_registration"):
            monkeypatch.setattr(f"shell.imports.{module}.build_deadline_check", lambda _: lambda: True)

    return change


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
    monkeypatch.setattr(split_checkpoints, "build_deadline_check", lambda _: lambda: False)
    monkeypatch.setattr(chunk_registration, "CHUNKS_PER_PAGE", 7)
    pending = announce()
    messages, sent = [put(pending, FILE)], []
    while messages:
        assert start(messages.pop())
        sent.append([message["chunk_no"] for message in world.chunk_messages()])
        messages += request_messages()
    assert [len(numbers) for numbers in sent] == [7, 7, 6]
    assert sorted(chain.from_iterable(sent)) == list(range(1, 21))


def overtake(world: World, setting: Setting) -> tuple[int, BaseException | None]:
    """A worker is overtaken, after its first checkpoint, by one that splits the file into larger chunks."""
    pending = announce()
    request = put(pending, FILE)
    late: list[BaseException] = []

    def split_otherwise(_number: int) -> None:
        if not late and world.query("SELECT split_checkpoint IS NULL FROM imports") == [(0,)]:
            late.append(KilledError())
            setting("CHUNK_ROWS", "100")
            start_module.start_imports(request)
            setting("CHUNK_ROWS", "2")

    with at_every_step(world, nothing, split_otherwise):
        try:
            start_module.start_imports(request)
        except Exception as error:
            late.append(error)
    return pending.id, late[1] if len(late) > 1 else None


COUNTED = "SELECT i.chunk_count, COUNT(*) FROM imports i JOIN import_chunks c ON c.import_id = i.id GROUP BY i.id"


@pytest.mark.usefixtures("unlocked")
def test_a_worker_that_was_overtaken_writes_nothing(world: World, setting: Setting) -> None:
    _, error = overtake(world, setting)
    assert isinstance(error, ImportBusyError)
    assert world.query(COUNTED) == [(2, 2)]


@pytest.mark.usefixtures("unlocked")
def test_without_the_check_of_the_checkpoint_the_chunks_of_two_workers_mix(
    world: World, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    without = text(str(split_store._ADVANCE).partition(" AND status")[0])
    monkeypatch.setattr(split_store, "_ADVANCE", without)
    overtake(world, setting)
    ((counted, chunks),) = world.query(COUNTED)
    assert chunks > counted


@pytest.mark.usefixtures("unlocked")
@pytest.mark.slow
def test_two_workers_have_the_result_of_one_wherever_the_second_comes_in(world: World, setting: Setting) -> None:
    expected = split_in_one_pass(world, setting)
    for number in count_steps(world)[1]:
        pending = announce(case=f"Two {number}")
        request = put(pending, FILE)
        with at_every_step(world, nothing, at(number, partial(start_module.start_imports, request))):
            acknowledged = start(request)
        assert acknowledged or start(request)
        assert found(world, pending.id) == expected, number
        world.chunk_messages()


def test_an_import_that_is_cancelled_while_it_is_split_has_no_counts_and_starts_over(
    world: World, setting: Setting, chunk_rows: Chunks
) -> None:
    expected = split_in_one_pass(world, setting)
    import_id, request = kill_after_a_checkpoint(world)
    splitting = state(import_id)
    assert (splitting.status, splitting.chunks, splitting.rows_processed, splitting.chunks_failed) == (
        *("splitting", 0, 0, 0),
    )
    cancelled = cancel(import_id)
    assert (cancelled.status, cancelled.rows_processed, cancelled.reports_prefix) == ("cancelled", 0, None)
    assert start(request)
    assert world.chunk_messages() == []
    chunk_rows(3)
    assert retry(import_id).status == "splitting"
    chunk_rows(2)
    (again,) = request_messages()
    assert start(again)
    assert found(world, import_id) == expected
    assert len(world.chunk_messages()) == len(expected[1])


def test_a_worker_of_a_generation_before_a_retry_writes_nothing(world: World) -> None:
    """It may read the file as its options were, and finds the last checkpoint unchanged."""
    import_id, _ = kill_after_a_checkpoint(world)
    ((checkpoint,),) = world.query("SELECT split_checkpoint FROM imports")
    cancel(import_id)
    retry(import_id)
    place = split_store.Place(import_id, 1, checkpoint)
    with pytest.raises(ImportBusyError):
        split_store.write_checkpoint(place, "later", [], split_store.StoredSplit(b"", 1, None, {}))


def test_other_options_start_the_split_over(world: World) -> None:
    """The options object of a file that was not announced may be replaced between two invocations."""
    request = world.upload(FILE, date_order="DMY")
    key = request["Records"][0]["s3"]["object"]["key"].replace("imports/", "options/", 1)
    (options,) = [
        listed["Key"]
        for listed in clients.s3().list_objects_v2(Bucket=world.bucket, Prefix="options/")["Contents"]
        if key.split("/")[3] in listed["Key"]
    ]
    commits: list[int] = []

    def kill_later(number: int) -> None:
        commits.append(number)
        if world.query("SELECT split_checkpoint IS NULL FROM imports") == [(0,)]:
            raise KilledError

    stop(nothing, request, kill_later, world=world)
    clients.s3().put_object(Bucket=world.bucket, Key=options, Body=b'{"date_order": "MDY"}')
    assert start(request)
    ((layout, counted),) = world.query("SELECT layout, chunk_count FROM imports")
    assert '"date_order": "MDY"' in layout
    assert world.query("SELECT COUNT(*) FROM import_chunks") == [(counted,)]


def test_ids_that_expired_start_the_split_over(world: World, setting: Setting, no_time: Callable[[], None]) -> None:
    expected = split_in_one_pass(world, setting)
    import_id, request = kill_after_a_checkpoint(world)
    (part, *_) = clients.s3().list_objects_v2(Bucket=world.bucket, Prefix=f"splits/{import_id}/")["Contents"]
    clients.s3().delete_object(Bucket=world.bucket, Key=part["Key"])
    assert start(request)
    assert state(import_id).status == "splitting"
    (again,) = request_messages()
    assert start(again)
    assert found(world, import_id) == expected


def settle(request: Message) -> list[Message]:
    """A request that failed in every attempt; returns what is sent for it."""
    assert call(settle_failed_import.lambda_handler, request)
    return request_messages()


def test_a_split_that_progresses_is_not_given_up(world: World, setting: Setting) -> None:
    setting("REDRIVE_DELAY_SECONDS", "0")
    import_id, request = kill_after_a_checkpoint(world)
    ((checkpoint,),) = world.query("SELECT split_checkpoint FROM imports")
    (first,) = settle(request)
    (second,) = settle(first)
    assert second == {"import_id": import_id, "generation": 1, "redrive": 1, "checkpoint": checkpoint}
    assert state(import_id).status == "splitting"
    with pytest.raises(KilledError), at_every_step(world, nothing, _kill_after_change(world)):
        start_module.start_imports(second)
    (third,) = settle(second)
    assert third["checkpoint"] != checkpoint
    assert settle(third) == []
    assert state(import_id).failure_code == "NOT_READ"
    assert retry(import_id).status == "splitting"
    assert call(start_import.lambda_handler, *request_messages())
    assert state(import_id).status == "running"


def _kill_after_change(world: World) -> Step:
    before = world.query("SELECT split_checkpoint FROM imports")

    def step(_number: int) -> None:
        if world.query("SELECT split_checkpoint FROM imports") != before:
            raise KilledError

    return step
