"""What the command waits for and says."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy.exc import OperationalError

from local import cli, commands, uploads
from local.errors import ImportStalledError, UsageError
from local.import_states import ImportState, Unfinished, unfinished
from local.invocation import InvocationFailed
from local.lock import exclusive
from local.options import import_options
from local.progress import ProgressDisplay
from local.reports import Reports
from local.serve import said_of, tell_unfinished
from local.summary import Outcome, as_json, print_table


def state(**changes: Any) -> ImportState:
    counts: dict[str, Any] = dict.fromkeys(
        ("rows_seen", "imported", "unchanged", "updated", "rejected", "warnings", "custodians_created", "tags_created"),
        0,
    )
    values: dict[str, Any] = counts | {
        "id": 7,
        "status": "running",
        "failure_code": None,
        "failure_message": None,
        "encoding": "utf-8",
        "delimiter": "\x14",
        "qualifier": "þ",
        "generation": 1,
        "reports_generation": 0,
    }
    return ImportState(**(values | changes))


def test_an_import_while_another_command_runs_prints_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with exclusive(tmp_path):
        assert cli.main(["import", __file__, "--case", "a"], commands.Place(tmp_path)) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("exhibit-ingest: error: another exhibit-ingest command")


def test_a_program_gets_its_json_even_then(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with exclusive(tmp_path):
        assert cli.main(["import", __file__, "--case", "a", "--json"], commands.Place(tmp_path)) == 1
    [entry] = json.loads(capsys.readouterr().out)["imports"]
    assert "another exhibit-ingest command" in entry["error"]


def test_imports_that_have_not_ended_are_named_with_what_to_do() -> None:
    said = said_of([Unfinished(7, "acme", "running", 3), Unfinished(9, "zeta", "splitting", 3)]).splitlines()
    assert said[0] == "3 imports have not finished, and their uploads end with this:"
    assert said[1:4] == ["  7 (running, tenant acme)", "  9 (splitting, tenant zeta)", "  and 1 more"]
    assert "cancel" in said[4]


def test_a_database_that_does_not_answer_does_not_keep_serve_from_ending(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = "mysql+pymysql://root@127.0.0.1:1/nothing"
    with pytest.raises(OperationalError):
        unfinished(nowhere, 10)
    tell_unfinished(nowhere)
    assert capsys.readouterr().err == ""


def test_a_mapping_may_be_columns_alone_and_arguments_win(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.json"
    mapping.write_text('{"columns": {"1": "control_number"}, "encoding": "cp1252"}')
    assert import_options(mapping, encoding="utf-8", delimiter=None) == {
        "columns": {"1": "control_number"},
        "encoding": "utf-8",
    }


@pytest.mark.parametrize("text", ["{", "[]", '{"colums": {}}', '{"columns": {"1": "no such field"}}', b"\xff\xff"])
def test_a_mapping_that_the_importer_would_refuse_is_wrong_usage(tmp_path: Path, text: str | bytes) -> None:
    mapping = tmp_path / "mapping.json"
    mapping.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError):
        import_options(mapping)


class Place:
    """A stack that is idle or not, on a clock that moves a second at every pause."""

    log_directory = Path("logs")

    def __init__(self, *, idle: bool) -> None:
        self.idle = idle
        self.now = 0.0

    def is_idle(self) -> bool:
        return self.idle

    def pause(self, seconds: float) -> None:
        self.now += 1.0

    def clock(self) -> float:
        return self.now


def test_waiting_ends_when_the_reports_are_written() -> None:
    place, shown = Place(idle=False), list[ImportState | None]()
    done = state(status="completed", reports_generation=1)
    looks = iter([None, state(status="splitting"), state(), state(status="completed"), done])
    assert uploads.wait(place, lambda: next(looks), shown.append, place.clock) == done
    assert len(shown) == 5


def test_waiting_ends_when_the_import_failed() -> None:
    place = Place(idle=True)
    failed = state(status="failed")
    assert uploads.wait(place, lambda: failed, lambda state: None, place.clock) == failed


def test_an_import_that_nothing_carries_on_is_given_up() -> None:
    place = Place(idle=True)
    with pytest.raises(ImportStalledError, match=r"running.*logs"):
        uploads.wait(place, state, lambda state: None, place.clock)
    assert place.now == pytest.approx(uploads.STALLED_SECONDS, abs=2)


def test_an_import_that_waits_for_another_attempt_is_not_given_up() -> None:
    place = Place(idle=False)

    def looks() -> Iterator[ImportState]:
        yield from (state() for _ in range(1000))
        yield state(status="completed_with_rejections", reports_generation=1)

    following = looks()
    assert uploads.wait(place, lambda: next(following), lambda state: None, place.clock).finished


OUTCOMES = [
    Outcome(
        Path("a.dat"),
        state(status="completed_with_rejections", rows_seen=3, imported=2, rejected=1, custodians_created=1),
        None,
        1.23456,
        Reports(Path("/r/rejected_rows.dat"), Path("/r/report.csv"), options=Path("/r/options.json")),
    ),
    Outcome(Path("b.dat"), None, "the file is empty", 0.1),
]


def test_the_json_has_the_keys_that_programs_rely_on() -> None:
    first, second = json.loads(as_json(OUTCOMES))["imports"]
    assert first == {
        "file": "a.dat",
        "status": "completed_with_rejections",
        "error": None,
        "rows_seen": 3,
        "imported": 2,
        "unchanged": 0,
        "updated": 0,
        "rejected": 1,
        "warnings": 0,
        "custodians_created": 1,
        "tags_created": 0,
        "encoding": "utf-8",
        "delimiter": "\x14",
        "qualifier": "þ",
        "seconds": 1.235,
        "reports": {"rejected_rows": "/r/rejected_rows.dat", "report": "/r/report.csv", "warnings": None},
    }
    assert second.keys() == first.keys()
    assert (second["status"], second["error"], second["rows_seen"]) == ("failed", "the file is empty", 0)


def test_a_cancelled_import_counts_as_failed() -> None:
    assert Outcome(Path("a"), state(status="cancelled"), "the import was cancelled", 1.0).status == "failed"


def test_the_table_names_outcome_errors_and_report_files() -> None:
    output = io.StringIO()
    print_table(OUTCOMES, output)
    text = output.getvalue()
    assert "completed with rejections" in text
    assert "b.dat: error: the file is empty" in text
    assert "a.dat: rejected rows: /r/rejected_rows.dat" in text
    assert "--mapping /r/options.json" in text


def test_without_a_terminal_only_failures_are_told_and_each_kind_once() -> None:
    output = io.StringIO()
    failure = InvocationFailed("Worker", "ValueError", "boom", Path("worker.log"))
    with ProgressDisplay(Console(file=output)) as display:
        display.note("starting")
        line = display.file("a.dat")
        line.show(None)
        line.show(state(rows_seen=10, imported=5))
        display.failures([failure, failure])
        display.failures([failure])
    assert output.getvalue().strip() == "will be tried again: Worker failed: ValueError: boom (log: worker.log)"


def test_a_terminal_shows_rows_rejected_and_warnings() -> None:
    output = io.StringIO()
    with ProgressDisplay(Console(file=output, force_terminal=True, width=140)) as display:
        display.file("a.dat").show(state(rows_seen=2000, imported=1000, rejected=5, warnings=2))
    assert "1,005/2,000 rows" in output.getvalue()
    assert "5 rejected  2 warnings" in output.getvalue()
