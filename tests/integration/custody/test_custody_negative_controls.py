"""What does not keep periods of custody apart under READ COMMITTED, each in a race of the same shape as ours.

A check before the insert, a statement that checks for itself, locks on the range, and our own ops without what they
meet on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from shell.custody import device_locks
from tests.integration.custody.racing import CLIENTS, Race, at_once, clients
from tests.integration.custody.support import overlaps
from tests.support.cases import Cases
from tests.support.database import Database, barrier, transaction

DEVICES = 400
NOON = datetime(2026, 11, 21, 12)
_IN_THE_WAY = "SELECT id FROM custody_periods WHERE device_id = :device AND end_at > :begin AND begin_at < :end"
_INSERT = "INSERT INTO custody_periods (device_id, begin_at, end_at) SELECT :device, :begin, :end FROM DUAL"

Values = dict[str, int | datetime]
Twin = Callable[[Session, Values, threading.Barrier], object]


def check_then_insert(opened: Session, values: Values, checked: threading.Barrier, locking: str = "") -> None:
    in_the_way = opened.execute(text(_IN_THE_WAY + locking), values).all()
    checked.wait()
    if not in_the_way:
        opened.execute(text(_INSERT), values)


def lock_the_range_then_insert(opened: Session, values: Values, locked: threading.Barrier) -> None:
    """All hold their locks on the empty range before any of them inserts."""
    check_then_insert(opened, values, locked, " FOR UPDATE")


def insert_where_not_exists(opened: Session, values: Values, _: threading.Barrier) -> None:
    opened.execute(text(f"{_INSERT} WHERE NOT EXISTS ({_IN_THE_WAY})"), values)


def overlapping(database: Database) -> int:
    """How many devices have periods that overlap."""
    return len({row.device_id for row in overlaps(database)})


def record_at(twin: Twin, values: Values, meeting: threading.Barrier, at: Engine) -> None:
    with transaction(at) as opened:
        twin(opened, values, meeting)


def race(database: Database, twin: Twin, devices: int) -> list[object]:
    """On each device all clients want periods around noon, at once; their answers."""
    meeting, answers = barrier(CLIENTS), list[object]()
    with clients(database, CLIENTS) as engines:
        for device in range(1, devices + 1):
            hours = (timedelta(hours=1 + client / 4) for client in range(CLIENTS))
            wants: list[Values] = [{"device": device, "begin": NOON - each, "end": NOON + each} for each in hours]
            answers += at_once(engines, *(partial(record_at, twin, values, meeting) for values in wants))
    return answers


@pytest.mark.parametrize("twin", [check_then_insert, lock_the_range_then_insert])
def test_whoever_looks_before_he_inserts_is_overtaken_on_every_device(
    twin: Twin, counting: Cases, race_counts: int
) -> None:
    devices = DEVICES // race_counts
    assert set(race(counting.database, twin, devices)) == {None}
    assert overlapping(counting.database) == devices


def test_a_statement_that_looks_for_itself_does_not_see_the_others(counting: Cases, race_counts: int) -> None:
    devices = DEVICES // race_counts
    assert set(race(counting.database, insert_where_not_exists, devices)) == {None}
    print(f"{overlapping(counting.database)} of {devices} devices overlap")
    assert overlapping(counting.database) > 0


def test_our_race_finds_out_devices_that_nobody_meets_on(
    way: str, counting: Cases, race_counts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions are raised and not compared, and devices are read and not locked."""
    naive = str(device_locks._INCREMENT_VERSIONS).partition("WHERE")[0]
    monkeypatch.setattr(device_locks, "_INCREMENT_VERSIONS", text(naive))
    monkeypatch.setattr(device_locks, "_lock_versions", device_locks._read_versions)
    devices = DEVICES // race_counts // 2
    Race(counting.database).run(devices)
    print(f"{way}: {overlapping(counting.database)} of {devices} devices overlap")
    assert overlapping(counting.database) > 0
