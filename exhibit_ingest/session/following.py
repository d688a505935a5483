"""Wait for what a stack does, by reading its state again and again: the only wait of the command for a stack's work.

Guaranteed: the first reading is at once, the next ones after a tenth of the time that it has taken so far, which is not
noticed, and 2 s at most. A stack of this machine that has ended, or a disk that is full, ends the wait with a sentence,
before the error of a request; so do 20 minutes in which nothing changes. Whatever else ends the wait early, also
Ctrl-C, calls `abandon`, and has the sentence that it returns as a note; the exit code is that of the error. What does
not change is never cancelled: it can wait for a message that is delivered again, or for the work of others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from exhibit_ingest.errors import CommandError
from exhibit_ingest.session.machine import RunningMachine

Document = dict[str, Any]
State = TypeVar("State")
# More than the 16 minutes after which a queue of the stack delivers the message of a function that died.
STALLED_S = 1_200.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _SHARE = 0.05, 2.0, 0.1
# Estimates: they change although nothing happens.
_ESTIMATES = ("rowsPerSecond", "secondsLeft")


class Display(Protocol):
    """Shows what happens to people."""

    def show(self, line: str) -> None:
        """Show how far it is."""

    def say(self, sentence: str) -> None:
        """Print a sentence that stays."""


@dataclass(frozen=True)
class Clock:
    """The time and how to wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class StalledError(CommandError):
    """Nothing has changed for STALLED_S."""


def _explain_nothing(_: object) -> str:
    return "It may go on: run the command again, or ask the operator."


@dataclass(frozen=True)
class Work(Generic[State]):
    """What is waited for; `name` begins the sentence that says that it does not change.

    `show` gets each state that is read, also the last. `next_step` says what to do if it does not change. `fail` gets
    the sentences about failed invocations of the stack of this machine: all since it began. `abandon` can cancel it; it
    is not called if nothing changes.
    """

    name: str
    read: Callable[[], State]
    has_ended: Callable[[State], bool]
    show: Callable[[State], None]
    next_step: Callable[[State], str] = _explain_nothing
    fail: Callable[[list[str]], None] | None = None
    abandon: Callable[[], str] | None = None


def follow(
    machine: RunningMachine | None, work: Work[State], clock: Clock | None = None, state: State | None = None
) -> State:
    """Return the state once it has ended; `state` is one that is known. Raises CommandError."""
    try:
        return _follow(machine, work, clock or Clock(), state)
    except StalledError:
        raise
    except BaseException as exc:
        note = work.abandon() if work.abandon else ""
        if note:
            exc.add_note(note)
        raise


def _follow(machine: RunningMachine | None, work: Work[State], clock: Clock, state: State | None) -> State:
    began = changed = clock.now()
    last: object = None
    while True:
        state = _read(machine, work) if state is None else state
        work.show(state)
        if work.has_ended(state):
            return state
        seen = _leave_estimates_out(state)
        if seen != last:
            last, changed = seen, clock.now()
        elif clock.now() - changed >= STALLED_S:
            sentence = f"{work.name} has not changed for {STALLED_S / 60:.0f} minutes. {work.next_step(state)}"
            raise StalledError(sentence)
        clock.sleep(min(max(_FIRST_PAUSE_S, _SHARE * (clock.now() - began)), _LONGEST_PAUSE_S))
        state = None


def _read(machine: RunningMachine | None, work: Work[State]) -> State:
    try:
        state = work.read()
    except CommandError:
        check_machine(machine)
        raise
    check_machine(machine)
    if machine and work.fail:
        work.fail(machine.list_failures())
    return state


def check_machine(machine: RunningMachine | None) -> None:
    """Raise CommandError if the stack of this machine has ended, or a disk is full."""
    if machine is not None:
        machine.check()


def say_once(display: Display) -> Callable[[list[str]], None]:
    """Return what says each failure once: its argument is the list of all, which grows."""
    said = 0

    def fail(found: list[str]) -> None:
        nonlocal said
        for sentence in found[said:]:
            display.say(sentence)
        said = len(found)

    return fail


def _leave_estimates_out(state: object) -> object:
    if isinstance(state, Mapping):
        return {name: value for name, value in state.items() if name not in _ESTIMATES}
    return state
