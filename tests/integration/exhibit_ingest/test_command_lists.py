"""The commands that list what a stack holds: cases, imports, documents, custodians and tags."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from tests.support.exhibits.stocked_stack import CASE, HOSTILE, StockedStack

Capsys = pytest.CaptureFixture[str]
ALL = ["=A-4", "A-1", "A-2", "A-3"]


def list_numbers(stocked: StockedStack, capsys: Capsys, *filters: str) -> list[str]:
    code, printed = stocked.run_json(capsys, "documents", *filters)
    assert code == 0, printed
    return [each["control_number"] for each in printed["documents"]]


def test_cases_imports_custodians_and_tags_are_listed_with_their_counts(stocked: StockedStack, capsys: Capsys) -> None:
    assert main(["cases", "--json"], stocked.workspace) == 0
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert (case["name"], case["documents"], case["imports"]) == (CASE, 4, 2)
    assert main(["cases"], stocked.workspace) == 0
    assert CASE in capsys.readouterr().out
    code, printed = stocked.run_json(capsys, "imports")
    counts = [(each["file_name"], each["phase"], each["rows_seen"], each["rejected"]) for each in printed["imports"]]
    assert (code, counts) == (0, [("VOL1.opt", "import", 1, 0), ("VOL1.dat", "import", 4, 0)])
    assert "VOL1.dat" in stocked.run(capsys, "imports")[1]
    listed = stocked.run_json(capsys, "custodians")[1]["custodians"]
    assert listed == [{"name": "Ada Lovelace", "documents": 2}, {"name": "Bob Ray", "documents": 2}]
    listed = stocked.run_json(capsys, "tags", "--search", "really")[1]["tags"]
    assert listed == [{"name": "Hot\\Really Hot", "documents": 1}]
    assert "Hot\\Really Hot" in stocked.run(capsys, "tags")[1]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ((), ALL),
        (("--limit", "2"), ALL[:2]),
        (("--title", "plan BOARD"), ["A-1"]),
        (("--bates-from", "X2", "--bates-to", "X3"), ["A-1", "A-2"]),
        (("--native",), ["A-1", "A-2"]),
        # The volume lacks the native of A-3.
        (("--no-native",), ["=A-4", "A-3"]),
        (("--text", "--no-images"), ["=A-4"]),
        (("--import", "1", "--images"), ["A-1"]),
        (("--date-from", "2019-12-31", "--date-to", "2019-12-31"), ["A-1"]),
        (("--tag", "hot"), ["A-1", "A-3"]),
        (("--tag", "Hot\\Really Hot"), ["A-3"]),
        (("--without-tag", "Hot", "--custodian", "bob ray"), ["=A-4", "A-3"]),
        (("--custodian", "Ada Lovelace", "--custodian", "Bob Ray"), []),
        (("--family", "A-2"), ["A-1", "A-2"]),
    ],
)
def test_documents_are_found_by_the_filters(
    stocked: StockedStack, capsys: Capsys, filters: tuple[str, ...], expected: list[str]
) -> None:
    assert list_numbers(stocked, capsys, *filters) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("documents", "--custodian", "Ada Lovelac"), "has no custodian 'Ada Lovelac'. Did you mean 'Ada Lovelace'?"),
        (("documents", "--tag", "Really"), "has no tag 'Really'. "),
        (("documents", "--without-tag", "Hott"), "Did you mean 'Hot'"),
        (("documents", "--columns", "contrl_number"), "Did you mean 'control_number'"),
        (("documents", "--columns", "Authr"), "Did you mean 'Author'"),
        (("documents", "--bates-from", "X"), "batesFrom"),
        (("documents", "--csv", "x.csv", "--columns", "Authr"), "Did you mean 'Author'"),
        (("tags", "--search", "a b c d e f g h i j k"), "1 to 10 words"),
    ],
)
def test_an_unknown_name_ends_with_2_and_the_nearest_ones(
    stocked: StockedStack, capsys: Capsys, arguments: tuple[str, ...], message: str
) -> None:
    code, printed = stocked.run(capsys, *arguments)
    assert (code, message in printed) == (2, True), printed
    if "--csv" not in arguments:
        code, failure = stocked.run_json(capsys, *arguments)
        assert (code, failure[arguments[0]], message in failure["error"]) == (2, [], True)


def test_an_unknown_case_names_the_similar_ones(stocked: StockedStack, capsys: Capsys) -> None:
    for command in ("imports", "documents", "custodians", "tags"):
        assert main([command, "--case", "Smith v Jones"], stocked.workspace) == 2
        printed = capsys.readouterr().err
        assert "There is no case 'Smith v Jones'" in printed
        assert f"Did you mean '{CASE}'?" in printed
    assert main(["documents", "--case", CASE, "--tenant", "other", "--json"], stocked.workspace) == 2
    failure = json.loads(capsys.readouterr().out)
    assert failure["documents"] == []
    assert "cases --tenant other" in failure["error"]


def test_a_table_is_for_people_and_controls_no_terminal(stocked: StockedStack, capsys: Capsys) -> None:
    code, printed = stocked.run(capsys, "documents", "--limit", "3")
    row = next(line for line in printed.splitlines() if "A-1" in line)
    assert code == 0
    title = "\ufffd[2J\ufffdBoard plan"
    assert row.split() == f"A-1 X0001 X0002 2019-12-31 Ada Lovelace Hot {title} eml 2 yes no".split()
    assert "These are the first 3; there are more" in printed
    assert printed.replace("\n", "").isprintable()
    assert "No document of the case matches" in stocked.run(capsys, "documents", "--title", "zzz")[1]


def test_columns_are_chosen_and_properties_are_among_them(stocked: StockedStack, capsys: Capsys) -> None:
    code, printed = stocked.run_json(capsys, "documents", "--columns", "Control Number,author,native_path")
    assert (code, printed["documents"][:2]) == (
        0,
        [
            {"control_number": "=A-4", "Author": "=1+1", "native_path": None},
            {"control_number": "A-1", "Author": "Ada", "native_path": "N\\1.eml"},
        ],
    )
    assert stocked.run_json(capsys, "documents", "--columns", "author", "--limit", "1")[1]["documents"] == [
        {"Author": "=1+1"}
    ]
    printed = stocked.run(capsys, "documents", "--columns", "control_number,properties")[1]
    assert {"Author", "Ada", "=1+1", "=A-4"} <= set(printed.split())


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("limit", [(), ("--limit", "9")])
def test_a_csv_file_has_all_that_a_reader_of_a_spreadsheet_needs(
    stocked: StockedStack, capsys: Capsys, tmp_path: Path, limit: tuple[str, ...]
) -> None:
    """From an export, and as the list has it."""
    file = tmp_path / "documents.csv"
    assert stocked.run(capsys, "documents", "--csv", file, *limit) == (0, f"4 documents are in {file}\n")
    rows: list[dict[str, Any]] = read_csv(file)
    assert [row["control_number"] for row in rows] == ["'=A-4", "A-1", "A-2", "A-3"]
    assert [row["document_date"] for row in rows] == ["2020-02-01 10:30:00", "2019-12-31", "", ""]
    assert [row["has_native"] for row in rows] == ["no", "yes", "yes", "no"]
    assert [row["type"] for row in rows] == ["", "eml", "exe", "pdf"]
    assert (rows[0]["Author"], rows[1]["tags"], rows[2]["parent_control_number"]) == ("'=1+1", "Hot", "A-1")
    assert rows[1]["title"] == HOSTILE
    assert list(tmp_path.iterdir()) == [file]
    assert list((stocked.workspace.folder / "exports").iterdir()) == []


def test_a_csv_file_that_cannot_be_written_is_named(stocked: StockedStack, capsys: Capsys, tmp_path: Path) -> None:
    code, printed = stocked.run(capsys, "documents", "--csv", tmp_path / "no" / "x.csv")
    assert (code, "cannot be written" in printed) == (1, True)


def test_a_database_that_is_not_there_is_not_created(schema_url: URL, tmp_path: Path, capsys: Capsys) -> None:
    assert main(["cases"], Workspace(tmp_path / "state")) == 1
    missing = schema_url.set(database="no_such_schema").render_as_string(hide_password=False)
    assert main(["cases"], Workspace(tmp_path / "state", database_url=missing)) == 1
    said = capsys.readouterr().err
    assert "there is no database yet" in said
    assert "does not have the tables of this version" in said
    assert not (tmp_path / "state").exists()
