"""Clients who record, change, remove and hand on custody at once: one wins, and the others are told by what.

Under both ways of locking, and with clients that go different ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from core.contracts.custody import CustodyPeriod, NewTransfer, PeriodPatch
from core.custody import Span, to_stored_end
from core.errors import OverlapError, StaleVersionError, TransactionConflictError, WrongStateError
from shell.custody import device_locks
from shell.custody.commands import add_periods, patch_period, transfer
from shell.settings import settings
from tests.integration.custody.racing import (
    CLIENTS,
    GOING,
    Mix,
    Race,
    Request,
    assert_answers_are_true,
    assert_every_change_is_recorded,
    at_once,
    clients,
    recorded_rows,
    won_and_lost,
)
from tests.integration.custody.support import CALLER, add, at, overlaps, periods, wanted
from tests.support.cases import Cases
from tests.support.database import Database, outcome, replayed, transaction

DEVICES, ROUNDS = 400, 100
Pair = Callable[..., tuple[Any, Exception]]


def test_whoever_wins_nothing_overlaps(way: str, counting: Cases, race_counts: int) -> None:
    race = Race(counting.database)
    deadlocks = race.run(DEVICES // race_counts)
    print(f"{way}: {race.told()}, {deadlocks} deadlocks")
    assert overlaps(counting.database) == []
    assert_answers_are_true(race)
    assert deadlocks == 0 or way == "optimistic"


@pytest.fixture
def different_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other client of a race locks, and those between compare versions."""
    monkeypatch.setattr(device_locks, "settings", lambda: replace(settings(), custody_locking=GOING.get()))


