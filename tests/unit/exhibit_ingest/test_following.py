"""How a command waits for the work of a stack: its pace, and everything that ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from exhibit_ingest.errors import CommandError
from exhibit_ingest.session.following import STALLED_S, StalledError, Work, follow, say_once
from exhibit_ingest.session.machine import RunningMachine
from tests.unit.exhibit_ingest.played_sessions import PlayedClock

State = dict[str, Any]


def machine(check: Callable[[], None] = lambda: None, failures: Callable[[], list[str]] = list) -> RunningMachine:
    return RunningMachine("http://x", Any, "", True, failures, check)  # type: ignore[arg-type]


def build(read: Callable[[], State], **others: Any) -> Work[State]:
    """Work that never ends by itself."""
    return Work("Import 7", read, lambda state: bool(state.get("ended")), lambda _: None, **others)


class Screen:
    """Keeps what it prints."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def show(self, line: str) -> None:
        pass

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


def test_the_readings_become_rarer_with_the_time_that_it_takes() -> None:
    clock, read_at = PlayedClock(), list[float]()

    def read() -> State:
        read_at.append(clock.time)
        return {"ended": clock.time > 100}

    follow(None, build(read), clock)
    pauses = [after - before for before, after in pairwise(read_at)]
    assert (read_at[0], pauses[0], pauses[-1]) == pytest.approx((0, 0.05, 2.0))
    assert pauses == pytest.approx(sorted(pauses))
    assert len(read_at) < 100


def test_a_state_that_is_known_is_not_read_again() -> None:
    def read() -> State:
        raise AssertionError

    assert follow(None, build(read), PlayedClock(), {"ended": True}) == {"ended": True}


def test_an_estimate_is_not_a_change() -> None:
    clock = PlayedClock()
    with pytest.raises(StalledError, match=r"^Import 7 has not changed for 20 minutes\. It may go on: run the command"):
        follow(None, build(lambda: {"secondsLeft": clock.time}), clock)
    assert clock.time == pytest.approx(STALLED_S, abs=3)


def test_what_changes_is_not_given_up() -> None:
    clock = PlayedClock()
    follow(None, build(lambda: {"done": clock.time // 1_000, "ended": clock.time > 3 * STALLED_S}), clock)
    assert clock.time > 3 * STALLED_S


def test_failed_invocations_are_said_once() -> None:
    found, screen, clock = ["first"], Screen(), PlayedClock()

    def read() -> State:
        if clock.time and len(found) == 1:
            found.append("second")
        return {"ended": clock.time > 3}

    follow(machine(failures=lambda: found), build(read, fail=say_once(screen)), clock)
    assert screen.said == ["first", "second"]


def test_the_end_of_the_stack_comes_before_the_error_of_its_api() -> None:
    def end() -> None:
        raise CommandError("`serve` ended meanwhile")

    def read() -> State:
        raise CommandError("No connection")

    with pytest.raises(CommandError, match="`serve` ended meanwhile"):
        follow(machine(end), build(read), PlayedClock())
    with pytest.raises(CommandError, match="No connection"):
        follow(machine(), build(read), PlayedClock())


@pytest.mark.parametrize(("note", "notes"), [("It goes on.", ["It goes on."]), ("", [])])
def test_whatever_ends_the_wait_has_the_note_of_what_is_left(note: str, notes: list[str]) -> None:
    def interrupt() -> State:
        raise KeyboardInterrupt

    work = build(interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        follow(None, replace(work, abandon=lambda: note), PlayedClock())
    assert getattr(caught.value, "__notes__", []) == notes


def test_what_does_not_change_is_not_cancelled() -> None:
    cancelled = list[str]()

    def cancel() -> str:
        cancelled.append("cancelled")
        return ""

    with pytest.raises(StalledError):
        follow(None, build(lambda: {"done": 1}, abandon=cancel), PlayedClock())
    assert cancelled == []
