"""`operations` lists what failed with an exit status for scripts, and retries events until none is left."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from exhibit_ingest.acts.operations import run
from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.exit_codes import DONE, REJECTED
from exhibit_ingest.session.session import Context
from tests.unit.exhibit_ingest.import_states import PlayedApi

WORK = {
    "id": 12,
    "status": "needs_attention",
    "caseId": 7,
    "case": "acme",
    "name": None,
    "since": "2026-11-27T09:00:00Z",
}
WORK |= {"chunksFailed": 0, "code": None, "reason": "A file\u202e is missing", "canBeRetried": True}
EVENT = {"id": 991, "eventType": "import.completed", "target": "sns", "objectType": "import", "objectId": "12"}
EVENT |= {"createdAt": "2026-11-27T09:00:00Z", "deadLetteredAt": None, "attempts": 5, "refusals": 5, "refusal": None}
NOTHING: dict[str, Any] = {"groups": [], "events": {"total": 0, "totalIsLowerBound": False, "items": []}}
GROUP = {"kind": "production", "state": "failed", "total": 100, "totalIsLowerBound": True, "items": [WORK]}
FAILED: dict[str, Any] = {"groups": [GROUP], "events": {"total": 1, "totalIsLowerBound": False, "items": [EVENT]}}


def operate(api: PlayedApi, *arguments: str) -> int:
    """The exit code of the command with an API that is played."""

    @contextmanager
    def open_session(_options: Namespace, ended: str) -> Iterator[Any]:
        yield SimpleNamespace(api=api)

    options = build_parser().parse_args(["operations", *arguments])
    return run(options, cast(Context, SimpleNamespace(open=open_session)))


def test_nothing_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert operate(PlayedApi(lambda *_: NOTHING)) == DONE
    assert capsys.readouterr().out == "Nothing runs, nothing waits, nothing failed.\n"


def test_failures_are_rows_and_an_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert operate(PlayedApi(lambda *_: FAILED)) == REJECTED
    printed = capsys.readouterr().out
    assert all(text in printed for text in ("needs attention", "acme", "import 12", "991", "There are more of kind"))
    assert "\u202e" not in printed
    assert operate(PlayedApi(lambda *_: FAILED), "--json") == REJECTED
    found = json.loads(capsys.readouterr().out)
    assert (found["groups"][0]["total_is_lower_bound"], found["events"]["items"][0]["event_type"]) == (
        True,
        "import.completed",
    )


def test_a_retry_of_all_repeats_until_none_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    left = iter([100, 1, 0])
    api = PlayedApi(lambda *_: {"retried": 1_000, "left": next(left), "leftIsLowerBound": False})
    assert operate(api, "--retry") == DONE
    assert [path for _, path, _ in api.requests] == ["/operations/events/retry"] * 3
    assert capsys.readouterr().out == "3,000 events published again; 0 left.\n"


def test_a_retry_that_finds_nothing_ends(capsys: pytest.CaptureFixture[str]) -> None:
    api = PlayedApi(lambda *_: {"retried": 0, "left": 3, "leftIsLowerBound": False})
    assert operate(api, "--retry", "--json") == REJECTED
    assert json.loads(capsys.readouterr().out) == {"retried": 0, "left": 3, "left_is_lower_bound": False}
    assert len(api.requests) == 1
    assert operate(api, "--retry", "991") == DONE
    assert api.requests[-1][1] == "/operations/events/991/retry"
