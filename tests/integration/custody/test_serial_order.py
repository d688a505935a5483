"""Requests one after the other or at once: each is answered and recorded as a simple model does, in some order.

Refusals are compared to the last conflict, answers to the last version. The record of changes is complete: replayed
from nothing it gives the table. Each of several mistakes that the application could make is found likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, cycle, islice
from random import Random
from typing import Any

import pytest
from sqlalchemy import Engine, text

from core.custody import find_conflicts_with
from shell.custody import commands, device_locks, period_writer
from shell.custody.period_writer import check_overlaps
from tests.integration.custody.custody_model import (
    NOTHING,
    Add,
    Change,
    Element,
    Outcome,
    Period,
    Remove,
    Request,
    State,
    Transfer,
    answer,
    recorded,
    script,
    scripts_at_once,
)
from tests.integration.custody.custody_values import WAYS, overlaps
from tests.integration.custody.meeting_clients import at_once, clients, going
from tests.integration.custody.modelled_requests import Asking
from tests.support.database.counted_database import barrier
from tests.support.exhibits.stored_cases import Cases

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
    # Another period holds the device then, none does, and there is no such device.
    (Transfer("q", 1, 7, None, None, ("a", 1)), "wrong_state"),
    (Transfer("r", 2, 2, 4, None, None), "wrong_state"),
    (Transfer("s", 3, 1, 2, None, None), "wrong_state"),
    (Remove("m", ("a", 2), AT_2), "stale"),
    (Remove("n", ("a", 2), AT_1 | AT_2), "ok"),
    (Remove("o", ("a", 2), AT_1), "not_found"),
]
APART = [Add("first", [Element(1, 0, 1, None), Element(1, 3, 4, None)])]
RECORDING = [Add("one", [Element(1, 1, 2, None)]), Add("other", [Element(1, 1, 3, None)])]
GROWING = [
    Change("one", ("first", 0), AT_1, {"end": 3}),
    Change("other", ("first", 1), AT_1, {"begin": 1}),
]
ROUNDS, BEFORE = 160, 8
Script = Sequence[Request]
History = Sequence[tuple[Request, Outcome]]


@pytest.fixture
def engines(counting: Cases) -> Iterator[list[Engine]]:
    """One for each client."""
    with clients(counting.database, 4) as made:
        yield made


def answers_at_once(asking: Asking, engines: Sequence[Engine], ways: Sequence[str], *scripts: Script) -> list[History]:
    """What each client requested and was answered; their ways of locking alternate."""

    def work(script: Script) -> Callable[[Engine], list[Any]]:
        return lambda on: [asking.ask(on, each) for each in script]

    requests = [going(way, work(script)) for way, script in zip(cycle(ways), scripts)]
    answered = at_once(engines[: len(scripts)], *requests)
    return [
        [(request, asking.said(each)) for request, each in zip(script, mine, strict=True)]
        for script, mine in zip(scripts, answered, strict=True)
    ]


def in_some_order(state: State, histories: Sequence[History], left: frozenset[Period]) -> bool:
    """Whether the model gives these answers and rows in some order of the requests that keeps each client's."""
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


def assert_in_some_order(asking: Asking, state: State, histories: Sequence[History]) -> None:
    """What was answered, and what is recorded now, is as the model has it from `state` on."""
    assert in_some_order(state, histories, asking.recorded()), histories


@pytest.mark.parametrize("way", WAYS)
def test_every_answer_is_that_of_the_model(way: str, counting: Cases, engines: list[Engine]) -> None:
    asking, state = Asking(counting), NOTHING
    for request, kind in EVERY_ANSWER:
        [[(_, answered)]] = answers_at_once(asking, engines, [way], [request])
        state, expected = answer(state, request)
        assert (expected.kind, answered) == (kind, expected), request
    assert asking.recorded() == frozenset(state)


@pytest.mark.slow
@pytest.mark.parametrize("ways", [*((way,) for way in WAYS), WAYS], ids=" and ".join)
def test_all_at_once_is_answered_and_recorded_as_one_after_the_other(
    ways: Sequence[str], counting: Cases, engines: list[Engine], race_counts: int
) -> None:
    """One client asks for some things, then several at once; the order of these often decides what is recorded."""
    rounds, decided = ROUNDS // race_counts, 0
    for seed in range(rounds):
        chosen, asking, deadlocks = Random(seed), Asking(counting), counting.database.deadlocks()
        first = script(chosen, BEFORE, "first")
        assert_in_some_order(asking, NOTHING, answers_at_once(asking, engines, ways, first))
        state = recorded(first)
        scripts = scripts_at_once(chosen, state)
        assert_in_some_order(asking, state, answers_at_once(asking, engines, ways, *scripts))
        assert "optimistic" in ways or counting.database.deadlocks() == deadlocks
        decided += recorded(chain(*scripts), state) != recorded(chain(*reversed(scripts)), state)
    assert decided > rounds / 4


def without_lock(patch: pytest.MonkeyPatch) -> None:
    """What overlaps is written."""
    patch.setattr(commands, "check_overlaps", lambda *_, **__: None)
    patch.setattr(period_writer, "check_overlaps", lambda *_, **__: None)
    patch.setattr(period_writer, "_WHERE_NO_OVERLAP", "")


def elements_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    """Only what is recorded counts."""
    patch.setattr(period_writer, "find_conflicts_within", lambda _expected: iter(()))


def one_conflict_is_reported(patch: pytest.MonkeyPatch) -> None:
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
    *(("optimistic", each) for each in (without_lock, elements_are_not_compared)),
    *(("pessimistic", each) for each in (without_lock, one_conflict_is_reported, versions_are_not_compared)),
    *(("pessimistic", each) for each in (a_period_hinders_itself, changes_leave_no_record)),
]


@pytest.mark.parametrize(("way", "mistake"), MISTAKES, ids=lambda each: getattr(each, "__name__", each))
def test_a_mistake_makes_a_difference(
    way: str,
    counting: Cases,
    engines: list[Engine],
    mistake: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        test_every_answer_is_that_of_the_model(way, counting, engines)


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
def test_versions_without_comparison_or_lock_give_what_no_order_does(
    way: str,
    counting: Cases,
    engines: list[Engine],
    requests: list[Request],
    write: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Versions are raised and not compared, and devices are read and not locked."""
    asking = Asking(counting)
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
    asking, looked = Asking(counting), check_overlaps
    asking.ask(engines[0], Add("first", [Element(1, 8, None, None)]))

    def looking_late(*arguments: Any, **named: Any) -> None:
        monkeypatch.setattr(commands, "check_overlaps", looked)
        asking.ask(engines[1], Transfer("other", 1, 10, None, None, None))
        looked(*arguments, **named)

    monkeypatch.setattr(commands, "check_overlaps", looking_late)
    # As it was read, it would overlap what the transfer began; as it is now, it would not.
    change = Change("one", ("first", 0), AT_1, {"begin": 5})
    [[(_, outcome)]] = answers_at_once(asking, engines, ["optimistic"], [change])
    assert outcome == Outcome("stale", 2)
