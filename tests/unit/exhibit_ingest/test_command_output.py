"""What the command waits for and tells programs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pymysql import OperationalError
from rich.console import Console

from exhibit_ingest.cli import main, report_download, upload_and_wait
from exhibit_ingest.cli.import_files import import_files
from exhibit_ingest.cli.import_journal import RunningImport
from exhibit_ingest.cli.import_options import import_options
from exhibit_ingest.cli.import_status import ImportProgress, list_unfinished
from exhibit_ingest.cli.progress import ProgressDisplay
from exhibit_ingest.cli.serve import print_unfinished
from exhibit_ingest.cli.summary import ImportResult
from exhibit_ingest.cli.workspace import Workspace
from exhibit_ingest.import_request import ImportRequest
from local.errors import ImportRefusedError, ImportStalledError, UsageError
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


def test_without_serve_there_is_no_volume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["volume", "1", str(tmp_path / "volume")], Workspace(tmp_path)) == 1
    assert "in the memory of `serve`, which is not running" in capsys.readouterr().err


def test_a_full_disk_ends_the_command_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "MIN_FREE_BYTES", 2**70)
    assert main.main(["import", __file__, "--case", "a"], Workspace(tmp_path / "state")) == 1
    assert f"the disk of {tmp_path / 'state'} is full" in capsys.readouterr().out
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
            line.show(state(status="running", rows_seen=50, imported=imported) if now[0] > 11 else None)
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


def test_an_import_that_nothing_carries_on_is_given_up() -> None:
    fake_stack = FakeStack(idle=True)
    with pytest.raises(ImportStalledError, match=r"running.*logs"):
        upload_and_wait.wait_for_import(fake_stack, state, lambda state: None, fake_stack.clock)
    assert fake_stack.now == pytest.approx(upload_and_wait.STALLED_SECONDS, abs=2)


def test_an_import_that_no_function_registers_ends_at_once() -> None:
    fake_stack = FakeStack(idle=True)
    with pytest.raises(ImportRefusedError, match=r"refused the upload.*logs"):
        upload_and_wait.wait_for_import(fake_stack, lambda: None, lambda state: None, fake_stack.clock)
    assert fake_stack.now < 3


def test_an_import_that_waits_for_another_attempt_is_not_given_up() -> None:
    fake_stack = FakeStack(idle=False)

    def looks() -> Iterator[ImportProgress]:
        yield from (state() for _ in range(1000))
        yield state(status="completed_with_rejections", reports_generation=1)

    following = looks()
    assert upload_and_wait.wait_for_import(
        fake_stack, lambda: next(following), lambda state: None, fake_stack.clock
    ).finished


class FakeS3:
    """An S3 with one report, whose text is the number of downloads."""

    def __init__(self) -> None:
        self.downloads = 0

    def get_paginator(self, name: str) -> FakeS3:
        return self

    def paginate(self, **arguments: str) -> Iterator[dict[str, Any]]:
        yield {"Contents": [{"Key": f"{arguments['Prefix']}report.csv"}]}

    def download_file(self, bucket: str, key: str, path: str) -> None:
        self.downloads += 1
        Path(path).write_text(str(self.downloads))


def test_the_reports_of_an_import_with_the_same_id_are_kept(tmp_path: Path) -> None:
    stack: Any = SimpleNamespace(s3=FakeS3(), bucket="b", state_dir=tmp_path)
    keys = [upload_and_wait.build_upload_key("local", "Smith v. Jones", Path("a.dat")) for _ in range(2)]
    uploads = [RunningImport("a.dat", "local", "b", key, "private") for key in keys]
    reports = [report_download.download_reports(stack, upload, state()).report for upload in uploads]
    assert [path and path.read_text() for path in reports] == ["1", "2"]
    assert all(path and path.parent.name.startswith("7-") for path in reports)
    # The reports of the same import replace each other.
    assert report_download.download_reports(stack, uploads[0], state()).report == reports[0]


@pytest.mark.parametrize(("rejected", "error", "code"), [(0, None, 0), (1, None, 3), (1, "stalled", 1)])
def test_the_exit_code_tells_rejections_from_failures(
    monkeypatch: pytest.MonkeyPatch, rejected: int, error: str | None, code: int
) -> None:
    result = ImportResult(Path("a.dat"), state(status="completed", rejected=rejected), error, 1.0)
    imports = lambda stack, request, results, reconnect: results.append(result)  # noqa: E731 - a fake of one line
    monkeypatch.setattr("exhibit_ingest.cli.import_session.import_into", imports)
    workspace = SimpleNamespace(connect=lambda workers: io.StringIO())
    assert import_files(workspace, ImportRequest([], "local", "c", {}, None, json=True)) == code  # type: ignore[arg-type]
