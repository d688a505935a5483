"""Whatever is asked, one request after the other: the database answers as a simple model does, and holds what it holds.

Refusals are compared to the last conflict, answers to the last version. The record of changes is complete: replayed
from nothing it gives the table. Each of several mistakes that the application could make is found likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pydantic import ValidationError
from sqlalchemy import Engine

from core.contracts.custody import CustodyPeriod, NewTransfer, PeriodPatch
from core.custody import PeriodConflict, find_conflicts_with, to_open_end
from core.errors import (
    FinalConflictError,
    InvalidInputError,
    NotFoundError,
    OverlapError,
    StaleVersionError,
    WrongStateError,
)
from shell.custody import commands, period_writer
from tests.integration.custody.oracle import (
    NOTHING,
    Add,
    Change,
    Element,
    Name,
    Outcome,
    Period,
    Remove,
    Request,
    Transfer,
    answer,
    scripts,
)
from tests.integration.custody.support import CALLER, DAY, at, periods, wanted
from tests.support.cases import Cases
from tests.support.database import replayed

# A third of what the profile has: each example is a dozen transactions.
SETTINGS = settings(
    max_examples=settings().max_examples // 3, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
UNKNOWN_ID = 2**40
TABLES = ("custody_changes", "custody_periods", "devices")
COLUMNS = "device_id, begin_at, end_at, custodian_id, note, version"
NUMBERED = """
    SELECT period.id, number, begin_at, end_at, note, period.version
    FROM custody_periods AS period JOIN devices ON devices.id = device_id
"""
Answered = Sequence[CustodyPeriod] | Exception
AT_1, AT_2 = frozenset({1}), frozenset({2})
EVERY_ANSWER: list[tuple[Request, str]] = [
    (Add("a", [Element(1, 0, 4, "a"), Element(1, 4, None, None), Element(2, 0, 2, None)]), "ok"),
    (Add("b", [Element(1, 3, 5, None), Element(1, 4, 6, None)]), "overlap"),
    (Add("p", [Element(2, 5, 7, None), Element(2, 6, 8, None)]), "overlap"),
    (Add("c", [Element(2, 3, 3, None)]), "invalid"),
    (Change("d", ("a", 0), AT_1, {"begin": 1, "note": None}), "ok"),
    (Change("e", ("a", 0), AT_1, {"note": "b"}), "stale"),
    (Change("f", ("a", 0), AT_2, {"end": None}), "overlap"),
    (Change("g", ("a", 0), AT_2, {"end": 1}), "invalid"),
    (Change("h", ("b", 0), AT_1, {"note": "b"}), "not_found"),
    (Transfer("i", 1, 2, None, None, None), "overlap"),
    (Transfer("j", 1, 6, None, "b", ("a", 1)), "ok"),
    (Transfer("k", 1, 3, 3, None, None), "invalid"),
    (Transfer("l", 2, 0, 1, None, None), "wrong_state"),
    (Remove("m", ("a", 2), AT_2), "stale"),
    (Remove("n", ("a", 2), AT_1 | AT_2), "ok"),
    (Remove("o", ("a", 2), AT_1), "not_found"),
]


class Clients:
    """Clients who ask the application what the model is asked, and say in the model's words what it answered."""

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
        """The same in the model's words; everything that it speaks of must have been answered to somebody."""
        match answered:
            case OverlapError():
                conflicts = [self._conflict(each) for each in answered.conflicts]
                assert len(set(conflicts)) == len(conflicts), "a conflict is told twice"
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
        assert len(names) == 1, "nobody was told of that period, or two were of the same"
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
        yield wanted(each.device, each.begin, each.end, note=each.note)


def _written(values: dict[str, Any]) -> dict[str, Any]:
    return {name: at(value) if isinstance(value, int) else value for name, value in values.items()}


def _fields(period: CustodyPeriod) -> tuple[Any, ...]:
    return period.id, period.device_id, period.begin, period.end, period.note, period.version


