"""Publishers that are killed at any point, producers that commit late or never, and calls that are taken in part."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from core.events import Event
from shell.outbox.writer import append_events
from tests.support.database import Database, together, transaction
from tests.support.publishers import TABLE, publishers, until_all_is_published

PUBLISHERS, PRODUCERS, EVENTS, AGGREGATES = 4, 2, 10_000, 300
WAITING = "SELECT COUNT(*) FROM outbox_events WHERE published IN (0, 3)"
OVER = "UPDATE outbox_events SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE id = :id"


@dataclass
class Producer:
    """Adds events in small transactions, of which some commit after later ones and some never."""

    numbers: Iterator[int]
    random: random.Random
    committed: set[int] = field(default_factory=set)
    rolled_back: set[int] = field(default_factory=set)

    def work(self, at: Engine, events: int) -> None:
        """Until so many events are committed."""
        while len(self.committed) < events:
            with Session(at) as slow:
                late = self._append(slow)
                for _ in range(self.random.randrange(4)):
                    with transaction(at) as quick:
                        added = self._append(quick)
                    self.committed |= added
                self._end(slow, late)

    def _end(self, slow: Session, late: set[int]) -> None:
        if self.random.random() < 0.4:
            slow.rollback()
            self.rolled_back |= late
        else:
            slow.commit()
            self.committed |= late

    def _append(self, caller: Session) -> set[int]:
        numbers = {next(self.numbers) for _ in range(self.random.randint(1, 6))}
        append_events(caller, [self._event(number) for number in sorted(numbers)])
        return numbers

    def _event(self, number: int) -> Event:
        # Some aggregates have many events, most have few.
        aggregate = int(AGGREGATES * self.random.random() ** 2)
        return Event("thing.happened", "thing", str(aggregate), {"number": number, "aggregate": aggregate})


def time_passes(database: Database) -> None:
    """Whatever is leased or pauses is free, as after a minute: also what a living publisher believes to hold."""
    held = database.query("SELECT id FROM outbox_events WHERE published = 3 AND lease_until >= NOW(6)")
    for row in held:
        database.query(OVER, id=row.id)


@pytest.mark.slow
def test_nothing_is_lost_or_invented_and_no_aggregate_is_out_of_order(database: Database, race_counts: int) -> None:
    database.query(TABLE)
    database.query("DELETE FROM toy_publications")
    each = EVENTS // race_counts // PRODUCERS
    producers = [Producer(iter(range(n, 10**9, PRODUCERS)), random.Random(n)) for n in range(PRODUCERS)]
    with (
        # Of fewer events more publishers are killed, or by chance none between publishing and recording it.
        publishers(dict(os.environ), PUBLISHERS, once_in=150 if race_counts == 1 else 50, seed=7) as at_work,
        database.environments(PRODUCERS) as engines,
    ):
        together(*(lambda p=p, at=at: p.work(at, each) for p, at in zip(producers, engines, strict=True)))
        until_all_is_published(at_work, lambda: database.scalar(WAITING), lambda: time_passes(database))
    committed = set[int]().union(*(producer.committed for producer in producers))
    taken = database.query("SELECT * FROM toy_publications ORDER BY id")
    repeated = len(taken) - len({row.number for row in taken})
    print(
        f"{len(committed)} events, {len(taken)} publications, {repeated} repeated, {at_work.deaths} publishers killed"
    )
    assert {row.number for row in taken} == committed
    assert all(row.was_committed for row in taken)
    assert at_work.deaths >= 30 // race_counts
    assert repeated > 0
    firsts = {row.event_id: row for row in reversed(taken)}
    assert {(row.event_id, row.sequence) for row in taken} == {(row.event_id, row.sequence) for row in firsts.values()}
    last: dict[int, int] = {}
    for row in sorted(firsts.values(), key=lambda row: row.id):
        assert last.get(row.aggregate, 0) < row.sequence, f"aggregate {row.aggregate}"
        last[row.aggregate] = row.sequence
    assert sum(len(producer.rolled_back) for producer in producers) > 0
