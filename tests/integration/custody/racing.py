"""Races for periods of custody, and what has to be true of the answers and of the tables after one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import cycle, pairwise
from random import Random
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.custody import CustodyTransfer, NewPeriod, NewTransfer, PeriodPatch, RecordedCustodyPeriods
from core.custody import PeriodConflict, Span, to_stored_end
from core.errors import NotFoundError, OverlapError, StaleVersionError, WrongStateError
from core.timestamps import format_timestamp
from shell.custody.commands import add_periods, patch_period, remove_period, transfer
from shell.db import connection, retry, session
from tests.integration.custody.support import CALLER, WAYS, at, periods, wanted
from tests.support.database import Database, barrier, outcome, replayed, together

CLIENTS, MOST, NEIGHBOURS, FEW = 8, 10, 5, 3
HALF = timedelta(minutes=15)
# Which way the client at work in this thread would go, for races of those who go different ones.
GOING: ContextVar[str] = ContextVar("going")
Request = Callable[[Engine], Any]
_RECORDED = """
    SELECT period.id, number, begin_at, end_at, custodian_id, note, period.version
    FROM custody_periods AS period JOIN devices ON devices.id = period.device_id
"""
# In the order in which they were made.
_CHANGES = """
    SELECT period_id, number, begin_at, end_at, custodian_id, note, custody_changes.version, action
    FROM custody_changes JOIN devices ON devices.id = device_id ORDER BY custody_changes.id
"""


class Asked(NamedTuple):
    """What one client wanted, and what came of it."""

    wanted: Sequence[NewPeriod]
    answer: RecordedCustodyPeriods | Exception


@contextmanager
def clients(database: Database, count: int) -> Iterator[list[Engine]]:
    """An environment for each client; whoever is outrun comes back after some milliseconds, to meet the others again.

    What a client does aside, in a session of its own, it does on the process's engine, which here has room for all.
    """
    roomy = create_engine(
        database.url, isolation_level="READ COMMITTED", pool_size=count, connect_args=connection.connect_args()
    )
    with database.environments(count) as engines, pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "engine", lambda: roomy)
        patch.setattr(retry, "STALE_DELAY_S", 0.005)
        yield engines
    roomy.dispose()


def at_once(engines: Sequence[Engine], *requests: Request) -> list[Any]:
    """Make the requests at once, each from an environment of its own; what each got, an error too."""
    meeting = barrier(len(requests))

    def ask(on: Engine, request: Request) -> object:
        meeting.wait()
        return request(on)

    return together(*(outcome(partial(ask, *each)) for each in zip(engines, requests, strict=True)))


def won_and_lost(answers: Sequence[Any]) -> tuple[Any, Exception]:
    """The answer of the one of two who got what he wanted, and the other's error."""
    lost = [each for each in answers if isinstance(each, Exception)]
    won = [each for each in answers if not isinstance(each, Exception)]
    assert (len(won), len(lost)) == (1, 1), answers
    return won[0], lost[0]


def array(chosen: Random, devices: Sequence[int], note: str) -> list[NewPeriod]:
    """1 to 10 periods of up to 6 hours in any order: one holds noon of the first device, others are anywhere near."""
    noon = wanted(devices[0], 12 - chosen.randint(1, 12) / 4, 12 + chosen.randint(1, 12) / 4, note=note)
    others = [_anywhere(chosen, devices, note) for _ in range(chosen.randrange(MOST))]
    elements = [noon, *others]
    chosen.shuffle(elements)
    return periods(*elements)


def _anywhere(chosen: Random, devices: Sequence[int], note: str) -> dict[str, Any]:
    begin, is_held = chosen.randrange(96) / 4, chosen.random() < 0.01
    return wanted(chosen.choice(devices), begin, None if is_held else begin + chosen.randint(1, 8) / 4, note=note)


