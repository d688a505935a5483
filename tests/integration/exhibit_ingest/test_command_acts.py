"""`exhibit-ingest cancel`, `retry` and `profiles`: what they do, print and return."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from exhibit_ingest.program import format_command
from local.command.workspace import Workspace
from tests.support.servers.command_stack import Commands, Terminal, run_stack

pytestmark = pytest.mark.slow

FILE = "Control Number,Title\r\nA-1,one\r\nA-2,two\r\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, schema_url: URL) -> Iterator[Workspace]:
    with run_stack(tmp_path_factory.mktemp("state"), schema_url, "acts") as workspace:
        yield workspace


@pytest.fixture
def commands(running: Workspace, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(running, capsys)


def test_an_import_that_runs_is_cancelled_and_a_retry_ends_it(commands: Commands) -> None:
    number = commands.load(FILE, "cancelled")
    # As if it had been stopped before its last step.
    commands.change("UPDATE imports SET status = 'running', reports_generation = 0 WHERE id = :id", id=number)
    code, printed = commands.read("cancel", number, "--no-wait")
    assert (code, printed["import"], printed["status"], printed["error"]) == (0, number, "cancelled", None)
    code, text = commands.run("cancel", number)
    said = f"Import {number} (load.csv, case 'cancelled') is cancelled. 2 of 2 rows are in."
    assert (code, said in text, f"To go on with it: {format_command('retry', str(number))}" in text) == (0, True, True)
    code, printed = commands.read("retry", number)
    assert (code, printed["status"], printed["rows_seen"], printed["imported"]) == (0, "completed", 2, 2)
    assert printed["seconds"] > 0


def test_a_file_that_was_checked_is_run_once_its_findings_are_accepted(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "checked.csv"
    file.write_text("Control Number,Title\r\nA-1,one\r\n,two\r\n")
    code, printed = commands.read("check", file, "--case", "checked")
    number = printed["checks"][0]["import_id"]
    code, printed = commands.read("run", number)
    assert (code, "cannot be run: " in printed["error"], "--accept-rejections" in printed["error"]) == (1, True, True)
    code, printed = commands.read("run", number, "--accept-rejections")
    assert (code, printed["status"], printed["imported"], printed["rejected"]) == (3, "completed_with_rejections", 1, 1)
    code, printed = commands.read("run", number, "--accept-rejections")
    assert (code, "cannot be run: The import has the status" in printed["error"]) == (1, True)


def test_a_file_that_is_held_is_run(commands: Commands) -> None:
    number = commands.load(FILE, "held")
    commands.change("UPDATE imports SET status = 'uploaded', wanted = 'hold' WHERE id = :id", id=number)
    _, text = commands.run("retry", number)
    assert f"To import its file: {format_command('run', str(number))}" in commands.errors + text


def test_a_status_that_does_not_allow_it_is_named_with_what_can_be_done(commands: Commands) -> None:
    number = commands.load(FILE, "completed")
    code, printed = commands.read("cancel", number)
    assert (code, printed["import"]) == (1, number)
    assert printed["error"].startswith(
        f"Import {number} (load.csv, case 'completed') cannot be cancelled: The import has the status completed"
    )
    assert printed["error"].endswith(f"To take back what it did: {format_command('undo', str(number))}.")
    code, _ = commands.run("retry", number)
    assert (code, "cannot be retried: Every row was imported; there is nothing to retry." in commands.errors) == (
        1,
        True,
    )


def test_rejected_rows_are_not_retried_and_the_command_that_corrects_them_is_named(commands: Commands) -> None:
    number = commands.load("Control Number,Title\r\nA-1,one\r\n,two\r\n", "rejected", code=3)
    code, printed = commands.read("retry", number, "--tenant", "local")
    assert (code, "only rows were rejected" in printed["error"]) == (1, True)
    assert f"rejected rows: {format_command('rejections', str(number))}." in printed["error"]
    code, printed = commands.read("retry", number, "--tenant", "other")
    listed = format_command("imports", "--case", "NAME", "--tenant", "other")
    assert (code, printed["error"]) == (
        2,
        f"tenant 'other' has no import {number}; the imports of a case are listed by: {listed}",
    )


def announce(commands: Commands) -> int:
    """An import that awaits its file."""
    number = commands.load(FILE, "awaited")
    commands.change("UPDATE imports SET status = 'awaiting_upload', phase = 'import' WHERE id = :id", id=number)
    return number


def test_an_upload_is_ended_only_after_a_question(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    number = announce(commands)
    code, printed = commands.read("cancel", number)
    assert (code, "does not ask: confirm it with --yes" in printed["error"]) == (2, True)
    monkeypatch.setattr("sys.stdin", Terminal("n"))
    assert commands.run("cancel", number)[0] == 1
    assert "awaits its file. What was sent of its file is then lost" in commands.errors
    assert "Nothing was cancelled." in commands.errors
    monkeypatch.setattr("sys.stdin", Terminal("y"))
    assert commands.run("cancel", number)[0] == 0


def test_profiles_are_saved_listed_shown_copied_and_deleted_by_version(commands: Commands) -> None:
    _, text = commands.run("profiles", "--tenant", "other")
    save = format_command("profiles", "save", "NAME", "--import", "N", "--tenant", "other")
    assert text == f"There is no profile yet. To save one: {save}\n"
    number = commands.load("Doc,Title\r\nA-1,one\r\n", "profiles", "--mapping", write_mapping(commands))
    code, printed = commands.read("profiles", "save", "Vendor A", "--import", number)
    assert (code, printed["profile"]["version"]) == (0, 1)
    assert printed["profile"]["options"]["columns"]["Doc"] == "control_number"
    code, printed = commands.read("profiles", "save", "Vendor A", "--import", number)
    assert (code, "does not ask: confirm it with --yes" in printed["error"]) == (2, True)
    assert commands.read("profiles", "save", "Vendor A", "--import", number, "--yes")[1]["profile"]["version"] == 2
    code, printed = commands.read("profiles", "copy", "Vendor A", "Vendor B")
    assert (code, printed["profile"]["name"], printed["profile"]["version"]) == (0, "Vendor B", 1)
    _, printed = commands.read("profiles")
    found = [(each["name"], each["version"], each["columns"]) for each in printed["profiles"]]
    assert found == [("Vendor A", 2, 2), ("Vendor B", 1, 2)]
    _, text = commands.run("profiles", "show", "Vendor A")
    assert text.startswith("Vendor A, version 2, changed last by ")
    assert "column Doc" in text
    code, text = commands.run("profiles", "delete", "Vendor B", "--yes")
    assert (code, text) == (0, "The profile is deleted: 'Vendor B', version 1.\n")
    code, printed = commands.read("profiles", "show", "Vendor B")
    listed = f"there is no profile 'Vendor B'; the profiles are listed by: {format_command('profiles')}"
    assert (code, printed) == (2, {"profile": None, "error": listed})


def write_mapping(commands: Commands) -> str:
    """The path of a file of options."""
    file = commands.workspace.state_dir / "mapping.json"
    file.write_text('{"columns": {"Doc": "control_number"}}')
    return str(file)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["show"], "profiles show needs NAME"),
        (["copy", "a"], "profiles copy needs NEW_NAME"),
        (["save", "a"], "profiles save needs --import IMPORT"),
        (["delete", "a", "b"], "profiles delete takes no NEW_NAME"),
        (["delete", "a", "--import", "1"], "profiles delete takes no --import IMPORT"),
    ],
)
def test_an_action_without_what_it_needs_is_wrong_usage(commands: Commands, arguments: list[str], reason: str) -> None:
    code, printed = commands.read("profiles", *arguments)
    assert (code, printed) == (2, {"profile": None, "error": reason})


def test_a_profile_that_changed_after_the_question_stays(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    number = commands.load(FILE, "raced")
    assert commands.run("profiles", "save", "Raced", "--import", number)[0] == 0

    class Slow(Terminal):
        def readline(self) -> str:
            commands.change("UPDATE import_profiles SET version = version + 1 WHERE name = 'Raced'")
            return super().readline()

    monkeypatch.setattr("sys.stdin", Slow("y"))
    code, _ = commands.run("profiles", "delete", "Raced")
    assert (code, "It was changed since it was read." in commands.errors) == (1, True)
    assert "Profile 'Raced' has version 1, changed last by " in commands.errors
    assert [each["version"] for each in commands.read("profiles")[1]["profiles"] if each["name"] == "Raced"] == [2]
