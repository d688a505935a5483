"""Messages of an undo that come several times, at once or late, and workers that die: all of it happens once."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, make_url, text
from sqlalchemy.orm import Session

import complete_import
import import_chunk
import start_import
from shell.imports.undo import parts
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import start_blocked, until_waiting
from tests.support.application.driver import Handler, Message, World, call, completion_messages, request_messages
from tests.support.application.handler_processes import Workers
from tests.support.database.server_status import wait_until
from tests.support.exhibits.history import find_gaps
from tests.support.faults.commit_proxy import Loss, between_application_and_database
from tests.support.faults.step_hooks import KilledError, Step, at, at_every_step, kill, nothing
from tests.support.undo.runs import CaseDump, begin_undo, dump_documents, end_undo, request_undo, undo

BASE = b"Control Number,Title,Tags,Custodian\r\nA-1,one,hot,Smith\r\nA-2,two,hot,\r\n"
SECOND = b"Control Number,Title,Tags,Custodian\r\nA-1,uno,warm,Jones\r\nB-1,new,warm,Smith\r\n"
OPTIONS: dict[str, Any] = {"mode": "append_overlay", "multi_values": "replace"}


class Case:
    """A case with an import that overlaid one document, created another one, and added and removed links."""

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        world.run(BASE, case=name)
        self.before = dump_documents(world)
        self.import_id = world.run(SECOND, case=name, **OPTIONS)

    def check(self) -> None:
        """The import is undone, once."""
        world, place = self._world, {"id": self.import_id}
        assert dump_documents(world) == self.before
        assert find_gaps(world) == []
        assert world.query("SELECT status FROM imports WHERE id = :id", **place) == [("undone",)]
        counts = "SELECT status, parts_left, restored, removed, kept, links_restored FROM import_undos"
        assert world.query(f"{counts} WHERE import_id = :id", **place) == [("undone", 0, 1, 1, 0, 2)]
        history = "SELECT action FROM exhibit_changes WHERE import_id = :id ORDER BY version"
        assert [row[0] for row in world.query(history, **place)] == ["overlaid", "undone"]
        assert world.query("SELECT control_number FROM exhibit_tombstones WHERE import_id = :id", **place) == [("B-1",)]
        events = "SELECT payload FROM outbox_events WHERE event_type = 'import.undone' AND aggregate_id = :id"
        assert [json.loads(row[0])["status"] for row in world.query(events, **place)] == ["undone"]


def sent(world: World) -> list[tuple[Handler, Message]]:
    """Take what is in the queues, each message with the handler that gets it."""
    queues: tuple[tuple[Handler, list[Message]], ...] = (
        (start_import.lambda_handler, request_messages()),
        (import_chunk.lambda_handler, world.chunk_messages()),
        (complete_import.lambda_handler, completion_messages()),
    )
    return [(handler, message) for handler, messages in queues for message in messages]


def deliver_all(world: World) -> None:
    """Deliver all messages, and those that follow; one that was not acknowledged comes again."""
    waiting = sent(world)
    while waiting:
        handler, message = waiting.pop(0)
        try:
            acknowledged = call(handler, message)
        except KilledError:
            acknowledged = False
        waiting += sent(world) if acknowledged else [*sent(world), (handler, message)]


def test_a_part_delivered_to_several_workers_at_once_is_done_once(
    world: World, workers: Workers, other: Connection
) -> None:
    """The one that holds it waits, with everything written, until the others have been refused."""
    case = Case(world, "Case")
    (message,) = begin_undo(world, case.import_id)
    other.execute(text("SELECT import_id FROM import_undos FOR UPDATE"))
    with ThreadPoolExecutor(4) as threads:
        deliver = partial(threads.submit, workers.deliver, "import_chunk", [message])
        holding = deliver()
        until_waiting(world)
        others = [deliver() for _ in range(3)]
        wait_until(lambda: all(each.done() for each in others), "three refusals")
        other.rollback()
        assert holding.result() == [True]
        assert [each.result() for each in others] == [[False]] * 3
    assert world.import_chunk(message)
    end_undo()
    case.check()


def test_all_parts_at_once_request_one_end(
    world: World, workers: Workers, other: Connection, chunk_rows: Chunks
) -> None:
    """All of them have written everything before any counts itself."""
    before = dump_documents(world)
    chunk_rows(1)
    rows = "".join(f"B-{number},hot,Smith\r\n" for number in range(workers.count))
    import_id = world.run(f"Control Number,Tags,Custodian\r\n{rows}".encode())
    messages = begin_undo(world, import_id)
    end_undo()
    other.execute(text("SELECT import_id FROM import_undos FOR UPDATE"))
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(workers.at_once, "import_chunk", messages)
        until_waiting(world, workers.count)
        other.rollback()
        assert all(done.result())
    (completion,) = completion_messages()
    for _ in range(2):
        assert call(complete_import.lambda_handler, completion)
    assert dump_documents(world) == before
    assert world.query("SELECT COUNT(*) FROM outbox_events WHERE event_type = 'import.undone'") == [(1,)]


def test_a_worker_killed_in_the_transaction_of_a_part_leaves_nothing(world: World, other: Connection) -> None:
    """It has written everything, and waits for the row of the undo."""
    case = Case(world, "Case")
    written = dump_documents(world)
    messages = begin_undo(world, case.import_id)
    other.execute(text("SELECT import_id FROM import_undos FOR UPDATE"))
    worker = start_blocked(world, "import_chunk", *messages)
    worker.kill()
    worker.join()
    other.rollback()
    assert dump_documents(world) == written
    assert world.query("SELECT status FROM import_undo_parts") == [("pending",)]
    wait_until(lambda: world.import_chunk(messages[0]), "the end of the killed worker's transaction")
    end_undo()
    case.check()


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_undo_whose_workers_are_killed_at_any_step_is_done_once(world: World, when: str) -> None:
    case = Case(world, "0")
    request_undo(case.import_id)
    with at_every_step(world) as steps:
        deliver_all(world)
    case.check()
    numbers = range(1, steps.count + 1) if when == "before" else steps.commits
    print(f"killed {when} each of {len(numbers)} steps")
    assert len(numbers) > (30 if when == "before" else 6)
    for number in numbers:
        case = Case(world, f"{number} {when}")
        request_undo(case.import_id)
        killing = at(number, kill)
        hooks: tuple[Step, Step] = (killing, nothing) if when == "before" else (nothing, killing)
        with at_every_step(world, *hooks):
            deliver_all(world)
        case.check()


@pytest.mark.slow
@pytest.mark.parametrize("loss", [Loss.ANSWER, Loss.REQUEST])
def test_an_undo_that_loses_any_commit_is_done_once(world: World, loss: Loss) -> None:
    case = Case(world, "0")
    request_undo(case.import_id)
    with at_every_step(world) as steps:
        deliver_all(world)
    case.check()
    for number in range(len(steps.commits)):
        case = Case(world, f"{number} {loss.name}")
        with between_application_and_database(make_url(world.environment["DATABASE_URL"])) as proxy:
            request_undo(case.import_id)
            proxy.lose_next(loss, after=number)
            deliver_all(world)
            assert proxy.lost == 1
        case.check()


def test_every_message_of_an_undo_again_after_its_end_changes_nothing(world: World) -> None:
    case = Case(world, "Case")
    request_undo(case.import_id)
    (request,) = request_messages()
    assert call(start_import.lambda_handler, request)
    (part,) = world.chunk_messages()
    assert call(import_chunk.lambda_handler, part)
    completions = completion_messages()
    assert all(call(complete_import.lambda_handler, each) for each in completions)
    case.check()
    assert call(start_import.lambda_handler, request)
    assert call(import_chunk.lambda_handler, part)
    assert all(call(complete_import.lambda_handler, each) for each in completions)
    assert sent(world) == []
    case.check()


def test_messages_in_the_wrong_order_are_harmless(world: World, chunk_rows: Chunks) -> None:
    """The end is requested before the parts are done, and parts again before the request is received again."""
    chunk_rows(1)
    before = dump_documents(world)
    import_id = world.run(BASE)
    request_undo(import_id)
    (request,) = request_messages()
    assert call(start_import.lambda_handler, request)
    end_undo()
    first, second = world.chunk_messages()
    assert world.import_chunk(second)
    end_undo()
    assert call(start_import.lambda_handler, request)
    assert [message["chunk_no"] for message in world.chunk_messages()] == [first["chunk_no"]]
    assert world.query("SELECT status FROM imports") == [("undoing",)]
    assert world.import_chunk(first)
    end_undo()
    assert dump_documents(world) == before
    assert world.query("SELECT status FROM imports") == [("undone",)]


def test_a_late_part_of_an_earlier_undo_does_nothing(world: World) -> None:
    """The import is undone twice: the first undo kept what the second one takes back."""
    first = world.run(b"Control Number,Title\r\nA-1,one\r\n")
    second = world.run(b"Control Number,Title\r\nA-1,uno\r\n", mode="overlay")
    (late,) = begin_undo(world, first)
    assert world.import_chunk(late)
    end_undo()
    undo(world, second)
    messages = begin_undo(world, first)
    written = dump_documents(world)
    assert world.import_chunk(late)
    assert dump_documents(world) == written
    assert all(map(world.import_chunk, messages))
    end_undo()
    assert dump_documents(world) == CaseDump.fromkeys(written, [])


def test_a_part_that_is_not_looked_at_is_counted_twice(
    world: World, chunk_rows: Chunks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: a worker that does not read the row of its part ends an undo that is not done."""

    def naive(transaction: Session, *part: int) -> Any:
        return transaction.execute(parts.PARTS.read, parts.PARTS.name(part)).one()

    chunk_rows(1)
    import_id = world.run(BASE)
    first, _ = begin_undo(world, import_id)
    monkeypatch.setattr(parts.PARTS, "lock", naive)
    run: Callable[[Message], bool] = world.import_chunk
    assert [run(first), run(first)] == [True, True]
    end_undo()
    assert world.query("SELECT status FROM imports") == [("undone",)]
    assert world.query("SELECT control_number FROM exhibits") == [("A-2",)]
