"""Clients who record, change, remove and transfer custody at once: one wins, and the others get the conflict.

Under both ways of locking, and with clients that go different ones. The negative controls at the end do not keep
periods apart under READ COMMITTED: a check before the insert, a statement that checks for itself, and locks on the
range. Our own operations without what they meet on are in `test_serial_order.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.orm import Session

from core.contracts.custody import CustodyPeriod, NewTransfer, PeriodPatch
from core.custody import Span, to_stored_end
from core.errors import NotFoundError, OverlapError, StaleVersionError, TransactionConflictError, WrongStateError
from shell.custody import device_locks
from shell.custody.commands import add_periods, patch_period, remove_period, transfer
from shell.settings import settings
from tests.integration.custody.custody_values import CALLER, WAYS, add, at, overlaps, periods, requested_period
from tests.integration.custody.meeting_clients import Request, at_once, clients, going, overtaking
from tests.support.database.counted_database import PATIENCE_S, Database, barrier, outcome, replayed, transaction
from tests.support.exhibits.stored_cases import Cases


@contextmanager
def held(cases: Cases, number: int) -> Iterator[None]:
    """While a transaction holds the row of a device; raises at once where another one does."""
    device = cases.database.scalar("SELECT id FROM devices WHERE number = :n", n=number)
    lock = text("SELECT id FROM devices FORCE INDEX (PRIMARY) WHERE id = :id FOR UPDATE NOWAIT")
    with cases.database.environments(1) as (holder,), transaction(holder) as opened:
        opened.execute(lock, {"id": device})
        yield


def test_recording_does_not_wait_for_another_device(way: str, counting: Cases) -> None:
    add(requested_period(1, 9, 10), requested_period(2, 9, 10))
    with held(counting, 1), counting.database.environments(1) as (client,):
        event.listen(client, "begin", lambda begun: begun.exec_driver_sql("SET SESSION innodb_lock_wait_timeout = 1"))
        assert replayed(client, add_periods, CALLER, periods(requested_period(2, 10, 11))).items, way


def test_devices_are_locked_in_the_order_of_their_numbers(way: str, counting: Cases) -> None:
    """A client that waits for the first one holds none of the others, so that no two wait for each other."""
    add(requested_period(2, 9, 10), requested_period(1, 9, 10))
    elements = periods(requested_period(2, 10, 11), requested_period(1, 10, 11))
    with ThreadPoolExecutor(1) as pool, counting.database.environments(1) as (client,):
        with held(counting, 1):
            waiting = pool.submit(replayed, client, add_periods, CALLER, elements)
            counting.database.until_waiting(1)
            with held(counting, 2):
                pass
        assert len(waiting.result(PATIENCE_S).items) == 2


def recording(device: int, begin: float, end: float | None) -> Request:
    elements = periods(requested_period(device, begin, end))
    return lambda on: replayed(on, add_periods, CALLER, elements).items[0]


def changing(period: CustodyPeriod, **change: str) -> Request:
    versions, revision = frozenset({period.version}), PeriodPatch.model_validate(change)
    return lambda on: replayed(on, patch_period, CALLER, period.id, versions, revision)


def removing(period: CustodyPeriod) -> Request:
    return lambda on: replayed(on, remove_period, CALLER, period.id, frozenset({period.version}))


def handing_on(held: CustodyPeriod, hour: float, end: float | None) -> Request:
    until = None if end is None else at(end)
    named = {"deviceId": held.device_id, "fromPeriodId": held.id, "custodianId": None}
    body = NewTransfer.model_validate({**named, "at": at(hour), "end": until})
    return lambda on: replayed(on, transfer, CALLER, body).begun


Pair = Callable[[CustodyPeriod, CustodyPeriod], list[Request]]
# Two requests for a device that is held from 9 to 12 and from 13 to 14, and what the second one is refused with.
PAIRS: dict[str, tuple[Pair, type[Exception]]] = {
    "the same hour": (lambda a, _: [recording(a.device_id, 15, 17), recording(a.device_id, 16, 18)], OverlapError),
    "one gap": (lambda a, b: [changing(a, end=at(12.75)), changing(b, begin=at(12.5))], OverlapError),
    "one version": (lambda a, _: [changing(a, end=at(12.5)), changing(a, note="Sealed")], StaleVersionError),
    "removed": (lambda a, _: [removing(a), changing(a, note="Sealed")], NotFoundError),
    "one timestamp": (lambda a, _: [handing_on(a, 10, 12)] * 2, WrongStateError),
    "what the first ended": (lambda a, _: [handing_on(a, hour, 12) for hour in (10, 11)], WrongStateError),
    "what the first began": (lambda a, _: [handing_on(a, hour, 12) for hour in (11, 10)], OverlapError),
    "recorded": (lambda a, b: [recording(a.device_id, 15, None), handing_on(b, 13.5, None)], OverlapError),
    "handed on": (lambda a, b: [handing_on(b, 13.5, None), recording(a.device_id, 15, None)], OverlapError),
}


@pytest.mark.parametrize("first_way", WAYS)
@pytest.mark.parametrize("late_way", WAYS)
def test_of_two_at_once_one_wins_and_the_other_gets_the_conflict(
    first_way: str, late_way: str, counting: Cases
) -> None:
    with clients(counting.database, 2) as engines:
        for device, (name, (pair, refusal)) in enumerate(PAIRS.items(), 1):
            first, late = pair(*add(requested_period(device, 9, 12), requested_period(device, 13, 14)).items)
            won, lost = overtaking(counting.database, engines, going(first_way, first), going(late_way, late))
            assert type(lost) is refusal, (name, lost)
            assert_names(lost, won)
    assert overlaps(counting.database) == []


def assert_names(lost: Exception, won: CustodyPeriod) -> None:
    """The one who lost gets the winner's period and nothing else, or of its version."""
    if isinstance(lost, OverlapError):
        theirs = Span(won.id, won.device_id, won.begin, to_stored_end(won.end))
        assert [(each.element, each.other, each.is_recorded) for each in lost.conflicts] == [(0, theirs, True)]
    if isinstance(lost, StaleVersionError):
        assert lost.current_version == won.version == 2


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
    """An optimistic client of a device that there is, and a rival who is always faster."""
    monkeypatch.setattr(device_locks, "settings", lambda: replace(settings(), custody_locking="optimistic"))
    add(requested_period(1, 9, 10))
    with counting.database.environments(1) as (client,):
        yield client, Rival(counting.database, client)


