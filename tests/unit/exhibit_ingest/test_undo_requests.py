"""What `undo` requests of a stack, what it waits for, and what it says when it is refused or interrupted."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.errors import CommandError
from exhibit_ingest.program import format_command
from exhibit_ingest.session.following import Clock
from exhibit_ingest.session.machine import RunningMachine
from exhibit_ingest.session.session import Context, Session
from exhibit_ingest.undo import command
from exhibit_ingest.undo.undo_session import undo_import

RECORD = {"id": 7, "status": "completed", "caseId": 1, "case": "acme", "fileName": "a.dat"}
UNDO: dict[str, Any] = {
    "importId": 7,
    "undoNo": 1,
    "dryRun": False,
    "kept": 0,
    "removed": 2,
    "restored": 0,
    "linksRestored": 0,
    "parts": 2,
    "reasons": [],
    "foundUnchangedBy": [],
    "statedBy": [],
    "unrecordedBy": [],
}
ENDED = {**UNDO, "status": "undone", "partsLeft": 0, "report": "https://storage/kept.csv"}
RUNNING = "Import 8 of the same case is running or being undone; undo this one when it has ended."


class PlayedApi:
    """An API whose answers a test gives, by method and path; each of a list is given once, the last one for ever."""

    def __init__(self, **answers: Any) -> None:
        self.requests: list[str] = []
        self._answers = {name.replace("__", "/"): value for name, value in answers.items()}

    def request(self, method: str, path: str, *_: object) -> Any:
        self.requests.append(f"{method} {path}")
        found = self._answers[f"{method}{path.partition('?')[0]}"]
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        if isinstance(found, BaseException):
            raise found
        return found


class Screen:
    """Keeps what is shown."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def show(self, line: str) -> None:
        self.lines.append(line)

    say = show


def still() -> Clock:
    """A clock of which each wait takes its time at once."""
    passed = [0.0]
    return Clock(lambda: passed[0], lambda seconds: passed.__setitem__(0, passed[0] + seconds))


def build_session(api: Any, machine: RunningMachine | None = None) -> Session:
    return Session(api, "firm", {"tenantId": "t"}, Path("/nowhere"), machine)


def machine(*, is_kept: bool, failures: Callable[[], list[str]] = list) -> RunningMachine:
    tokens: Any = None
    return RunningMachine("http://here", tokens, "", is_kept, failures, lambda: None)


def undo(api: PlayedApi, screen: Screen) -> Any:
    return undo_import(build_session(api), 7, dry_run=False, confirm=lambda _: True, display=screen, clock=still())


def test_undos_of_the_same_case_end_first() -> None:
    first = {**UNDO, "importId": 8, "partsLeft": 1, "report": None}
    api = PlayedApi(
        GET__imports__7=RECORD,
        GET__imports={"items": [{"id": 8}, {"id": 7}], "next": None},
        GET__imports__8__undo=[{**first, "status": "running"}, {**first, "status": "undone", "report": "u"}],
        POST__imports__7__undo={**ENDED, "status": "requested", "report": None},
        GET__imports__7__undo=[{**ENDED, "status": "running", "report": None}, {**ENDED, "report": None}, ENDED],
    )
    screen = Screen()
    outcome = undo(api, screen)
    assert (outcome.undo["status"], outcome.kept, outcome.was_undone_before) == ("undone", None, False)
    requested = [each.partition("?")[0] for each in api.requests]
    assert requested.index("POST /imports/7/undo") > requested.index("GET /imports/8/undo")
    assert "status=undoing" in api.requests[1]
    assert screen.lines[0] == "Import 8 of the same case is being undone; this undo begins when that has ended."
    assert requested[-3:] == ["GET /imports/7/undo"] * 3


def test_a_list_of_what_was_kept_that_is_never_written_is_waited_for_a_minute() -> None:
    kept = {**ENDED, "status": "undone_with_conflicts", "kept": 3, "report": None}
    api = PlayedApi(
        GET__imports__7=RECORD,
        GET__imports={"items": [], "next": None},
        POST__imports__7__undo={**kept, "status": "requested"},
        GET__imports__7__undo=kept,
    )
    outcome = undo(api, Screen())
    assert (outcome.undo["kept"], outcome.kept, 60 < outcome.seconds < 90) == (3, None, True)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (
            "Import 8 added the images of these documents; undo it first.",
            "Import 8 added the images of these documents; undo it first: "
            + format_command("undo", "8", "--stack", "firm"),
        ),
        (RUNNING, RUNNING),
    ],
)
def test_the_undo_that_has_to_come_first_is_named_as_a_command(reason: str, expected: str) -> None:
    problem = {"type": "urn:exhibit-ingest:problem:wrong-state"}
    refusing = PlayedApi(
        GET__imports__7=RECORD,
        GET__imports={"items": [], "next": None},
        POST__imports__7__undo=ApiError(reason, 409, problem),
    )
    with pytest.raises(CommandError) as refused:
        undo(refusing, Screen())
    assert str(refused.value) == f"import 7 cannot be undone: {expected}"


class PlayedContext(Context):
    """Commands in a session that a test gives."""

    @contextlib.contextmanager
    def open(self, options: argparse.Namespace, **_: Any) -> Iterator[Session]:
        yield options.session


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (None, f"goes on in the stack. To see its result: {format_command('undo', '7', '--stack', 'firm')}"),
        (machine(is_kept=True), f"To see its result: {format_command('undo', '7', '--tenant', 't')}"),
        (machine(is_kept=False), "the next command on this machine continues the undo, or run it again: "),
    ],
)
def test_an_interruption_says_whether_the_undo_goes_on(where: RunningMachine | None, expected: str) -> None:
    api = PlayedApi(
        GET__imports__7=RECORD, GET__imports={"items": [], "next": None}, POST__imports__7__undo=KeyboardInterrupt()
    )
    options = argparse.Namespace(
        import_id=7, yes=True, dry_run=False, json=True, tenant=None, session=build_session(api, where)
    )
    with pytest.raises(KeyboardInterrupt) as interrupted:
        command.run(options, PlayedContext())
    [note] = interrupted.value.__notes__
    assert expected in note
    assert ("Do not import the file again" in note) is (where is not None and not where.is_kept)
