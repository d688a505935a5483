"""An overlay from the command line: of a case that is not there, and of documents that a load rejected."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from tests.support.exhibits.stored_cases import Cases


@pytest.mark.slow
def test_an_overlay_needs_a_case_and_is_the_next_step_for_documents_with_other_values(
    cases: Cases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace(tmp_path, database_url=cases.database.url.render_as_string(hide_password=False))
    file = tmp_path / "load.csv"

    def run(*arguments: str) -> tuple[int, str]:
        code = main(arguments, workspace)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    file.write_text("Control Number,Title\r\nA-1,one\r\n")
    for command in ("import", "check"):
        code, printed = run(command, str(file), "--case", "acme", "--mode", "overlay")
        assert (code, "there is no case 'acme', and --mode overlay changes documents" in printed) == (2, True)
    assert cases.database.query("SELECT COUNT(*) FROM cases UNION ALL SELECT COUNT(*) FROM imports") == [(0,), (0,)]
    assert run("import", str(file), "--case", "acme")[0] == 0
    file.write_text("Control Number,Title\r\nA-1,uno\r\n")
    code, printed = run("import", str(file), "--case", "acme")
    assert code == 3
    following = printed.partition("change the documents with an overlay: ")[2].partition("\n")[0]
    assert run(*shlex.split(following)[1:])[0] == 0
    assert cases.database.query("SELECT title FROM exhibits") == [("uno",)]


def read_next_command(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the arguments of the command that was printed for the rejected rows."""
    command = capsys.readouterr().out.partition("Fix the rejected rows, then: ")[2].partition("\n")[0]
    return shlex.split(command)[1:]


@pytest.mark.slow
def test_corrected_rows_count_as_corrected_by_their_import(
    cases: Cases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace(tmp_path, database_url=cases.database.url.render_as_string(hide_password=False))
    file = tmp_path / "load.csv"
    file.write_text("Control Number,Title\r\nA-1,one\r\n,two\r\n")
    assert main(("import", str(file), "--case", "acme"), workspace) == 3
    ((first,),) = cases.database.query("SELECT id FROM imports")
    again = read_next_command(capsys)
    assert again[-2:] == ["--corrects", str(first)]
    # Rejected once more: the next command names the import whose lines the file has, not the correction.
    assert main(again, workspace) == 3
    again = read_next_command(capsys)
    assert again[-2:] == ["--corrects", str(first)]
    Path(again[1]).write_text("Control Number,Title,ExhibitIngestLine\r\nA-2,two,L3\r\n")
    assert main(again, workspace) == 0
    claims = (
        "SELECT import_id, line_no, status, correcting_import_id > import_id, correcting_line FROM import_corrections"
    )
    assert cases.database.query(claims) == [(first, 3, "accepted", 1, 2)]
    capsys.readouterr()
    # The line is taken, once and for all.
    assert main(again, workspace) == 3
    assert "LINE_NOT_OPEN" in capsys.readouterr().out
    assert cases.database.query("SELECT control_number FROM exhibits ORDER BY 1") == [("A-1",), ("A-2",)]
