"""Batches that many append to one destination do not mix, whatever becomes of their lock; without it they do."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from shell.db.retry import attempt_number, retry_on_db_conflict
from shell.db.session import engine, session
from shell.utils.advisory_lock import allocate_positions, exclusive_connection, table_insert_lock
from tests.support.database.counted_database import PATIENCE_S, Database, barrier, together
from tests.support.utils.destination_appends import (
    ROWS,
    STATEMENTS,
    append,
    append_all,
    append_all_without_lock,
    free_position,
    half_way_process,
    holder,
    insert,
    kill_holder,
    lock_of,
    positions,
    runs,
    until_queueing,
)

BATCH = STATEMENTS * ROWS


def test_batches_of_four_who_wait_for_the_lock_stay_whole(database: Database) -> None:
    shares = [[1, 2], [3, 4], [5, 6], [7, 8]]
    with ThreadPoolExecutor(4) as pool:
        with table_insert_lock("volume"):
            waiting = [pool.submit(append_all, "volume", share) for share in shares]
            until_queueing(database, 4)
        for each in waiting:
            each.result(PATIENCE_S)
    ours = lock_of("volume").destination_id
    assert runs(database, "id", ours) == runs(database, "position", ours) == 8
    assert positions(database, ours) == list(range(8 * BATCH))


def test_without_the_lock_batches_mix_and_positions_repeat(database: Database) -> None:
    meeting = barrier(2)
    together(*(partial(append_all_without_lock, 1, share, meeting.wait) for share in ([1, 2], [3, 4])))
    assert runs(database, "id", 1) > 4
    assert len(set(positions(database, 1))) < len(positions(database, 1))


def test_a_batch_that_is_rolled_back_gives_its_positions_back(database: Database) -> None:
    ours = append("volume", 1).destination_id
    with table_insert_lock("volume") as lock, Session(engine()) as transaction:
        insert(transaction, ours, 2, allocate_positions(transaction, lock, ROWS))
        transaction.rollback()
    append("volume", 3)
    ids = [row.id for row in database.query("SELECT id FROM toy_appends ORDER BY id")]
    assert positions(database, ours) == list(range(2 * BATCH))
    assert ids[-1] - ids[0] >= 2 * BATCH + ROWS - 1, "generated ids have the gap that positions have not"


@pytest.mark.parametrize("committed", [True, False])
def test_all_who_make_a_destination_at_once_get_one_id(database: Database, committed: bool) -> None:
    # Of two whose wait ends with a rollback the server makes one the victim of a deadlock.
    name, make = f"new, {committed}", lock_of if committed else retry_on_db_conflict(lock_of)
    with database.environments(1) as (engine_of_first,), Session(engine_of_first) as first:
        first.execute(text("INSERT INTO insert_destinations (name, advisory_id) VALUES (:name, 7)"), {"name": name})

        def end() -> None:
            database.until_waiting(2)
            first.commit() if committed else first.rollback()

        with ThreadPoolExecutor(3) as pool:
            ended, *made = pool.submit(end), *(pool.submit(make, name) for _ in range(2))
            ended.result(PATIENCE_S)
            one, two = (each.result(PATIENCE_S) for each in made)
    assert (one.destination_id, one.advisory_id) == (two.destination_id, two.advisory_id)
    assert {one.fencing_token, two.fencing_token} == {1, 2}
    assert database.scalar("SELECT COUNT(*) FROM insert_destinations") == 1


def test_a_killed_holder_frees_the_lock_and_leaves_nothing(database: Database) -> None:
    process = half_way_process("volume", 1)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join(PATIENCE_S)
    lock = append("volume", 2)
    assert runs(database, "id", lock.destination_id) == 1
    assert positions(database, lock.destination_id) == list(range(BATCH))


def test_the_lock_is_held_until_the_commit_is_done_and_another_destination_is_appended_to_meanwhile(
    database: Database, other: ThreadPoolExecutor
) -> None:
    with table_insert_lock("a") as lock:
        with session() as transaction:
            insert(transaction, lock.destination_id, 1, allocate_positions(transaction, lock, ROWS))
            theirs = other.submit(append, "b", 2).result(PATIENCE_S)
            assert positions(database, theirs.destination_id) == list(range(BATCH)), "b is committed while a is held"
        assert positions(database, lock.destination_id) == list(range(ROWS))
        assert holder(database, lock) is not None
    assert holder(database, lock) is None


def test_a_lock_that_is_released_before_the_commit_gives_positions_twice(database: Database) -> None:
    """The negative control."""
    with Session(engine()) as one, Session(engine()) as two:
        for batch, transaction in enumerate((one, two), 1):
            with exclusive_connection("naive", 0):
                insert(transaction, 1, batch, free_position(transaction, 1))
        one.commit()
        two.commit()
    assert positions(database, 1) == sorted([*range(ROWS), *range(ROWS)])


def test_a_release_before_the_commit_is_stopped(database: Database) -> None:
    wrong_way_round = pytest.raises(RuntimeError, match="before COMMIT")
    with wrong_way_round, session() as transaction, table_insert_lock("volume") as lock:
        insert(transaction, lock.destination_id, 1, allocate_positions(transaction, lock, ROWS))
    assert positions(database, lock.destination_id) == []


def test_a_caller_that_lost_the_lock_to_another_repeats_its_unit(database: Database, other: ThreadPoolExecutor) -> None:
    @retry_on_db_conflict
    def unit() -> int:
        with table_insert_lock("volume") as lock, session() as transaction:
            if attempt_number() == 1:
                kill_holder(database, lock)
                other.submit(append, "volume", 2).result(PATIENCE_S)
            first = allocate_positions(transaction, lock, 2 * ROWS)
            insert(transaction, lock.destination_id, 1, first)
            insert(transaction, lock.destination_id, 1, first + ROWS)
            return attempt_number()

    assert unit() == 2
    ours = lock_of("volume").destination_id
    assert runs(database, "id", ours) == runs(database, "position", ours) == 2
    assert positions(database, ours) == list(range(BATCH + 2 * ROWS))


def test_a_caller_that_lost_the_lock_half_way_is_waited_for(database: Database, other: ThreadPoolExecutor) -> None:
    with table_insert_lock("volume") as lock:
        with session() as transaction:
            first = allocate_positions(transaction, lock, 2 * ROWS)
            insert(transaction, lock.destination_id, 1, first)
            kill_holder(database, lock)
            next_one = other.submit(append, "volume", 2)
            database.until_waiting(1)
            assert holder(database, lock) is not None, "the next one has the lock, and waits for the row"
            insert(transaction, lock.destination_id, 1, first + ROWS)
        assert next_one.result(PATIENCE_S).fencing_token == lock.fencing_token + 1
    ours = lock.destination_id
    assert runs(database, "id", ours) == runs(database, "position", ours) == 2


def test_appends_without_positions_mix_when_the_lock_is_lost(database: Database, other: ThreadPoolExecutor) -> None:
    """The negative control: it rests on the lock alone."""
    with table_insert_lock("volume") as lock, session() as transaction:
        ours = lock.destination_id
        insert(transaction, ours, 1, free_position(transaction, ours))
        kill_holder(database, lock)
        other.submit(append, "volume", 2).result(PATIENCE_S)
        insert(transaction, ours, 1, free_position(transaction, ours))
    assert runs(database, "id", ours) == 3
    assert len(set(positions(database, ours))) < len(positions(database, ours))
