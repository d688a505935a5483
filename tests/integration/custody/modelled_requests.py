"""The application, with the requests of `custody_model.py`, and its answers in the model's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Engine

from core.contracts.custody import CustodyPeriod, NewTransfer, PeriodPatch
from core.custody import PeriodConflict, to_open_end
from core.errors import (
    FinalConflictError,
    InvalidInputError,
    NotFoundError,
    OverlapError,
    StaleVersionError,
    WrongStateError,
)
from shell.custody import commands
from tests.integration.custody.custody_model import Add, Change, Name, Outcome, Period, Remove, Request, Transfer
from tests.integration.custody.custody_values import CALLER, DAY, at, periods, requested_period
from tests.support.database.counted_database import replayed
from tests.support.exhibits.stored_cases import Cases

UNKNOWN_ID = 2**40
TABLES = ("custody_changes", "custody_periods", "devices")
COLUMNS = "device_id, begin_at, end_at, custodian_id, note, version"
NUMBERED = """
    SELECT period.id, number, begin_at, end_at, note, period.version
    FROM custody_periods AS period JOIN devices ON devices.id = device_id
"""
Answered = Sequence[CustodyPeriod] | Exception


class Asking:
    """The application, with the model's requests; its answers and its rows in the model's words."""

    def __init__(self, cases: Cases) -> None:
        self._database, self._ids, self._changes = cases.database, dict[Name, int](), list[int]()
        for table in TABLES:
            self._database.query(f"DELETE FROM {table}")

    def ask(self, on: Engine, request: Request) -> Answered:
        """What the application answers, or how it refuses."""
        try:
            answered = self._done(on, request)
        except (FinalConflictError, InvalidInputError, ValidationError) as refusal:
            return refusal
        new = answered[1:] if isinstance(request, Transfer) else answered if isinstance(request, Add) else []
        self._ids.update({(request.label, place): each.id for place, each in enumerate(new)})
        self._changes += [each.id for each in answered]
        return answered

    def said(self, answered: Answered) -> Outcome:
        """The same in the model's words; everything that it speaks of must have been in an answer."""
        match answered:
            case OverlapError():
                conflicts = [self._conflict(each) for each in answered.conflicts]
                assert len(set(conflicts)) == len(conflicts), "a conflict is reported twice"
                return Outcome("overlap", frozenset(conflicts))
            case StaleVersionError():
                return Outcome("stale", answered.current_version)
            case WrongStateError():
                return Outcome("wrong_state")
            case NotFoundError():
                return Outcome("not_found")
            case Exception():
                return Outcome("invalid")
        return Outcome("ok", tuple(self._period(*_fields(each)) for each in answered))

    def recorded(self) -> frozenset[Period]:
        """What the table holds: the rows to which the record of changes leads, which holds what was answered alone."""
        rows = self._database.query(f"SELECT id, {COLUMNS} FROM custody_periods")
        changes = self._database.query(f"SELECT action, period_id, {COLUMNS} FROM custody_changes ORDER BY id")
        assert _replayed(changes) == {row.id: tuple(row)[1:] for row in rows}
        assert sorted(change.period_id for change in changes) == sorted(self._changes)
        return frozenset(self._period(*row) for row in self._database.query(NUMBERED))

    def _done(self, on: Engine, request: Request) -> Sequence[CustodyPeriod]:
        match request:
            case Add():
                return replayed(on, commands.add_periods, CALLER, periods(*_elements(request))).items
            case Change():
                revision = PeriodPatch.model_validate(_written(request.values))
                changed = self._id(request.name), request.versions, revision
                return [replayed(on, commands.patch_period, CALLER, *changed)]
            case Remove():
                return [replayed(on, commands.remove_period, CALLER, self._id(request.name), request.versions)]
            case Transfer():
                done = replayed(on, commands.transfer, CALLER, NewTransfer.model_validate(self._transfer(request)))
                return [done.ended, done.begun]

    def _transfer(self, request: Transfer) -> dict[str, Any]:
        source = None if request.source is None else self._id(request.source)
        hours = _written({"at": request.at, "end": request.end})
        return {"deviceId": request.device, "custodianId": None, "note": request.note, "fromPeriodId": source} | hours

    def _id(self, name: Name) -> int:
        return self._ids.get(name, UNKNOWN_ID)

    def _name(self, period_id: int) -> Name:
        names = [name for name, known in self._ids.items() if known == period_id]
        assert len(names) == 1, "no answer had that period, or two had the same"
        return names[0]

    def _period(self, period_id: int, device: int, begin: datetime, end: datetime | None, *rest: Any) -> Period:
        return Period(self._name(period_id), device, _hour(begin), _end(end), *rest)

    def _conflict(self, conflict: PeriodConflict) -> tuple[Any, ...]:
        element, (other_id, device, begin, end), is_recorded = conflict
        if not is_recorded:
            return tuple(sorted((element, other_id)))
        return (element, self._name(other_id), device, _hour(begin), _end(end))


def _elements(request: Add) -> Iterator[dict[str, Any]]:
    for each in request.elements:
        yield requested_period(each.device, each.begin, each.end, note=each.note)


def _written(values: dict[str, Any]) -> dict[str, Any]:
    return {name: at(value) if isinstance(value, int) else value for name, value in values.items()}


def _fields(period: CustodyPeriod) -> tuple[Any, ...]:
    return period.id, period.device_id, period.begin, period.end, period.note, period.version


def _hour(timestamp: datetime) -> int:
    hours, rest = divmod(timestamp - DAY.replace(tzinfo=None), timedelta(hours=1))
    assert not rest, "no request had minutes"
    return hours


def _end(timestamp: datetime | None) -> int | None:
    return None if timestamp is None or to_open_end(timestamp) is None else _hour(timestamp)


def _replayed(changes: Iterable[Any]) -> dict[int, tuple[Any, ...]]:
    table: dict[int, tuple[Any, ...]] = {}
    for action, period_id, *left in changes:
        before = table.pop(period_id, None)
        assert (before is None) == (action == "added"), "added twice, or changed before that"
        assert left[-1] == 1 + (before[-1] if before else 0), "a version is missing"
        if action != "removed":
            table[period_id] = tuple(left)
    return table