@pytest.mark.usefixtures("different_ways")
def test_nothing_overlaps_where_clients_go_different_ways(counting: Cases, race_counts: int) -> None:
    race = Race(counting.database)
    deadlocks = race.run(DEVICES // race_counts)
    print(f"mixed: {race.told()}, {deadlocks} deadlocks")
    assert overlaps(counting.database) == []
    assert_answers_are_true(race)


def test_whoever_records_waits_for_nobody_on_another_device(way: str, counting: Cases) -> None:
    add(wanted(1, 9, 10), wanted(2, 9, 10))
    mine = counting.database.scalar("SELECT id FROM devices WHERE number = 1")
    with counting.database.environments(2) as (one, two), transaction(one) as holder:
        holder.execute(text("SELECT id FROM devices FORCE INDEX (PRIMARY) WHERE id = :id FOR UPDATE"), {"id": mine})
        event.listen(two, "begin", lambda begun: begun.exec_driver_sql("SET SESSION innodb_lock_wait_timeout = 1"))
        assert replayed(two, add_periods, CALLER, periods(wanted(2, 10, 11))).items, way


def recording(device: int, begin: float, end: float | None) -> Request:
    elements = periods(wanted(device, begin, end))
    return lambda on: replayed(on, add_periods, CALLER, elements).items[0]


def changing(period: CustodyPeriod, **change: str) -> Request:
    versions, revision = frozenset({period.version}), PeriodPatch.model_validate(change)
    return lambda on: replayed(on, patch_period, CALLER, period.id, versions, revision)


def handing_on(device: int, hour: float, **more: Any) -> Request:
    body = NewTransfer.model_validate({"deviceId": device, "at": at(hour), "custodianId": None, **more})
    return lambda on: replayed(on, transfer, CALLER, body).begun


def assert_names(lost: Exception, won: CustodyPeriod) -> None:
    """The one who lost is told of the winner's period, and of nothing else."""
    assert isinstance(lost, OverlapError), lost
    theirs = Span(won.id, won.device_id, won.begin, to_stored_end(won.end))
    assert [(each.element, each.other, each.is_recorded) for each in lost.conflicts] == [(0, theirs, True)]


@pytest.fixture
def pair(way: str, counting: Cases) -> Iterator[Pair]:
    """Two clients at once: what the one who won got, and the other's error."""
    with clients(counting.database, 2) as engines:
        yield lambda *requests: won_and_lost(at_once(engines, *requests))
    assert overlaps(counting.database) == [], way


@pytest.fixture
def devices(race_counts: int) -> range:
    """One for each round."""
    return range(1, ROUNDS // race_counts + 1)


def test_of_two_who_want_the_same_hour_one_is_told_of_the_other(pair: Pair, devices: range) -> None:
    for device in devices:
        won, lost = pair(recording(device, 15, 17), recording(device, 16, 18))
        assert_names(lost, won)


def test_of_two_who_extend_periods_into_one_gap_one_wins(pair: Pair, devices: range) -> None:
    before = add(*(wanted(device, 9, 10) for device in devices)).items
    after = add(*(wanted(device, 13, 14) for device in devices)).items
    for earlier, later in zip(before, after, strict=True):
        won, lost = pair(changing(earlier, end=at(12)), changing(later, begin=at(11)))
        assert_names(lost, won)


def test_of_two_changes_of_one_version_one_is_stale(pair: Pair, devices: range) -> None:
    for period in add(*(wanted(device, 9, 10) for device in devices)).items:
        won, lost = pair(changing(period, end=at(12)), changing(period, note="Sealed"))
        assert isinstance(lost, StaleVersionError), lost
        assert lost.current_version == won.version == 2


def test_of_two_who_hand_on_at_one_moment_one_comes_too_late(pair: Pair, devices: range) -> None:
    for held in add(*(wanted(device, 9, None) for device in devices)).items:
        lost = pair(*[handing_on(held.device_id, 10)] * 2)[1]
        assert isinstance(lost, WrongStateError), lost


def test_of_two_who_hand_on_what_one_period_holds_one_wins(pair: Pair, devices: range) -> None:
    """At 10:00 or at 11:00: after the first the period is over at 11:00, after the second another one is in the way."""
    for held in add(*(wanted(device, 9, None) for device in devices)).items:
        won, lost = pair(*(handing_on(held.device_id, hour, fromPeriodId=held.id) for hour in (10, 11)))
        if won.begin.hour == 10:
            assert isinstance(lost, WrongStateError), lost
        else:
            assert_names(lost, won)


def test_of_who_records_and_who_hands_on_one_has_the_future(pair: Pair, devices: range) -> None:
    add(*(wanted(device, 9, 12) for device in devices))
    for device in devices:
        won, lost = pair(recording(device, 13, None), handing_on(device, 11))
        assert_names(lost, won)


def played(database: Database, rounds: int) -> int:
    """How many deadlocks there were while everything was done at once."""
    mix, chosen, before = Mix(database), Random(7), database.deadlocks()
    with clients(database, CLIENTS) as engines:
        for _ in range(rounds):
            mix.play(engines, chosen)
    deadlocks = database.deadlocks() - before
    print(f"{mix.told()}, {deadlocks} deadlocks")
    assert overlaps(database) == []
    assert_every_change_is_recorded(mix)
    return deadlocks


def test_whatever_is_done_at_once_every_change_is_recorded(way: str, counting: Cases, race_counts: int) -> None:
    deadlocks = played(counting.database, ROUNDS // race_counts)
    assert deadlocks == 0 or way == "optimistic"


@pytest.mark.usefixtures("different_ways")
def test_whatever_is_done_at_once_in_different_ways_is_recorded(counting: Cases, race_counts: int) -> None:
    played(counting.database, ROUNDS // race_counts)


class Rival:
    """Raises the devices' versions whenever a client is about to compare them; `was_first` says where it could."""

    def __init__(self, database: Database, client: Engine) -> None:
        self.was_first: list[bool] = []
        self._database = database
        event.listen(client, "before_cursor_execute", self._before)

    def _before(self, _connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.strip().startswith("UPDATE JSON_TABLE"):
            self.was_first.append(outcome(self._raise)() is None)

    def _raise(self) -> None:
        self._database.query("SELECT id FROM devices FOR UPDATE NOWAIT")
        self._database.query("UPDATE devices SET version = version + 1")


@pytest.fixture
def outrun(counting: Cases, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Engine, Rival]]:
    """An optimistic client of a device that there is, and somebody who is always faster."""
    monkeypatch.setattr(device_locks, "settings", lambda: replace(settings(), custody_locking="optimistic"))
    add(wanted(1, 9, 10))
    with counting.database.environments(1) as (client,):
        yield client, Rival(counting.database, client)


def test_who_was_outrun_twice_locks_and_succeeds(counting: Cases, outrun: tuple[Engine, Rival]) -> None:
    client, rival = outrun
    made = recording(1, 15, 17)(client)
    assert rival.was_first == [True, True, False]
    assert made.id in recorded_rows(counting.database)


def test_who_never_locks_is_outrun_until_he_gives_up(
    counting: Cases, outrun: tuple[Engine, Rival], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, rival = outrun
    monkeypatch.setattr(device_locks, "OPTIMISTIC_ATTEMPTS", 99)
    with pytest.raises(TransactionConflictError):
        recording(1, 15, 17)(client)
    assert rival.was_first == [True, True, True]
    assert len(recorded_rows(counting.database)) == 1
