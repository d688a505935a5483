"""Whoever asks at once: what is answered and recorded is what the requests one after the other give, in some order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, cycle
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from sqlalchemy import Engine, text

from shell.custody import commands, device_locks
from shell.custody.period_writer import check_overlaps
from tests.integration.custody.oracle import (
    Add,
    Change,
    Element,
    Outcome,
    Period,
    Request,
    State,
    Transfer,
    answer,
    batches,
    recorded,
)
from tests.integration.custody.racing import at_once, clients, going
from tests.integration.custody.support import WAYS, overlaps
from tests.integration.custody.test_custody_oracle import SETTINGS, Clients
from tests.support.cases import Cases
from tests.support.database import barrier

APART = [Add("first", [Element(1, 0, 1, None), Element(1, 3, 4, None)])]
RECORDING = [Add("one", [Element(1, 1, 2, None)]), Add("other", [Element(1, 1, 3, None)])]
GROWING = [
    Change("one", ("first", 0), frozenset({1}), {"end": 3}),
    Change("other", ("first", 1), frozenset({1}), {"begin": 1}),
]
Script = Sequence[Request]
History = Sequence[tuple[Request, Outcome]]


@pytest.fixture
def engines(counting: Cases) -> Iterator[list[Engine]]:
    """One for each client."""
    with clients(counting.database, 4) as made:
        yield made


def answers_at_once(asking: Clients, engines: Sequence[Engine], ways: Sequence[str], *scripts: Script) -> list[History]:
    """What each client asked and was answered; their ways of locking alternate."""

    def work(script: Script) -> Callable[[Engine], list[Any]]:
        return lambda on: [asking.ask(on, each) for each in script]

    requests = [going(way, work(script)) for way, script in zip(cycle(ways), scripts)]
    answered = at_once(engines[: len(scripts)], *requests)
    return [
        [(request, asking.said(each)) for request, each in zip(script, mine, strict=True)]
        for script, mine in zip(scripts, answered, strict=True)
    ]


def in_some_order(state: State, histories: Sequence[History], left: frozenset[Period]) -> bool:
    """Whether the model gives these answers, and leaves this, if it is asked in some order that keeps each client's."""
    if not any(histories):
        return frozenset(state) == left
    for number, mine in enumerate(histories):
        if mine:
            after, expected = answer(state, mine[0][0])
            others = [*histories[:number], mine[1:], *histories[number + 1 :]]
            if expected == mine[0][1] and in_some_order(after, others, left):
                return True
    return False


def test_only_an_order_that_gives_the_answers_and_the_rows_will_do() -> None:
    one, other = RECORDING
    left, made = answer(recorded(APART), one)
    refused = answer(left, other)[1]
    assert in_some_order(recorded(APART), [[(other, refused)], [(one, made)]], frozenset(left))
    assert not in_some_order(recorded(APART), [[(other, refused), (one, made)]], frozenset(left))
    assert not in_some_order(recorded(APART), [[(other, refused)], [(one, refused)]], frozenset(recorded(APART)))
    assert not in_some_order(recorded(APART), [[(other, refused)], [(one, made)]], frozenset(recorded(APART)))


def test_the_order_often_decides() -> None:
    decides: list[bool] = []

    @settings(derandomize=True, max_examples=40, phases=[Phase.generate])
    @given(batch=batches())
    def count(batch: tuple[Script, list[Script]]) -> None:
        first, scripts = batch
        given_order, turned = chain(first, *scripts), chain(first, *reversed(scripts))
        decides.append(recorded(given_order) != recorded(turned))

    count()
    assert sum(decides) > len(decides) / 4


@pytest.mark.slow
@pytest.mark.parametrize("ways", [*((way,) for way in WAYS), WAYS], ids=" and ".join)
@settings(SETTINGS, phases=[Phase.generate])
@given(batch=batches())
def test_all_at_once_is_answered_and_recorded_as_one_after_the_other(
    ways: Sequence[str], counting: Cases, engines: list[Engine], batch: tuple[Script, list[Script]]
) -> None:
    first, scripts = batch
    asking, deadlocks = Clients(counting), counting.database.deadlocks()
    for each in first:
        asking.ask(engines[0], each)
    histories = answers_at_once(asking, engines, ways, *scripts)
    assert in_some_order(recorded(first), histories, asking.recorded()), histories
    assert "optimistic" in ways or counting.database.deadlocks() == deadlocks


def meeting_after(write: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but it waits until two have written and neither has committed."""
    meeting = barrier(2)

    def written(*arguments: Any, **named: Any) -> Any:
        done = write(*arguments, **named)
        meeting.wait()
        return done

    return written


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("requests", "write"), [(RECORDING, "insert_periods"), (GROWING, "_write_and_record")])
def test_versions_that_nobody_compares_or_locks_give_what_no_order_does(
    way: str,
    counting: Cases,
    engines: list[Engine],
    requests: list[Request],
    write: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Versions are raised and not compared, and devices are read and not locked."""
    asking = Clients(counting)
    asking.ask(engines[0], APART[0])
    naive = str(device_locks._INCREMENT_VERSIONS).partition("WHERE")[0]
    monkeypatch.setattr(device_locks, "_INCREMENT_VERSIONS", text(naive))
    monkeypatch.setattr(device_locks, "_lock_versions", device_locks._read_versions)
    monkeypatch.setattr(commands, write, meeting_after(getattr(commands, write)))
    histories = answers_at_once(asking, engines, [way], *([each] for each in requests))
    assert [outcome.kind for history in histories for _, outcome in history] == ["ok", "ok"]
    assert not in_some_order(recorded(APART), histories, asking.recorded())
    assert len(overlaps(counting.database)) == 1


def test_what_is_refused_is_refused_by_what_was_so_at_one_moment(
    counting: Cases, engines: list[Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    asking, looked = Clients(counting), check_overlaps
    asking.ask(engines[0], Add("first", [Element(1, 8, None, None)]))

    def looking_late(*arguments: Any, **named: Any) -> None:
        monkeypatch.setattr(commands, "check_overlaps", looked)
        asking.ask(engines[1], Transfer("other", 1, 10, None, None, None))
        looked(*arguments, **named)

    monkeypatch.setattr(commands, "check_overlaps", looking_late)
    # As it was read, it would overlap what the transfer began; as it is now, it would not.
    change = Change("one", ("first", 0), frozenset({1}), {"begin": 5})
    [[(_, outcome)]] = answers_at_once(asking, engines, ["optimistic"], [change])
    assert outcome == Outcome("stale", 2)
