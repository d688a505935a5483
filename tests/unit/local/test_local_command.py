"""What the command waits for and says."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymysql import OperationalError
from rich.console import Console

from local.cli import main, upload_and_wait
from local.cli.import_options import import_options
from local.cli.import_status import ImportProgress, Unfinished, list_unfinished
from local.cli.progress import ProgressDisplay
from local.cli.report_download import Reports
from local.cli.serve import describe_unfinished, print_unfinished
from local.cli.summary import ImportResult, format_json, print_table
from local.cli.workspace import Workspace
from local.errors import ImportStalledError, UsageError
from local.lambda_runtime.invocation import InvocationFailedError
from local.services.state_lock import lock_state_directory


def state(**changes: Any) -> ImportProgress:
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
    return ImportProgress(**(values | changes))


def test_an_import_while_another_command_runs_prints_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with lock_state_directory(tmp_path):
        assert main.main(["import", __file__, "--case", "a"], Workspace(tmp_path)) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("exhibit-ingest: error: another exhibit-ingest command")


def test_a_program_gets_its_json_even_then(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with lock_state_directory(tmp_path):
        assert main.main(["import", __file__, "--case", "a", "--json"], Workspace(tmp_path)) == 1
    [entry] = json.loads(capsys.readouterr().out)["imports"]
    assert "another exhibit-ingest command" in entry["error"]


def test_imports_that_have_not_ended_are_named_with_what_to_do() -> None:
    unfinished = [Unfinished(7, "acme", "running", 3), Unfinished(9, "zeta", "splitting", 3)]
    lines = describe_unfinished(unfinished).splitlines()
    assert lines[0] == "3 imports have not finished, and their uploads are lost now:"
    assert lines[1:4] == ["  7 (running, tenant acme)", "  9 (splitting, tenant zeta)", "  and 1 more"]
    assert "cancel" in lines[4]


def test_a_database_that_does_not_answer_does_not_keep_serve_from_ending(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = "mysql+pymysql://root@127.0.0.1:1/nothing"
    with pytest.raises(OperationalError):
        list_unfinished(nowhere, 10)
    print_unfinished(nowhere)
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


class FakeStack:
    """A stack that is idle or not, on a clock that moves a second at every wait_for_activity."""

    log_directory = Path("logs")

    def __init__(self, *, idle: bool) -> None:
        self.idle = idle
        self.now = 0.0

    def is_idle(self) -> bool:
        return self.idle

    def wait_for_activity(self, seconds: float) -> None:
        self.now += 1.0

    def clock(self) -> float:
        return self.now


def test_waiting_ends_when_the_reports_are_written() -> None:
    fake_stack, shown = FakeStack(idle=False), list[ImportProgress | None]()
    done = state(status="completed", reports_generation=1)
    looks = iter([None, state(status="splitting"), state(), state(status="completed"), done])
    assert upload_and_wait.wait_for_import(fake_stack, lambda: next(looks), shown.append, fake_stack.clock) == done
    assert len(shown) == 5


def test_waiting_ends_when_the_import_failed() -> None:
    fake_stack = FakeStack(idle=True)
    failed = state(status="failed")
    assert upload_and_wait.wait_for_import(fake_stack, lambda: failed, lambda state: None, fake_stack.clock) == failed


def test_an_import_that_nothing_carries_on_is_given_up() -> None:
    fake_stack = FakeStack(idle=True)
    with pytest.raises(ImportStalledError, match=r"running.*logs"):
        upload_and_wait.wait_for_import(fake_stack, state, lambda state: None, fake_stack.clock)
    assert fake_stack.now == pytest.approx(upload_and_wait.STALLED_SECONDS, abs=2)


def test_an_import_that_waits_for_another_attempt_is_not_given_up() -> None:
    fake_stack = FakeStack(idle=False)

    def looks() -> Iterator[ImportProgress]:
        yield from (state() for _ in range(1000))
        yield state(status="completed_with_rejections", reports_generation=1)

    following = looks()
    assert upload_and_wait.wait_for_import(
        fake_stack, lambda: next(following), lambda state: None, fake_stack.clock
    ).finished


OUTCOMES = [
    ImportResult(
        Path("a.dat"),
        state(status="completed_with_rejections", rows_seen=3, imported=2, rejected=1, custodians_created=1),
        None,
        1.23456,
        Reports(Path("/r/rejected_rows.dat"), Path("/r/report.csv"), options=Path("/r/options.json")),
    ),
    ImportResult(Path("b.dat"), None, "the file is empty", 0.1),
]


def test_the_json_has_the_keys_that_programs_rely_on() -> None:
    first, second = json.loads(format_json(OUTCOMES))["imports"]
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
    assert ImportResult(Path("a"), state(status="cancelled"), "the import was cancelled", 1.0).status == "failed"


def test_the_table_names_outcome_errors_and_report_files() -> None:
    output = io.StringIO()
    print_table(OUTCOMES, output)
    text = output.getvalue()
    assert "completed with rejections" in text
    assert "b.dat: error: the file is empty" in text
    assert "a.dat: rejected rows: /r/rejected_rows.dat" in text
    assert "--mapping /r/options.json" in text


def test_without_a_terminal_only_failures_are_printed_each_kind_once() -> None:
    output = io.StringIO()
    failure = InvocationFailedError("Worker", "ValueError", "boom", Path("worker.log"))
    with ProgressDisplay(Console(file=output)) as display:
        display.note("starting")
        line = display.add_file("a.dat")
        line.show(None)
        line.show(state(rows_seen=10, imported=5))
        display.show_failures([failure, failure])
        display.show_failures([failure])
    assert output.getvalue().strip() == "Retrying: Worker failed: ValueError: boom (log: worker.log)"


def test_a_terminal_shows_rows_rejected_and_warnings() -> None:
    output = io.StringIO()
    with ProgressDisplay(Console(file=output, force_terminal=True, width=140)) as display:
        display.add_file("a.dat").show(state(rows_seen=2000, imported=1000, rejected=5, warnings=2))
    assert "1,005/2,000 rows" in output.getvalue()
    assert "5 rejected  2 warnings" in output.getvalue()