@dataclass
class Race:
    """Clients who record periods of the same devices at once, and everything that they asked and got."""

    database: Database
    asked: list[Asked] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)

    def run(self, devices: int) -> int:
        """For each device, on which all meet at noon, a round; how many deadlocks there were."""
        before, chosen = self.database.deadlocks(), Random(devices)
        numbers = chosen.sample(range(1, devices + 1), devices)
        with clients(self.database, CLIENTS) as engines:
            for place in range(devices):
                near = numbers[place : place + NEIGHBOURS]
                arrays = [array(chosen, near, f"{place} {client}") for client in range(CLIENTS)]
                answers = at_once(engines, *(partial(self._ask, *each) for each in enumerate(arrays)))
                self.asked += map(Asked, arrays, answers)
        return self.database.deadlocks() - before

    def _ask(self, client: int, elements: Sequence[NewPeriod], on: Engine) -> RecordedCustodyPeriods:
        GOING.set(WAYS[client % len(WAYS)])
        return replayed(on, self._attempt, CALLER, elements)

    def _attempt(self, opened: Session, caller: Caller, elements: Sequence[NewPeriod]) -> RecordedCustodyPeriods:
        self.attempts.append(len(elements))
        return add_periods(opened, caller, elements)

    def made(self) -> list[RecordedCustodyPeriods]:
        """What was answered to those who won."""
        return [each.answer for each in self.asked if isinstance(each.answer, RecordedCustodyPeriods)]

    def refused(self) -> list[tuple[Sequence[NewPeriod], OverlapError]]:
        """Who wanted what, and was told what it overlaps."""
        return [(each.wanted, each.answer) for each in self.asked if isinstance(each.answer, OverlapError)]

    def others(self) -> list[Exception | RecordedCustodyPeriods]:
        """Answers of neither kind."""
        return [
            each.answer for each in self.asked if not isinstance(each.answer, RecordedCustodyPeriods | OverlapError)
        ]

    def told(self) -> str:
        """The figures."""
        made, refused, again = len(self.made()), len(self.refused()), len(self.attempts) - len(self.asked)
        return f"{len(self.asked)} requests: {made} made, {refused} refused, {again} replays"


def assert_answers_are_true(race: Race) -> None:
    """Nobody got anything but periods that are there exactly as answered, or what really is in the way of his.

    The periods of those who won are apart, and of each there is one record.
    """
    assert race.others() == []
    recorded = recorded_rows(race.database)
    answered = [period for made in race.made() for period in made.items]
    assert {tuple(_row(each)) for each in answered} == set(recorded.values())
    assert len(answered) == len(recorded)
    assert Counter(map(tuple, race.database.query(_CHANGES))) == Counter((*row, "added") for row in recorded.values())
    assert_apart([Span(each.id, each.device_id, each.begin, to_stored_end(each.end)) for each in answered])
    for elements, error in race.refused():
        assert error.conflicts
        for conflict in error.conflicts:
            assert_is_in_the_way(elements, conflict, recorded)


def recorded_rows(database: Database) -> dict[int, tuple[Any, ...]]:
    """All periods as they are committed, by id."""
    return {row.id: tuple(row) for row in database.query(_RECORDED)}


def _row(period: Any) -> Iterator[Any]:
    yield from (period.id, period.device_id, period.begin, to_stored_end(period.end))
    yield from (period.custodian_id, period.note, period.version)


def assert_apart(spans: Sequence[Span]) -> None:
    """No two of a device hold the same instant."""
    in_order = sorted(spans, key=lambda each: (each.device_id, each.begin))
    assert all(one.device_id != next_.device_id or one.end <= next_.begin for one, next_ in pairwise(in_order))


def assert_is_in_the_way(elements: Sequence[NewPeriod], conflict: PeriodConflict, recorded: dict[int, Any]) -> None:
    """The conflict names a committed period, or another element of the request, and it overlaps the element."""
    element, other = elements[conflict.element], conflict.other
    if conflict.is_recorded:
        assert tuple(other) == recorded[other.id][:4]
    else:
        named = elements[other.id]
        assert tuple(other) == (other.id, named.device_id, named.begin, to_stored_end(named.end))
        assert other.id != conflict.element
    assert other.device_id == element.device_id
    assert other.begin < to_stored_end(element.end)
    assert element.begin < other.end


