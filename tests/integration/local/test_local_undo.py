"""`exhibit-ingest undo`, in a stack of its own: what it does, prints and returns."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from local.cli.main import main
from local.cli.workspace import Workspace
from tests.support.cases import Cases

FIRST = "Control Number,Title,Tags\r\nA-1,one,hot\r\nA-2,two,\r\n"
SECOND = "Control Number,Title\r\nA-1,uno\r\n"


@pytest.mark.slow
def test_a_load_is_undone_from_the_command_line(
    cases: Cases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace(tmp_path, database_url=cases.database.url.render_as_string(hide_password=False))

    def run(*arguments: str) -> tuple[int, str]:
        code = main(arguments, workspace)
        said = capsys.readouterr()
        return code, said.out or said.err

    def load(text: str, *options: str) -> int:
        (tmp_path / "load.csv").write_text(text)
        code, printed = run("import", str(tmp_path / "load.csv"), "--case", "acme", "--json", *options)
        assert code == 0, printed
        return int(json.loads(printed)["imports"][0]["import_id"])

    first, second = load(FIRST), load(SECOND, "--mode", "overlay")
    code, printed = run("undo", str(first), "--dry-run", "--json")
    expected = json.loads(printed)
    assert (code, expected["status"], expected["removed"], expected["kept"]) == (3, "undone_with_conflicts", 1, 1)
    assert expected["reasons"] == {"CHANGED_SINCE": 1}
    with Path(expected["conflicts"]).open(encoding="utf-8-sig", newline="") as kept:
        [row] = csv.DictReader(kept)
    assert (row["line"], row["id"], row["code"], row["by_import"]) == ("2", "A-1", "CHANGED_SINCE", str(second))
    code, printed = run("undo", str(second))
    name = f"Import {second} (load.csv, case 'acme')"
    assert (code, f"{name} is undone: 0 documents removed, 1 restored, 0 kept" in printed) == (0, True)
    code, printed = run("undo", str(first), "--json")
    undone = json.loads(printed)
    assert (code, undone["status"], undone["removed"], undone["conflicts"]) == (0, "undone", 2, None)
    code, printed = run("undo", str(second + 1))
    assert (code, f"has no import {second + 1}; `exhibit-ingest imports --case NAME` lists" in printed) == (1, True)
    code, printed = run("undo", str(first), "--dry-run")
    assert (code, "was undone before: 2 documents removed" in printed) == (0, True)
    assert run("documents", "--case", "acme", "--json")[1].count("A-") == 0
    load(FIRST)
