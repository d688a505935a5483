"""`exhibit-ingest undo`, in a stack of its own and beside a running one: what it does, prints and returns."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from local.command.workspace import Workspace
from shell.db.ids import INCREMENT
from tests.support.exhibits.stored_cases import Cases
from tests.support.servers.command_stack import Commands, Terminal, run_stack

pytestmark = pytest.mark.slow

FIRST = "Control Number,Title,Tags\r\nA-1,one,hot\r\nA-2,two,\r\n"
SECOND = "Control Number,Title\r\nA-1,uno\r\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, schema_url: URL) -> Iterator[Workspace]:
    with run_stack(tmp_path_factory.mktemp("state"), schema_url, "undo") as workspace:
        yield workspace


@pytest.fixture
def beside(running: Workspace, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(running, capsys)


def interrupt_undo(cases: Cases, import_id: int) -> None:
    """The undo is requested, and its message lost with the stack."""
    cases.database.query(
        "INSERT INTO import_undos (import_id, undo_no, status, dry_run, user_id, status_before) "
        "VALUES (:id, 1, 'requested', 0, 'u', 'completed')",
        id=import_id,
    )
    cases.database.query("UPDATE imports SET status = 'undoing' WHERE id = :id", id=import_id)


def test_commands_resume_undos_that_were_interrupted_and_wait_for_those_of_their_case(
    cases: Cases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = cases.database.url.render_as_string(hide_password=False)
    alone = Commands(Workspace(tmp_path, database_url=url), capsys)
    first, second = alone.load(FIRST, "acme"), alone.load("Control Number\r\nB-1\r\n", "acme")
    interrupt_undo(cases, first)
    code, printed = alone.run("undo", second, "--yes")
    assert (code, f"Import {second} (load.csv, case 'acme') is undone: 1 document removed" in printed) == (0, True)
    assert f"The undo of import {first} was interrupted; it is continued" in alone.errors
    third = alone.load(FIRST, "acme")
    interrupt_undo(cases, third)
    # Rows that the undo has not removed yet would be unchanged.
    fourth = alone.load(FIRST, "acme")
    assert f"The undo of import {third} was interrupted; it is continued" in alone.errors
    found = cases.database.query("SELECT id, status, imported, unchanged FROM imports WHERE id >= :id", id=third)
    assert [tuple(row) for row in found] == [(third, "undone", 2, 0), (fourth, "completed", 2, 0)]


def test_an_undo_asks_and_nothing_is_undone_after_a_no(beside: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    number = beside.load(FIRST, "requested")
    monkeypatch.setattr("sys.stdin", Terminal("n"))
    assert beside.run("undo", number) == (1, "Nothing was undone.\n")
    assert f"Import {number} (load.csv, case 'requested')" in beside.errors
    assert "2 documents created, 0 changed.\nUndo it? [y/N] " in beside.errors
    monkeypatch.setattr("sys.stdin", Terminal("y"))
    code, printed = beside.run("undo", number)
    assert (code, "is undone: 2 documents removed" in printed) == (0, True)


def test_a_load_is_undone_from_the_command_line(beside: Commands) -> None:
    first, second = beside.load(FIRST, "acme"), beside.load(SECOND, "acme", "--mode", "overlay")
    code, expected = beside.read("undo", first, "--dry-run")
    assert (code, expected["status"], expected["removed"], expected["kept"]) == (3, "undone_with_conflicts", 1, 1)
    assert expected["reasons"] == {"CHANGED_SINCE": 1}
    with Path(expected["conflicts"]).open(encoding="utf-8-sig", newline="") as kept:
        [row] = csv.DictReader(kept)
    assert (row["line"], row["id"], row["code"], row["by_import"]) == ("2", "A-1", "CHANGED_SINCE", str(second))
    assert Path(expected["conflicts"]).stat().st_mode & 0o077 == 0
    code, printed = beside.run("undo", second, "--yes")
    name = f"Import {second} (load.csv, case 'acme')"
    assert (code, f"{name} is undone: 0 documents removed, 1 restored, 0 kept" in printed) == (0, True)
    code, undone = beside.read("undo", first, "--yes")
    assert (code, undone["status"], undone["removed"], undone["conflicts"]) == (0, "undone", 2, None)
    code, missing = beside.read("undo", second + 1, "--yes")
    assert (code, missing["import"], missing["status"]) == (2, second + 1, "undo_failed")
    assert f"has no import {second + 1}; the imports of a case are listed by: " in missing["error"]
    code, printed = beside.run("undo", first, "--dry-run")
    assert (code, "was undone before: 2 documents removed" in printed) == (0, True)
    assert beside.read("documents", "--case", "acme")[1]["documents"] == []
    beside.load(FIRST, "acme")
    assert beside.run("check", beside.workspace.state_dir / "load.csv", "--case", "acme")[0] == 0
    code, printed = beside.run("undo", second + 2 * INCREMENT, "--yes")
    assert (code, "imported nothing; there is nothing to undo" in printed) == (0, True)