class Done(NamedTuple):
    """What an answer says was done to a period."""

    period_id: int
    version: int
    action: str


@dataclass
class Mix:
    """Clients who do anything at once to the periods of a few devices; what the answers say was done, and why not."""

    database: Database
    done: list[Done] = field(default_factory=list)
    refused: list[Exception] = field(default_factory=list)

    def play(self, engines: Sequence[Engine], chosen: Random) -> None:
        """Each client does something, all at once."""
        live = list(recorded_rows(self.database).values())
        acts = [partial(_act, way, _anything(chosen, live)) for _, way in zip(engines, cycle(WAYS), strict=False)]
        for answer in at_once(engines, *acts):
            if isinstance(answer, Exception):
                self.refused.append(answer)
            else:
                self.done += answer

    def told(self) -> str:
        """The figures."""
        return f"{Counter(each.action for each in self.done)}, {Counter(type(each).__name__ for each in self.refused)}"


Act = tuple[Callable[..., Any], Sequence[Any]]


def _anything(chosen: Random, live: Sequence[tuple[Any, ...]]) -> Act:
    """What to do; what is done to a period is done to one of the newest, so that clients meet."""
    begin, device = chosen.randrange(96) / 2, chosen.randint(1, FEW)
    end = begin + chosen.randint(1, 4) / 2
    if not live or chosen.random() < 0.4:
        return add_periods, [periods(wanted(device, begin, end), wanted(chosen.randint(1, FEW), begin + 5, end + 5))]
    period_id, number, begun, *_, version = chosen.choice(live[-FEW:])
    versions = frozenset({version})
    if chosen.random() < 0.2:
        return remove_period, [period_id, versions]
    if chosen.random() < 0.5:
        return patch_period, [period_id, versions, PeriodPatch.model_validate({"begin": at(begin), "end": at(end)})]
    moment = {"at": format_timestamp(begun + HALF), "end": format_timestamp(begun + 3 * HALF), "custodianId": None}
    named = {"fromPeriodId": period_id} if chosen.random() < 0.5 else {}
    return transfer, [NewTransfer.model_validate({"deviceId": number, **moment, **named})]


def _act(way: str, act: Act, on: Engine) -> list[Done]:
    GOING.set(way)
    op, arguments = act
    made = replayed(on, op, CALLER, *arguments)
    if isinstance(made, RecordedCustodyPeriods):
        return [Done(each.id, each.version, "added") for each in made.items]
    if isinstance(made, CustodyTransfer):
        return [Done(made.ended.id, made.ended.version, "changed"), Done(made.begun.id, made.begun.version, "added")]
    removed = op is remove_period
    return [Done(made.id, made.version + removed, "removed" if removed else "changed")]


def assert_every_change_is_recorded(mix: Mix) -> None:
    """Nobody got an answer that clients do not expect; the changes are those that were answered, and make up lives."""
    usual = OverlapError | StaleVersionError | NotFoundError | WrongStateError
    assert [each for each in mix.refused if not isinstance(each, usual)] == []
    recorded, changes = recorded_rows(mix.database), mix.database.query(_CHANGES)
    assert sorted(Done(each.period_id, each.version, each.action) for each in changes) == sorted(mix.done)
    lives: dict[int, list[Any]] = {each.period_id: [] for each in changes}
    for change in changes:
        lives[change.period_id].append(change)
    assert set(recorded) <= set(lives)
    for period_id, life in lives.items():
        assert_is_a_life(life, recorded.get(period_id))


def assert_is_a_life(changes: Sequence[Any], now: tuple[Any, ...] | None) -> None:
    """Versions from 1 without a gap, up to what the period is now, or to its removal."""
    assert [each.version for each in changes] == list(range(1, len(changes) + 1))
    end = [] if now else ["removed"]
    changed = ["changed"] * (len(changes) - 1 - len(end))
    assert [each.action for each in changes] == ["added", *changed, *end]
    assert now in (None, tuple(changes[-1])[:-1])
