"""Whoever asks at once: what is answered and recorded is what the requests one after the other give, in some order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from sqlalchemy import Engine

from shell.custody import commands
from shell.custody.period_writer import check_overlaps
from shell.db import retry
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
from tests.integration.custody.test_custody_oracle import SETTINGS, Clients
from tests.support.cases import Cases
from tests.support.database import barrier, together

EXAMPLES = 300 if os.environ.get("RACE_COUNTS") == "full" else 24
APART = [Add("first", [Element(1, 0, 1, None), Element(1, 3, 4, None)])]
RECORDING = [Add("one", [Element(1, 1, 2, None)]), Add("other", [Element(1, 1, 3, None)])]
GROWING = [
    Change("one", ("first", 0), frozenset({1}), {"end": 3}),
    Change("other", ("first", 1), frozenset({1}), {"begin": 1}),
]
Script = Sequence[Request]
History = Sequence[tuple[Request, Outcome]]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is replayed meets the others again, and nobody waits for it."""
    monkeypatch.setattr(retry, "STALE_DELAY_S", 0.005)


@pytest.fixture
def engines(cases: Cases) -> Iterator[list[Engine]]:
    """One for each client."""
    with cases.database.environments(4) as made:
        yield made


def at_once(clients: Clients, engines: Sequence[Engine], scripts: Sequence[Script]) -> list[History]:
    """What each client asked and was answered."""
    meeting = barrier(len(scripts))

    def work(on: Engine, script: Script) -> list[Any]:
        meeting.wait()
        return [clients.ask(on, each) for each in script]

    answered = together(*(partial(work, *each) for each in zip(engines, scripts, strict=False)))
    return [
        [(request, clients.said(each)) for request, each in zip(script, mine, strict=True)]
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

    @settings(SETTINGS, max_examples=40, phases=[Phase.generate])
    @given(batch=batches())
    def count(batch: tuple[Script, list[Script]]) -> None:
        first, scripts = batch
        given_order, turned = chain(first, *scripts), chain(first, *reversed(scripts))
        decides.append(recorded(given_order) != recorded(turned))

    count()
    assert sum(decides) > len(decides) / 4


@settings(SETTINGS, max_examples=EXAMPLES, phases=[Phase.generate])
@given(batch=batches())
def test_all_at_once_is_answered_and_recorded_as_one_after_the_other(
    way: str, cases: Cases, engines: list[Engine], batch: tuple[Script, list[Script]]
) -> None:
    first, scripts = batch
    clients = Clients(cases)
    for each in first:
        clients.ask(engines[0], each)
    histories = at_once(clients, engines, scripts)
    assert in_some_order(recorded(first), histories, clients.recorded()), histories


def meeting_after(write: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but it waits until two have written and neither has committed."""
    meeting = barrier(2)

    def written(*arguments: Any, **named: Any) -> Any:
        done = write(*arguments, **named)
        meeting.wait()
        return done

    return written


@pytest.mark.parametrize(("requests", "write"), [(RECORDING, "insert_periods"), (GROWING, "_write_and_record")])
def test_devices_that_nobody_holds_give_what_no_order_does(
    way: str,
    cases: Cases,
    engines: list[Engine],
    requests: list[Request],
    write: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clients = Clients(cases)
    clients.ask(engines[0], APART[0])
    monkeypatch.setattr(commands, "exclusive_devices", lambda *_: nullcontext())
    monkeypatch.setattr(commands, write, meeting_after(getattr(commands, write)))
    histories = at_once(clients, engines, [[each] for each in requests])
    assert [outcome.kind for history in histories for _, outcome in history] == ["ok", "ok"]
    assert not in_some_order(recorded(APART), histories, clients.recorded())


@pytest.mark.parametrize("way", ["optimistic"], indirect=True)
def test_what_is_refused_is_refused_by_what_was_so_at_one_moment(
    way: str, cases: Cases, engines: list[Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    clients, looked = Clients(cases), check_overlaps
    clients.ask(engines[0], Add("first", [Element(1, 8, None, None)]))

    def looking_late(*arguments: Any, **named: Any) -> None:
        monkeypatch.setattr(commands, "check_overlaps", looked)
        clients.ask(engines[1], Transfer("other", 1, 10, None, None, None))
        looked(*arguments, **named)

    monkeypatch.setattr(commands, "check_overlaps", looking_late)
    # As it was read, it would overlap what the transfer began; as it is now, it would not.
    refusal = clients.ask(engines[0], Change("one", ("first", 0), frozenset({1}), {"begin": 5}))
    assert clients.said(refusal) == Outcome("stale", 2)
