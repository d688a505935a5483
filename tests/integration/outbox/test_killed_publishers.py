"""Publishers that are killed at every point, producers that commit late or never, and calls that are taken in part."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import count

import pytest
from sqlalchemy.orm import Session

from core.events import Event
from shell import sns
from shell.outbox.relay import publish_pending
from shell.outbox.writer import append_events
from tests.support.database.counted_database import Database, transaction
from tests.support.outbox.events import later, waiting
from tests.support.outbox.killed_publishers import TABLE, RecordingTopic, is_killed_at


def add(producer: Session, aggregate: str, *numbers: int) -> None:
    given = [{"number": number, "aggregate": aggregate} for number in numbers]
    append_events(producer, [Event("thing.happened", "thing", aggregate, each, "tenant") for each in given])


def publish_the_rest(database: Database) -> None:
    """As often as something waits, each time when all leases and pauses are over."""
    while waiting(database):
        later(database)
        publish_pending()


def assert_in_order(taken: Sequence[tuple[int, int, str]]) -> None:
    """A repeated event has the sequence of its first publication; those rise within an aggregate."""
    firsts: dict[int, tuple[str, int]] = {}
    for event_id, sequence, aggregate in taken:
        assert firsts.setdefault(event_id, (aggregate, sequence)) == (aggregate, sequence)
    last: dict[str, int] = {}
    for aggregate, sequence in firsts.values():
        assert last.get(aggregate, 0) < sequence, aggregate
        last[aggregate] = sequence


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_wherever_a_publisher_is_killed_nothing_is_lost_invented_or_out_of_order(
    database: Database, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    database.query(TABLE)
    database.query("DELETE FROM toy_publications")
    monkeypatch.setattr(sns, "sns", lambda: RecordingTopic(database.admin))
    committed, numbers = set[int](), count()
    for point in count(1, step):
        a, b, late, lost = ([next(numbers) for _ in range(2)] for _ in range(4))
        with database.environments(1) as (at,), Session(at) as slow:
            add(slow, f"a {point}", *late)
            with transaction(at) as quick:
                add(quick, f"a {point}", *a)
                add(quick, f"throttled {point}", *b)
            with Session(at) as never:
                add(never, f"a {point}", *lost)
                killed = is_killed_at(os.environ, point, "throttled")
            slow.commit()
        committed |= {*a, *b, *late}
        publish_the_rest(database)
        if not killed:
            break
    taken = database.query(
        "SELECT event_id, sequence, aggregate, number, was_committed FROM toy_publications ORDER BY id"
    )
    assert point > 30
    assert {row.number for row in taken} == committed
    assert all(row.was_committed for row in taken)
    assert len(taken) > len(committed), "who is killed between the call and the mark has published in vain"
    assert_in_order([tuple(row[:3]) for row in taken])
