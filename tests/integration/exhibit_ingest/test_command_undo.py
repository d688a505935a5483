"""`exhibit-ingest undo`, in a stack of its own: what it does, prints and returns."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from exhibit_ingest.cli.main import main
from exhibit_ingest.cli.workspace import Workspace
from tests.support.exhibits.stored_cases import Cases

FIRST = "Control Number,Title,Tags\r\nA-1,one,hot\r\nA-2,two,\r\n"
SECOND = "Control Number,Title\r\nA-1,uno\r\n"


@dataclass
class Command:
    """Runs commands on the database of the test."""

    workspace: Workspace
    capsys: pytest.CaptureFixture[str]
    errors: str = ""

    def run(self, *arguments: str) -> tuple[int, str]:
        """Its exit code and what it printed."""
        code = main(arguments, self.workspace)
        printed = self.capsys.readouterr()
        self.errors = printed.err
        return code, printed.out or printed.err

    def load(self, text: str, *options: str) -> int:
        """Import a file into the case; returns the import's number."""
        file = self.workspace.state_dir / "load.csv"
        file.write_text(text)
        code, printed = self.run("import", str(file), "--case", "acme", "--json", *options)
        assert code == 0, printed
        return int(json.loads(printed)["imports"][0]["import_id"])


@pytest.fixture
def command(cases: Cases, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    url = cases.database.url.render_as_string(hide_password=False)
    return Command(Workspace(tmp_path, database_url=url), capsys)


def interrupt_undo(cases: Cases, import_id: int) -> None:
    """The undo is requested, and its message lost with the stack."""
    cases.database.query(
        "INSERT INTO import_undos (import_id, undo_no, status, dry_run, user_id, status_before) "
        "VALUES (:id, 1, 'requested', 0, 'u', 'completed')",
        id=import_id,
    )
    cases.database.query("UPDATE imports SET status = 'undoing' WHERE id = :id", id=import_id)


@pytest.mark.slow
def test_commands_resume_undos_that_were_interrupted_and_wait_for_those_of_their_case(
    cases: Cases, command: Command
) -> None:
    first, second = command.load(FIRST), command.load("Control Number\r\nB-1\r\n")
    interrupt_undo(cases, first)
    code, printed = command.run("undo", str(second), "--yes")
    assert (code, f"Import {second} (load.csv, case 'acme') is undone: 1 document removed" in printed) == (0, True)
    assert f"The undo of import {first} was interrupted; it is continued" in command.errors
    third = command.load(FIRST)
    interrupt_undo(cases, third)
    # Rows that the undo has not removed yet would be unchanged.
    fourth = command.load(FIRST)
    assert f"The undo of import {third} was interrupted; it is continued" in command.errors
    found = cases.database.query("SELECT id, status, imported, unchanged FROM imports WHERE id >= :id", id=third)
    assert [tuple(row) for row in found] == [(third, "undone", 2, 0), (fourth, "completed", 2, 0)]


@pytest.mark.slow
def test_an_undo_asks_and_nothing_is_undone_after_a_no(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    number = command.load(FIRST)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: "n")
    assert command.run("undo", str(number)) == (1, "Nothing was undone.\n")
    assert f"Import {number} (load.csv, case 'acme')" in command.errors
    assert "2 documents created, 0 changed.\nUndo it? [y/N] " in command.errors
    monkeypatch.setattr("builtins.input", lambda prompt: "y")
    code, printed = command.run("undo", str(number))
    assert (code, "is undone: 2 documents removed" in printed) == (0, True)


@pytest.mark.slow
def test_a_load_is_undone_from_the_command_line(command: Command) -> None:
    run, load = command.run, command.load
    first, second = load(FIRST), load(SECOND, "--mode", "overlay")
    code, printed = run("undo", str(first), "--dry-run", "--json")
    expected = json.loads(printed)
    assert (code, expected["status"], expected["removed"], expected["kept"]) == (3, "undone_with_conflicts", 1, 1)
    assert expected["reasons"] == {"CHANGED_SINCE": 1}
    with Path(expected["conflicts"]).open(encoding="utf-8-sig", newline="") as kept:
        [row] = csv.DictReader(kept)
    assert (row["line"], row["id"], row["code"], row["by_import"]) == ("2", "A-1", "CHANGED_SINCE", str(second))
    code, printed = run("undo", str(second), "--yes")
    name = f"Import {second} (load.csv, case 'acme')"
    assert (code, f"{name} is undone: 0 documents removed, 1 restored, 0 kept" in printed) == (0, True)
    code, printed = run("undo", str(first), "--json", "--yes")
    undone = json.loads(printed)
    assert (code, undone["status"], undone["removed"], undone["conflicts"]) == (0, "undone", 2, None)
    code, printed = run("undo", str(second + 1), "--yes")
    assert (code, f"has no import {second + 1}; the imports of a case are listed by: " in printed) == (2, True)
    code, printed = run("undo", str(first), "--dry-run")
    assert (code, "was undone before: 2 documents removed" in printed) == (0, True)
    assert run("documents", "--case", "acme", "--json")[1].count("A-") == 0
    load(FIRST)
    assert run("check", str(command.workspace.state_dir / "load.csv"), "--case", "acme")[0] == 0
    code, printed = run("undo", str(second + 2), "--yes")
    assert (code, "imported nothing; there is nothing to undo" in printed) == (0, True)
