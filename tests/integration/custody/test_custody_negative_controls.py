"""What does not keep periods of custody apart under READ COMMITTED.

A check before the insert, a statement that checks for itself, and locks on the range. All clients are held at the point
at which each of them has done what should have kept the others out. Our own operations without what they meet on are
in `test_custody_serial_order.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from tests.integration.custody.racing import at_once
from tests.integration.custody.support import overlaps
from tests.support.cases import Cases
from tests.support.database import barrier, transaction

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
def test_whoever_looks_without_a_common_row_is_overtaken(control: Control, counting: Cases) -> None:
    meeting = barrier(CLIENTS)

    def record(values: Values, on: Engine) -> None:
        with transaction(on) as opened:
            control(opened, values, meeting)

    hours = (timedelta(hours=1 + client / 4) for client in range(CLIENTS))
    wants: list[Values] = [{"device": 1, "begin": NOON - each, "end": NOON + each} for each in hours]
    with counting.database.environments(CLIENTS) as engines:
        assert set(at_once(engines, *(partial(record, values) for values in wants))) == {None}
    assert len(overlaps(counting.database)) == CLIENTS - 1
