"""What the command waits for and tells programs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from pymysql import OperationalError
from rich.console import Console

from exhibit_ingest.cli import main
from exhibit_ingest.importing.display import ProgressDisplay
from exhibit_ingest.uploads.protocols import Progress
from local.command.serve import print_unfinished
from local.command.unfinished import list_unfinished
from local.command.workspace import Workspace
from local.services import disk_space
from local.services.state_lock import lock_state_directory
from tests.unit.exhibit_ingest.import_states import state


def test_a_program_gets_its_json_also_while_another_command_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with lock_state_directory(tmp_path):
        assert main.main(["import", __file__, "--case", "a", "--json"], Workspace(tmp_path)) == 1
    [entry] = json.loads(capsys.readouterr().out)["imports"]
    assert "another exhibit-ingest command" in entry["error"]


def test_a_full_disk_ends_the_command_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "MIN_FREE_BYTES", 2**70)
    assert main.main(["import", __file__, "--case", "a"], Workspace(tmp_path / "state")) == 1
    assert f"the disk of {tmp_path / 'state'} is full" in capsys.readouterr().err
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("answer", "is_deleted"), [(None, False), ("", False), ("n", False), ("y", True), ("Yes", True)]
)
def test_reset_deletes_what_it_shows_after_a_yes(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: str | None,
    is_deleted: bool,
) -> None:
    (tmp_path / "reports" / "7").mkdir(parents=True)
    (tmp_path / "reports" / "7" / "report.csv").write_bytes(b"x" * 3_000_000)
    monkeypatch.setattr("sys.stdin.isatty", lambda: answer is not None)
    monkeypatch.setattr("builtins.input", lambda prompt: answer)
    # Where no user can answer, a script has to say it.
    assert main.main(["reset"], Workspace(tmp_path)) == (2 if answer is None else 0)
    said = capsys.readouterr()
    assert str(tmp_path / "reports") in said.out
    assert "3 MB" in said.out
    assert (tmp_path / "reports").exists() is (answer not in ("y", "Yes"))
    assert main.main(["reset", "--yes"], Workspace(tmp_path)) == 0
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_progress_is_shown_with_the_time_that_is_left(is_terminal: bool) -> None:
    output, now = io.StringIO(), [0.0]
    with ProgressDisplay(Console(file=output, force_terminal=is_terminal, width=200), lambda: now[0]) as display:
        line = display.add_file("a.dat")
        for now[0] in range(25):
            line.show(state(rows_seen=4_800, imported=100 * int(now[0])))
    console_text = output.getvalue()
    assert (
        "2,400/4,800 rows  100/s  0 rejected  0 warnings  24 s left" in console_text
        if is_terminal
        else console_text
        == (
            "a.dat: 1,000/4,800 rows  100/s  0 rejected  0 warnings  38 s left\n"
            "a.dat: 2,000/4,800 rows  100/s  0 rejected  0 warnings  28 s left\n"
        )
    )


@pytest.mark.parametrize(("is_check", "what"), [(False, "waiting for the undo of import 54"), (True, "splitting")])
def test_an_import_says_which_undo_it_waits_for(is_check: bool, what: str) -> None:
    output, now = io.StringIO(), [0.0]
    with ProgressDisplay(Console(file=output, width=200), lambda: now[0]) as display:
        line = display.add_file("a.dat", is_check=is_check)
        now[0] = 11.0
        line.show(state(status="splitting", waits_for_undo_of=54))
    assert output.getvalue() == f"a.dat: {what}\n"


def test_an_import_to_which_no_row_is_added_says_what_it_may_wait_for() -> None:
    output, now = io.StringIO(), [0.0]
    with ProgressDisplay(Console(file=output, width=200), lambda: now[0]) as display:
        line = display.add_file("a.dat")
        for now[0], imported in ((11.0, 0), (22.0, 0), (33.0, 20), (44.0, 20)):
            line.show(state(rows_seen=50 if now[0] > 11 else 0, imported=imported))
    waits = ["waiting for" in printed for printed in output.getvalue().splitlines()]
    assert waits == [False, False, False, False]
    line.show(state(status="running", rows_seen=50, imported=20))
    now[0] = 55.0
    line.show(state(status="running", rows_seen=50, imported=20))
    assert (
        output.getvalue()
        .splitlines()[-1]
        .endswith(
            "no new rows for 22 s: probably waiting for another import or request that is changing these documents"
            "  82 s left"
        )
    )


@pytest.mark.parametrize(
    ("options", "advice"),
    [([], "run it in a terminal, or confirm it with --yes"), (["--json"], "does not ask: confirm it with --yes")],
)
def test_an_undo_that_no_one_can_confirm_is_wrong_usage(
    options: list[str], advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: "--json" in options)
    assert main.main(["undo", "7", *options], Workspace(tmp_path / "state")) == 2
    printed = capsys.readouterr()
    assert advice in printed.out + printed.err
    assert not (tmp_path / "state").exists()


def test_a_database_that_does_not_answer_does_not_keep_serve_from_ending(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = "mysql+pymysql://root@127.0.0.1:1/nothing"
    with pytest.raises(OperationalError):
        list_unfinished(nowhere, 10)
    print_unfinished(nowhere)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (
            Progress("moving", 0, 1, 12_300_000, 40_000_000, 5_000_000.0, 6, 0, 0),
            "uploading 12.3/40.0 MB  5.0 MB/s  6 s left",
        ),
        (Progress("moving", 0, 1, 0, 100, None, None, 0, 0), "uploading 0.0/0.0 MB"),
        (Progress("moving", 12, 3_000, 0, 100, None, None, 0, 0), "uploading 12/3,000 files, 0.0/0.0 MB"),
        (Progress("offline", 0, 1, 0, 100, None, None, 1, 0, "No connection for 9 s"), "No connection for 9 s"),
    ],
)
def test_an_upload_says_how_far_it_is_or_what_it_waits_for(progress: Progress, text: str) -> None:
    output, now = io.StringIO(), [0.0]
    with ProgressDisplay(Console(file=output, width=200), lambda: now[0]) as display:
        line = display.add_file("a.dat")
        now[0] = 11.0
        line.show_upload(progress)
    assert output.getvalue() == f"a.dat: {text}\n"


def test_a_failure_of_a_function_is_printed_once() -> None:
    output = io.StringIO()
    with ProgressDisplay(Console(file=output, width=200)) as display:
        for number in (1, 2):
            display.show_failures([f"ImportChunk failed: Timeout: after {number} s (log: x)", "Other failed: Error: a"])
    assert output.getvalue().splitlines() == [
        "Retrying: ImportChunk failed: Timeout: after 1 s (log: x)",
        "Retrying: Other failed: Error: a",
    ]
