"""What the command understands, waits for and says."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from local import cli, uploads
from local.errors import ImportStalledError, UsageError
from local.import_states import ImportState
from local.invocation import InvocationFailed
from local.options import import_options
from local.progress import ProgressDisplay
from local.reports import Reports
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


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["import"],
        ["import", "nosuch.dat", "--case", "a"],
        ["import", ".", "--case", "a"],
        ["import", __file__],
        ["import", __file__, "--case", "a/b"],
        ["import", __file__, "--case", " "],
        ["import", __file__, "--case", ".."],
        ["import", __file__, "--case", "a", "--tenant", ""],
        ["import", __file__, "--case", "a", "--workers", "0"],
        ["import", __file__, "--case", "a", "--workers", "many"],
        ["import", __file__, "--case", "a", "--delimiter", "nonsense"],
        ["import", __file__, "--case", "a", "--encoding", "klingon"],
        ["import", __file__, "--case", "a", "--mapping", "nosuch.json"],
        ["export"],
        ["serve", "--port", "65536"],
        ["serve", "--port", "http"],
        ["serve", "--workers", "0"],
        ["token", "--tenant", "acme"],
        ["token", "--tenant", "a/b", "--user", "ada"],
        ["token", "--tenant", "acme", "--user", " "],
    ],
)
def test_wrong_usage_exits_with_2_and_says_so_on_standard_error(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: Any = cli.main(arguments)
    except SystemExit as left:
        code = left.code
    said = capsys.readouterr()
    assert code == 2
    assert "error:" in said.err
    assert said.out == ""


@pytest.mark.parametrize("url", ["nonsense", "mysql+pymysql://root@h:1/", "mysql://root@h:1/db", "sqlite:///x"])
def test_a_database_url_that_cannot_be_used_is_wrong_usage(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    assert cli.main(["database-url"]) == 2
    assert "mysql+pymysql://" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["import", "--help"]])
def test_help_teaches_by_example(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    assert left.value.code == 0
    assert "exhibit-ingest import production.dat --case" in capsys.readouterr().out


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
