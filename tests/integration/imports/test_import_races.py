"""What happens at the same time in several processes happens once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

import complete_import
import start_import
from samples.generator import generate
from samples.spec import Spec
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import deliver_all, until_waiting, waiting
from tests.support.application.driver import World, call, completion_messages
from tests.support.application.handler_processes import Workers
from tests.support.database.server_status import wait_until
from tests.support.imports.accounting import assert_accounted
from tests.support.imports.row_outcomes import accounts

HOT = "Hot, Harriet"


def test_one_upload_started_by_several_processes_is_one_import(world: World, workers: Workers) -> None:
    made = generate(Spec(rows=20))
    notification = world.upload(made.data)
    assert any(workers.at_once("start_import", [notification] * workers.count))
    # Who found it being split did not acknowledge; the message comes again and finds it done.
    assert call(start_import.lambda_handler, notification)
    ((import_id,),) = world.query("SELECT id FROM imports")
    messages = world.chunk_messages()
    assert {message["chunk_no"] for message in messages} == {1}
    assert all(world.import_chunk(message) for message in messages)
    assert_accounted(world, import_id, made.truth)
    assert world.query("SELECT COUNT(*) FROM outbox_events WHERE event_type = 'import.started'") == [(1,)]


def test_one_chunk_given_to_several_processes_is_done_once(world: World, other: Connection, workers: Workers) -> None:
    """The one that holds it waits, with everything written, until the others have been refused, or wait for it."""
    made = generate(Spec(rows=60))
    import_id = world.start(made.data)
    (message,) = world.chunk_messages()
    other.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": import_id})
    with ThreadPoolExecutor(4) as threads:
        deliver = partial(threads.submit, workers.deliver, "import_chunk", [message])
        holding = deliver()
        until_waiting(world)
        others = [deliver() for _ in range(3)]
        wait_until(lambda: sum(each.done() for each in others) + waiting(world) == 4, "three refusals")
        other.rollback()
        assert holding.result() == [True]
        assert [each.result() for each in others] == [[False]] * 3
    assert world.import_chunk(message)
    assert_accounted(world, import_id, made.truth)
    assert _completed(world) == {str(import_id): 1}


def test_exactly_one_of_the_last_chunks_requests_the_completion(
    world: World, chunk_rows: Chunks, other: Connection, workers: Workers
) -> None:
    """All of them have written everything, a name that they share too, before any counts itself."""
    chunk_rows(3)
    made = generate(Spec(rows=3 * workers.count, hot_custodian=HOT))
    import_id = world.start(made.data)
    other.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": import_id})
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(workers.at_once, "import_chunk", world.chunk_messages())
        until_waiting(world, workers.count)
        other.rollback()
        assert all(done.result())
    (message,) = completion_messages()
    assert call(complete_import.lambda_handler, message)
    assert _completed(world) == {str(import_id): 1}
    assert_accounted(world, import_id, made.truth)


def _completed(world: World) -> Counter[str]:
    rows = world.query("SELECT aggregate_id FROM outbox_events WHERE event_type = 'import.completed'")
    return Counter(row[0] for row in rows)


@pytest.mark.parametrize(("asks", "finds"), [("before its commit", 0), ("after its commit", 2)])
def test_naive_counting_of_pending_chunks_misses_the_last_or_doubles_it(
    world: World, chunk_rows: Chunks, other: Connection, asks: str, finds: int
) -> None:
    """Two workers complete the last two chunks and each looks whether any is pending, without a lock they meet on."""
    chunk_rows(5)
    import_id = world.start(generate(Spec(rows=10)).data)
    complete = text("UPDATE import_chunks SET status = 'done' WHERE import_id = :id AND chunk_no = :no")
    pending = text("SELECT COUNT(*) FROM import_chunks WHERE import_id = :id AND status = 'pending'")
    engine = create_engine(world.engine.url, poolclass=NullPool, isolation_level="READ COMMITTED")
    with engine.connect() as one:
        pair = (one, other)
        for number, connection in enumerate(pair, start=1):
            connection.execute(complete, {"id": import_id, "no": number})
        if asks == "after its commit":
            for connection in pair:
                connection.commit()
        thinks_it_is_last = [connection.execute(pending, {"id": import_id}).scalar() == 0 for connection in pair]
        for connection in pair:
            connection.commit()
    assert sum(thinks_it_is_last) == finds


def test_the_same_rows_in_two_imports_at_once_are_imported_by_one_of_them(
    world: World, chunk_rows: Chunks, workers: Workers
) -> None:
    chunk_rows(4)
    made = generate(Spec(rows=24, hot_custodian=HOT, seed=2))
    imports = [world.start(made.data) for _ in range(2)]
    deliver_all(workers, sorted(world.chunk_messages(), key=lambda message: int(message["chunk_no"])))
    lines = [set(accounts(world, import_id).exhibits) for import_id in imports]
    assert sorted(lines[0] | lines[1]) == [record.first_line for record in made.truth.records]
    for import_id, unchanged in zip(imports, reversed(lines), strict=True):
        assert_accounted(world, import_id, made.truth, unchanged=unchanged)