def _hour(moment: datetime) -> int:
    hours, rest = divmod(moment - DAY.replace(tzinfo=None), timedelta(hours=1))
    assert not rest, "nobody spoke of minutes"
    return hours


def _end(moment: datetime | None) -> int | None:
    return None if moment is None or to_open_end(moment) is None else _hour(moment)


def _replayed(changes: Iterable[Any]) -> dict[int, tuple[Any, ...]]:
    table: dict[int, tuple[Any, ...]] = {}
    for action, period_id, *left in changes:
        before = table.pop(period_id, None)
        assert (before is None) == (action == "added"), "added twice, or changed before that"
        assert left[-1] == 1 + (before[-1] if before else 0), "a version is missing"
        if action != "removed":
            table[period_id] = tuple(left)
    return table


@pytest.fixture
def on(cases: Cases) -> Iterator[Engine]:
    """An environment, beside which the application's own connection is free: refusals need a second one."""
    with cases.database.environments(1) as (made,):
        yield made


def assert_answered_alike(on: Engine, cases: Cases, script: Iterable[Request]) -> None:
    """The application answers and records what the model does."""
    clients, state = Clients(cases), NOTHING
    for request in script:
        state, expected = answer(state, request)
        assert clients.said(clients.ask(on, request)) == expected, request
    assert clients.recorded() == frozenset(state)


def test_the_model_gives_every_answer() -> None:
    state = NOTHING
    for request, kind in EVERY_ANSWER:
        state, outcome = answer(state, request)
        assert outcome.kind == kind, request


def test_every_answer_is_that_of_the_model(way: str, cases: Cases, on: Engine) -> None:
    assert_answered_alike(on, cases, (request for request, _ in EVERY_ANSWER))


@pytest.mark.slow
@SETTINGS
@given(script=scripts(12, 12))
def test_one_after_the_other_is_answered_and_recorded_as_by_the_model(
    way: str, cases: Cases, on: Engine, script: list[Request]
) -> None:
    assert_answered_alike(on, cases, script)


def nobody_looks(patch: pytest.MonkeyPatch) -> None:
    """What overlaps is written."""
    patch.setattr(commands, "check_overlaps", lambda *_, **__: None)
    patch.setattr(period_writer, "check_overlaps", lambda *_, **__: None)
    patch.setattr(period_writer, "_WHERE_NO_OVERLAP", "")


def elements_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    """Only what is recorded counts."""
    patch.setattr(period_writer, "find_conflicts_within", lambda _wanted: iter(()))


def one_conflict_is_told(patch: pytest.MonkeyPatch) -> None:
    """The first, and no others."""
    patch.setattr(period_writer, "find_conflicts_with", lambda *spans: islice(find_conflicts_with(*spans), 1))


def versions_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    """Whatever the client saw."""
    compared, all_of_them = commands._load_at_version, frozenset(range(100))
    patch.setattr(commands, "_load_at_version", lambda *named: compared(named[0], named[1], named[2], all_of_them))


def a_period_hinders_itself(patch: pytest.MonkeyPatch) -> None:
    """When it is changed."""
    looked = period_writer.check_overlaps
    patch.setattr(commands, "check_overlaps", lambda transaction, rows, excluded_id: looked(transaction, rows))


def changes_leave_no_record(patch: pytest.MonkeyPatch) -> None:
    """Additions alone do."""
    patch.setattr(commands, "record_changes", lambda *_: None)


MISTAKES = [
    *(("optimistic", each) for each in (nobody_looks, elements_are_not_compared)),
    *(("pessimistic", each) for each in (nobody_looks, one_conflict_is_told, versions_are_not_compared)),
    *(("pessimistic", each) for each in (a_period_hinders_itself, changes_leave_no_record)),
]


@pytest.mark.parametrize(
    ("way", "mistake"), MISTAKES, indirect=["way"], ids=lambda each: getattr(each, "__name__", each)
)
def test_a_mistake_makes_a_difference(
    way: str, cases: Cases, on: Engine, mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        assert_answered_alike(on, cases, (request for request, _ in EVERY_ANSWER))
