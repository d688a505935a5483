"""What happens at the same moment in several processes happens once."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

import import_chunk
import start_import
from samples.generator import generate
from samples.spec import Spec
from tests.integration.imports.conftest import Chunks
from tests.support.accounts import accounts
from tests.support.checks import assert_accounted
from tests.support.watching import someone_waits, wait_until
from tests.support.workers import Workers, ended_well, start_alone
from tests.support.world import World, call

FULL_STARTS, FULL_LAST_CHUNKS = 20, 16
CHUNKS = 8


def _deliver_until_done(world: World) -> None:
    for message in world.chunk_messages():
        assert call(import_chunk.lambda_handler, message)


def test_one_upload_started_by_several_processes_is_one_import(
    world: World, chunk_rows: Chunks, workers: Workers, race_counts: int
) -> None:
    chunk_rows(5)
    made = generate(Spec(rows=20))
    for number in range(FULL_STARTS // race_counts):
        notification = world.upload(made.data, case=f"Case {number}")
        assert any(workers.at_once("start_import", [notification] * workers.count))
        # Who found it being split did not acknowledge; the message comes again and finds it done.
        assert call(start_import.lambda_handler, notification)
        imports = world.query(
            "SELECT i.id FROM imports i JOIN cases c ON c.id = i.case_id WHERE c.name = :name", name=f"Case {number}"
        )
        assert len(imports) == 1
        chunks = world.query("SELECT chunk_no FROM import_chunks WHERE import_id = :id ORDER BY 1", id=imports[0][0])
        messages = world.chunk_messages()
        assert {message["chunk_no"] for message in messages} == {row[0] for row in chunks}
        for message in messages:
            assert call(import_chunk.lambda_handler, message)
        assert_accounted(world, imports[0][0], made.truth)
    started = world.query(
        "SELECT aggregate_id, COUNT(*) FROM outbox_events WHERE event_type = 'import.started' GROUP BY aggregate_id"
    )
    assert {count for _, count in started} == {1}


def test_a_chunk_that_somebody_holds_is_not_acknowledged(world: World, other: Connection) -> None:
    made = generate(Spec(rows=6))
    import_id = world.start(made.data)
    (message,) = world.chunk_messages()
    other.execute(text("SELECT chunk_no FROM import_chunks WHERE import_id = :id FOR UPDATE"), {"id": import_id})
    assert not call(import_chunk.lambda_handler, message)
    assert world.query("SELECT COUNT(*) FROM exhibits")[0][0] == 0
    other.rollback()
    assert call(import_chunk.lambda_handler, message)
    assert_accounted(world, import_id, made.truth)


def test_one_chunk_given_to_several_processes_is_done_once(world: World, workers: Workers, race_counts: int) -> None:
    made = generate(Spec(rows=60))
    for number in range(FULL_STARTS // race_counts):
        import_id = world.start(made.data, case=f"Case {number}")
        (message,) = world.chunk_messages()
        succeeded = workers.at_once("import_chunk", [message] * workers.count)
        assert any(succeeded)
        # Who found it held did not acknowledge; the message comes again and finds it done.
        assert call(import_chunk.lambda_handler, message)
        assert_accounted(world, import_id, made.truth)
    assert set(_completed(world).values()) == {1}


@pytest.mark.slow
def test_exactly_one_of_the_last_chunks_completes_the_import(
    world: World, chunk_rows: Chunks, workers: Workers, race_counts: int
) -> None:
    chunk_rows(3)
    made = generate(Spec(rows=3 * CHUNKS, hot_custodian="Hot, Harriet"))
    imports = [world.start(made.data, case=f"Case {n}") for n in range(4 if race_counts > 1 else FULL_LAST_CHUNKS)]
    messages = world.chunk_messages()
    last: dict[int, list[dict[str, int]]] = {}
    for message in messages:
        if message["chunk_no"] <= CHUNKS - workers.count:
            assert call(import_chunk.lambda_handler, message)
        else:
            last.setdefault(message["import_id"], []).append(message)
    for together in last.values():
        pending = [m for m, done in zip(together, workers.at_once("import_chunk", together), strict=True) if not done]
        assert all(call(import_chunk.lambda_handler, message) for message in pending)
    assert _completed(world) == {str(import_id): 1 for import_id in imports}
    for import_id in imports:
        assert_accounted(world, import_id, made.truth)


def _completed(world: World) -> Counter[str]:
    rows = world.query("SELECT aggregate_id FROM outbox_events WHERE event_type = 'import.completed'")
    return Counter(row[0] for row in rows)


@pytest.mark.parametrize(("asks", "finds"), [("before its commit", 0), ("after its commit", 2)])
def test_naive_counting_of_pending_chunks_misses_the_last_or_doubles_it(
    world: World, chunk_rows: Chunks, other: Connection, asks: str, finds: int
) -> None:
    """Two workers settle the last two chunks and each looks whether any is pending, without a lock they meet on."""
    chunk_rows(5)
    import_id = world.start(generate(Spec(rows=10)).data)
    settle = text("UPDATE import_chunks SET status = 'done' WHERE import_id = :id AND chunk_no = :no")
    pending = text("SELECT COUNT(*) FROM import_chunks WHERE import_id = :id AND status = 'pending'")
    engine = create_engine(world.engine.url, poolclass=NullPool, isolation_level="READ COMMITTED")
    with engine.connect() as one:
        pair = (one, other)
        for number, connection in enumerate(pair, start=1):
            connection.execute(settle, {"id": import_id, "no": number})
        if asks == "after its commit":
            for connection in pair:
                connection.commit()
        thinks_it_is_last = [connection.execute(pending, {"id": import_id}).scalar() == 0 for connection in pair]
        for connection in pair:
            connection.commit()
    assert sum(thinks_it_is_last) == finds


def test_the_same_rows_in_two_imports_at_once_are_imported_by_one_of_them(
    world: World, chunk_rows: Chunks, workers: Workers, race_counts: int
) -> None:
    chunk_rows(4)
    made = generate(Spec(rows=24, hot_custodian="Hot, Harriet", seed=2))
    for number in range(FULL_STARTS // race_counts):
        imports = [world.start(made.data, case=f"Case {number}") for _ in range(2)]
        pending = sorted(world.chunk_messages(), key=lambda message: int(message["chunk_no"]))
        while pending:
            done = workers.deliver("import_chunk", pending)
            pending = [message for message, succeeded in zip(pending, done, strict=True) if not succeeded]
        lines = [set(accounts(world, import_id).exhibits) for import_id in imports]
        assert sorted(lines[0] | lines[1]) == [record.first_line for record in made.truth.records]
        for import_id, unchanged in zip(imports, reversed(lines), strict=True):
            assert_accounted(world, import_id, made.truth, unchanged=unchanged)


def test_a_cancelled_import_writes_no_more_rows(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(5)
    import_id = world.start(generate(Spec(rows=10)).data)
    first, second = world.chunk_messages()
    assert call(import_chunk.lambda_handler, first)
    world.query("UPDATE imports SET status = 'cancelled' WHERE id = :id", id=import_id)
    assert call(import_chunk.lambda_handler, second)
    world.give_up(second)
    assert len(accounts(world, import_id).exhibits) == 5
    assert world.query("SELECT status, chunks_left FROM imports") == [("cancelled", 1)]
    assert _completed(world) == {}


def test_an_import_that_is_cancelled_while_a_chunk_is_written_gets_none_of_it(world: World, other: Connection) -> None:
    """The chunk waits at the import's row, with everything written; then it reads that there is no import any more."""
    import_id = world.start(generate(Spec(rows=10)).data)
    (message,) = world.chunk_messages()
    other.execute(text("UPDATE imports SET status = 'cancelled' WHERE id = :id"), {"id": import_id})
    worker = start_alone(world.environment, "import_chunk", message)
    with world.engine.connect() as watching:
        wait_until(lambda: someone_waits(watching), "the chunk's wait for the import's row")
    other.commit()
    assert ended_well(worker)
    for table in ("exhibits", "custodian_exhibits", "import_rejections"):
        assert world.query(f"SELECT COUNT(*) FROM {table}")[0][0] == 0
    assert world.query("SELECT status FROM import_chunks") == [("pending",)]
