"""A production is followed to its end; what the command says and returns depends on that end."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from exhibit_ingest.client.api import Api
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.productions.following import check_waiting, choose_exit_code, follow_production, has_ended
from exhibit_ingest.productions.output import describe_outcome
from exhibit_ingest.session.following import Clock
from exhibit_ingest.session.machine import RunningMachine
from exhibit_ingest.session.session import Session

STEPS = ("begin", "reserve", "copy", "confirm", "notify")


def production(status: str, pending: str | None = None, **members: Any) -> dict[str, Any]:
    """A production whose steps are completed up to a pending one."""
    done = STEPS[: STEPS.index(pending)] if pending else STEPS
    steps = [
        {"name": name, "status": "completed" if name in done else "pending", "done": None, "total": None}
        for name in STEPS
    ]
    whole = {
        "id": 4,
        "case": "Case",
        "volume": "VOL001",
        "status": status,
        "steps": steps,
        "documents": 2,
        "firstBates": "A1",
        "lastBates": "A2",
        "manifestSha256": "ab",
        "failedStep": None,
        "reason": None,
        "remainingActions": [],
        "warnings": [],
    }
    return {**whole, **members}


class PlayedApi:
    """Answers with one state of the production after the other."""

    def __init__(self, states: list[dict[str, Any]]) -> None:
        self.states = states

    def request(self, method: str, path: str) -> dict[str, Any]:
        assert (method, path) == ("GET", "/productions/4")
        return self.states.pop(0)


class Line:
    """Keeps what it is to show."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def show(self, line: str) -> None:
        self.shown.append(line)


class Tokens:
    """A token of this machine."""

    def get_token(self) -> str:
        return "token"

    def renew_token(self, refused: str) -> str:
        return "token"


# The stack of this machine, which ends with the command.
OWN = RunningMachine("http://127.0.0.1", Tokens(), "", False, list, lambda: None)


def session(states: list[dict[str, Any]], machine: RunningMachine | None = None) -> Session:
    return Session(cast(Api, PlayedApi(states)), "firm", {"tenantId": "local"}, Path(), machine)


def test_it_is_followed_until_the_recipients_are_notified() -> None:
    states = [production("running", "copy")] * 10 + [production("confirmed", "notify"), production("confirmed")]
    waits: list[float] = []
    line = Line()
    last = follow_production(session(list(states)), production("requested", "begin"), line, Clock(sleep=waits.append))
    assert (last, len(waits)) == (states[-1], len(states))
    assert (line.shown[0], line.shown[-1]) == ("production 4: begin", "production 4: confirmed")


def test_an_interruption_says_how_to_go_on() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        follow_production(session([]), production("running", "copy"), Line(), Clock(sleep=interrupt))
    [note] = caught.value.__notes__
    assert note.startswith("Production 4 goes on.")
    assert note.endswith("productions show 4 --stack firm")


def test_a_stack_that_ends_with_the_command_stops_the_production() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    own = session([], OWN)
    with pytest.raises(KeyboardInterrupt) as caught:
        follow_production(own, production("running", "copy"), Line(), Clock(sleep=interrupt))
    assert caught.value.__notes__[0].startswith("Production 4 stopped with this command. Start `")
    with pytest.raises(WrongUsageError, match="--no-wait needs a stack that goes on running"):
        check_waiting(Namespace(no_wait=True), own)
    check_waiting(Namespace(no_wait=False), own)
    check_waiting(Namespace(no_wait=True), session([], replace(OWN, is_kept=True)))
    check_waiting(Namespace(no_wait=True), session([]))


@pytest.mark.parametrize(
    ("ended", "code", "sentence"),
    [
        (production("confirmed"), 0, "productions download 4 FOLDER --stack firm"),
        (production("cancelled", failedStep="reserve", reason="FILE_MISSING"), 1, "at the step reserve: FILE_MISSING"),
        (production("needs_attention", remainingActions=["notify"]), 3, "productions retry 4 --stack firm"),
    ],
)
def test_every_end_has_an_exit_code_and_a_next_step(ended: dict[str, Any], code: int, sentence: str) -> None:
    assert has_ended(ended)
    assert choose_exit_code(ended, "confirmed") == code
    assert sentence in "\n".join(describe_outcome(ended, session([])))