def test_who_was_outrun_twice_locks_and_succeeds(counting: Cases, outrun: tuple[Engine, Rival]) -> None:
    client, rival = outrun
    assert recording(1, 15, 17)(client).version == 1
    assert rival.was_first == [True, True, False]
    assert counting.database.scalar("SELECT COUNT(*) FROM custody_periods") == 2


def test_who_never_locks_is_outrun_until_he_gives_up(
    counting: Cases, outrun: tuple[Engine, Rival], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, rival = outrun
    monkeypatch.setattr(device_locks, "OPTIMISTIC_ATTEMPTS", 99)
    with pytest.raises(TransactionConflictError):
        recording(1, 15, 17)(client)
    assert rival.was_first == [True, True, True]
    assert counting.database.scalar("SELECT COUNT(*) FROM custody_periods") == 1


CLIENTS, NOON = 8, datetime(2026, 11, 21, 12)
_IN_THE_WAY = "SELECT id FROM custody_periods WHERE device_id = :device AND end_at > :begin AND begin_at < :end"
_INSERT = "INSERT INTO custody_periods (device_id, begin_at, end_at) SELECT :device, :begin, :end FROM DUAL"

Values = dict[str, int | datetime]
Control = Callable[[Session, Values, threading.Barrier], object]


def check_then_insert(opened: Session, values: Values, checked: threading.Barrier, locking: str = "") -> None:
    in_the_way = opened.execute(text(_IN_THE_WAY + locking), values).all()
    checked.wait()
    if not in_the_way:
        opened.execute(text(_INSERT), values)


def lock_the_range_then_insert(opened: Session, values: Values, locked: threading.Barrier) -> None:
    """All hold their locks on the empty range before any of them inserts."""
    check_then_insert(opened, values, locked, " FOR UPDATE")


def insert_where_not_exists(opened: Session, values: Values, inserted: threading.Barrier) -> None:
    """All have inserted before any of them commits."""
    opened.execute(text(f"{_INSERT} WHERE NOT EXISTS ({_IN_THE_WAY})"), values)
    inserted.wait()


@pytest.mark.parametrize("control", [check_then_insert, lock_the_range_then_insert, insert_where_not_exists])
def test_a_check_without_a_common_row_is_overtaken(control: Control, counting: Cases) -> None:
    meeting = barrier(CLIENTS)

    def record(values: Values, on: Engine) -> None:
        with transaction(on) as opened:
            control(opened, values, meeting)

    hours = (timedelta(hours=1 + client / 4) for client in range(CLIENTS))
    wants: list[Values] = [{"device": 1, "begin": NOON - each, "end": NOON + each} for each in hours]
    with counting.database.environments(CLIENTS) as engines:
        assert set(at_once(engines, *(partial(record, values) for values in wants))) == {None}
    assert len(overlaps(counting.database)) == CLIENTS - 1
