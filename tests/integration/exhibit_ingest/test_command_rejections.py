"""`exhibit-ingest rejections`: what was rejected is listed, saved, corrected and discarded, each line once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from local.command.workspace import Workspace
from tests.support.servers.command_stack import Commands, run_stack

pytestmark = pytest.mark.slow

# Lines 3 and 4 have no control number, line 6 that of line 2.
ROWS = "Control Number,Title\r\nA-1,one\r\n,two\r\n,three\r\nA-4,four\r\nA-1,five\r\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, schema_url: URL) -> Iterator[Workspace]:
    with run_stack(tmp_path_factory.mktemp("state"), schema_url, "rejections") as workspace:
        yield workspace


@pytest.fixture
def commands(running: Workspace, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(running, capsys)


def test_the_codes_have_counts_an_example_an_explanation_and_the_next_commands(commands: Commands) -> None:
    number = commands.load(ROWS, "codes", code=3)
    code, printed = commands.read("rejections", number)
    assert (code, printed["import"], printed["rejected"], printed["open_rejections"]) == (0, number, 3, 3)
    groups = {each["code"]: each for each in printed["rejections"]}
    assert groups.keys() == {"MISSING_ID", "DUPLICATE_ID"}
    missing = groups["MISSING_ID"]
    assert (missing["column"], missing["count"], missing["rows"], missing["first_line"]) == ("Control Number", 2, 2, 3)
    _, text = commands.run("rejections", number)
    assert f"Import {number} (load.csv, case 'codes'): 3 rows rejected, 3 open." in text
    assert missing["message"] in text
    assert "MISSING_ID 2: " in text
    assert "What to do: " in text
    assert f"rejections {number} --code MISSING_ID" in text
    assert f"rejections {number} --csv rejected-{number}.csv, then edit" in text


def test_the_rows_of_a_code_have_line_id_reason_and_cells(commands: Commands) -> None:
    number = commands.load(ROWS, "rows", code=3)
    code, printed = commands.read("rejections", number, "--code", "DUPLICATE_ID")
    [row] = printed["rows"]
    assert (code, printed["columns"]) == (0, ["Control Number", "Title"])
    assert (row["line"], row["id"], row["cells"], row["corrected_by"]) == (6, "A-1", ["A-1", "five"], None)
    assert [each["code"] for each in row["errors"]] == ["DUPLICATE_ID"]
    _, text = commands.run("rejections", number, "--code", "MISSING_ID", "--limit", 1)
    assert " | two" in text
    assert "three" not in text
    assert "These are the first 1 row; --limit N shows more, --json all." in text
    _, text = commands.run("rejections", number, "--code", "NO_SUCH_CODE")
    assert f"has no such row with NO_SUCH_CODE. To list its codes: .venv/bin/exhibit-ingest rejections {number}" in text


def save(commands: Commands, number: int, file: Path) -> bytes:
    """The rejected rows of an import, as the command saves them."""
    code, printed = commands.read("rejections", number, "--csv", file)
    assert (code, printed) == (
        0,
        {"import": number, "rejected_rows": str(file), "report": str(file.with_name(f"{file.stem}-report.csv"))},
    )
    assert "MISSING_ID" in Path(printed["report"]).read_text(encoding="utf-8-sig")
    return file.read_bytes()


def test_rows_that_are_saved_corrected_and_loaded_are_all_closed(commands: Commands, tmp_path: Path) -> None:
    number, file = commands.load(ROWS, "fixed", code=3), tmp_path / "bad.csv"
    saved = save(commands, number, file)
    # The row of line 4 stays as it was.
    file.write_bytes(saved.replace(b"\r\n,two", b"\r\nA-2,two").replace(b"A-1,five", b"A-5,five"))
    code, printed = commands.read("rejections", number, "--fix", file)
    assert (code, printed["corrects"], printed["imported"], printed["rejected"]) == (3, number, 2, 1)
    assert [(each["original_line"], each["code"]) for each in printed["rejections"]] == [(4, "MISSING_ID")]
    assert printed["open_rejections"] == 1
    header, _, third, _ = saved.splitlines(keepends=True)
    file.write_bytes(header + b"A-3" + third)
    code, text = commands.run("rejections", number, "--fix", file)
    assert (code, f"No rejected row of import {number} is open any more." in text) == (0, True), text
    _, listed = commands.read("documents", "--case", "fixed")
    assert [each["control_number"] for each in listed["documents"]] == ["A-1", "A-2", "A-3", "A-4", "A-5"]
    assert commands.read("rejections", number)[1]["open_rejections"] == 0


def test_of_two_users_who_correct_a_line_the_second_learns_who_was_first(commands: Commands, tmp_path: Path) -> None:
    number, file = commands.load("Control Number,Title\r\nA-1,one\r\n,two\r\n", "twice", code=3), tmp_path / "bad.csv"
    saved = save(commands, number, file)
    file.write_bytes(saved.replace(b"\r\n,two", b"\r\nA-2,two"))
    code, first = commands.read("rejections", number, "--fix", file, "--user", "ada")
    assert (code, first["open_rejections"]) == (0, 0)
    file.write_bytes(saved.replace(b"\r\n,two", b"\r\nB-2,two"))
    code, text = commands.run("rejections", number, "--fix", file, "--user", "grace")
    assert (code, "LINE_NOT_OPEN: " in text, f"import {first['import']}" in text) == (3, True, True)
    code, printed = commands.read("rejections", number, "--discard", 3, "--yes", "--user", "grace")
    assert (code, "Line 3 " in printed["error"], f"import {first['import']}" in printed["error"]) == (3, True, True)


def test_rows_are_discarded_by_line_and_by_code_after_a_confirmation(commands: Commands) -> None:
    number = commands.load(ROWS, "discarded", code=3)
    code, printed = commands.read("rejections", number, "--discard", 6)
    assert (code, "confirm it with --yes" in printed["error"]) == (2, True)
    code, printed = commands.read("rejections", number, "--discard", 6, "--yes")
    assert (code, printed) == (0, {"import": number, "discarded": 1, "open_rejections": 2})
    code, text = commands.run("rejections", number, "--discard-code", "MISSING_ID", "--yes")
    assert (code, text) == (0, "2 rows discarded; 0 open.\n")
    code, printed = commands.read("rejections", number, "--discard-code", "MISSING_ID", "--yes", "--user", "grace")
    assert (code, "has no open row with MISSING_ID" in printed["error"]) == (2, True)
    _, rows = commands.read("rejections", number, "--code", "MISSING_ID")
    assert [bool(each["discarded_by"] and each["discarded_at"]) for each in rows["rows"]] == [True, True]
    assert commands.read("rejections", number, "--code", "MISSING_ID", "--open")[1]["rows"] == []


def test_a_file_without_the_column_of_lines_is_refused_with_the_reason(commands: Commands, tmp_path: Path) -> None:
    number, file = commands.load(ROWS, "refused", code=3), tmp_path / "other.csv"
    file.write_bytes(b"Control Number,Title\r\nA-2,two\r\n")
    code, printed = commands.read("rejections", number, "--fix", file)
    assert (code, printed["failure_code"], printed["open_rejections"]) == (1, "NOT_A_CORRECTION", 3)
    code, text = commands.run("rejections", number, "--fix", file)
    assert (code, "NOT_A_CORRECTION: The file has no column of lines" in text) == (1, True)


def test_files_that_are_not_there_or_would_be_replaced_are_wrong_usage(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("corrected by hand")
    for options in (
        ["--csv", file],
        ["--fix", tmp_path / "none.csv"],
        ["--csv", tmp_path / "no" / "f.csv"],
        ["--open"],
    ):
        code, printed = commands.read("rejections", 1, *options)
        assert (code, printed["import"], bool(printed["error"])) == (2, 1, True)
    assert file.read_text() == "corrected by hand"
    code, printed = commands.read("rejections", 10**6)
    assert (code, "tenant 'local' has no import 1000000" in printed["error"]) == (2, True)


def test_an_import_without_rejections_says_so(commands: Commands, tmp_path: Path) -> None:
    number = commands.load("Control Number\r\nA-1\r\n", "clean")
    assert commands.run("rejections", number)[1].endswith("no row was rejected.\n")
    code, printed = commands.read("rejections", number, "--csv", tmp_path / "none.csv")
    assert (code, printed["rejected_rows"], list(tmp_path.iterdir())) == (0, None, [])
