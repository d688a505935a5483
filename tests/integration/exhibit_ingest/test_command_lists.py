"""The commands that list what a database holds, with the queries of the API."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from core.contracts.exhibits import ExhibitChange
from exhibit_ingest.cli.main import main
from exhibit_ingest.cli.workspace import Workspace
from shell.exhibits import search
from shell.exhibits.commands import add_custodians, add_taggings, patch_exhibit
from tests.integration.exhibits.exhibit_requests import CALLER, tagging
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import Cases, put_exhibits

Run = Callable[..., Any]


@pytest.fixture
def run(cases: Cases, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on the database of the test; returns its exit code and what it printed."""
    workspace = Workspace(tmp_path, database_url=cases.database.url.render_as_string(hide_password=False))

    def execute(*arguments: str) -> tuple[int, str]:
        code = main([*arguments, "--tenant", "tenant"], workspace)
        said = capsys.readouterr()
        return code, said.out + said.err

    return execute


def test_only_the_cases_and_imports_of_the_tenant_are_listed(cases: Cases, run: Run) -> None:
    cases.case("Mine")
    cases.case("Theirs", tenant="other")
    environment = dict(os.environ)
    code, printed = run("cases", "--json")
    expected = {"name": "Mine", "documents": 0, "imports": 0, "last_import_at": None}
    assert (code, json.loads(printed)) == (0, {"cases": [expected]})
    assert "Mine" in run("cases")[1]
    assert run("imports", "--case", "Mine", "--json") == (0, '{"imports": [\n]}\n')
    code, printed = run("imports", "--case", "Theirs")
    assert (code, "has no case 'Theirs'" in printed) == (2, True)
    assert json.loads(run("imports", "--case", "Theirs", "--json")[1])["imports"] == []
    assert dict(os.environ) == environment


def test_times_and_counts_of_imports_are_whole(cases: Cases, run: Run) -> None:
    cases.database.query(
        "INSERT INTO imports (upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status, "
        "imported) VALUES (UNHEX(SHA2(UUID(), 256)), 'tenant', :case, 'b', 'k', 1, :name, 'u', "
        "'completed_with_rejections', 1000000)",
        case=cases.case("Case"),
        name="a production with quite a long name, of the second volume.dat",
    )
    printed = run("imports", "--case", "Case")[1]
    started = json.loads(run("imports", "--case", "Case", "--json")[1])["imports"][0]["started_at"]
    assert {"1,000,000", "rejections", *started[:16].split("T")} <= set(printed.split())


def test_documents_are_found_by_the_filters_of_the_api(cases: Cases, run: Run) -> None:
    cases.exhibit("A-1", title="Board plan", bates_begin="X001", text_path="T/1.txt")
    cases.exhibit("A-2", title="Plan", bates_begin="X002", native_path="N/1.msg", import_id=7)
    for filters, expected in {
        ("--title", "plan BOARD"): ["A-1"],
        ("--bates-from", "X2", "--bates-to", "X2"): ["A-2"],
        ("--native", "--no-text", "--import", "7"): ["A-2"],
        ("--no-native",): ["A-1"],
        ("--limit", "1"): ["A-1"],
        ("--date-from", "2019-12-31", "--date-to", "2019-12-31"): [],
    }.items():
        code, printed = run("documents", "--case", "Case", "--json", *filters)
        found = [document["control_number"] for document in json.loads(printed)["documents"]]
        assert (code, found) == (0, expected)
    code, printed = run("documents", "--case", "Case", "--json", "--bates-from", "X")
    assert (code, json.loads(printed)["documents"]) == (2, [])


def test_a_table_says_that_there_are_more_and_csv_has_all(cases: Cases, run: Run, tmp_path: Path) -> None:
    put_exhibits(cases.database, cases.case("Case"), [f"=A{number:04}" for number in range(1_001)])
    code, printed = run("documents", "--case", "Case")
    assert (code, "=A0049" in printed, "=A0050" in printed) == (0, True, False)
    assert "first 50; there are more" in printed
    file = tmp_path / "documents.csv"
    assert run("documents", "--case", "Case", "--csv", str(file)) == (0, f"1,001 documents are in {file}\n")
    assert file.read_bytes().startswith(b"\xef\xbb\xbfcontrol_number,bates_begin,")
    rows = list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines()))
    assert [row["control_number"] for row in rows] == [f"'=A{number:04}" for number in range(1_001)]
    code, printed = run("documents", "--case", "Case", "--csv", str(tmp_path / "no" / "x.csv"))
    assert (code, "cannot be written" in printed) == (1, True)


def test_a_filter_that_is_too_broad_leaves_no_file(
    cases: Cases, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases.exhibits(3)
    monkeypatch.setattr(search, "MAX_SEARCHED", 2)
    code, printed = run("documents", "--case", "Case", "--no-text", "--csv", str(tmp_path / "x.csv"))
    assert (code, "add a custodian or a tag" in printed) == (1, True)
    assert not (tmp_path / "x.csv").exists()


def test_the_history_of_a_document_is_listed_newest_first(cases: Cases, run: Run) -> None:
    exhibit = cases.exhibit("A-1", title="Plan", line_no=7)
    done(patch_exhibit, CALLER, exhibit, frozenset({1}), ExhibitChange(title="x" * 200 + "\x1b[2J"))
    done(add_custodians, CALLER, exhibit, ["Ann"])
    done(add_taggings, CALLER, tagging([exhibit], "Hot"))
    code, printed = run("history", "A-1", "--case", "Case", "--json")
    changes = json.loads(printed)["history"]
    assert (code, [(each["version"], each["action"]) for each in changes]) == (
        0,
        [(4, "tagged"), (3, "custodians_added"), (2, "edited"), (1, "imported")],
    )
    assert changes[2]["fields"] == {"title": {"old": "Plan", "new": "x" * 200 + "\x1b[2J"}}
    assert (changes[3]["import_id"], changes[3]["line"], changes[0]["user_id"]) == (1, 7, "reviewer")
    code, printed = run("history", "A-1", "--case", "Case")
    assert code == 0
    for word in ("custodian Ann", "tag Hot", "reviewer", "imported", "import 1, line 7"):
        assert word in " ".join(printed.split())
    assert "\x1b" not in printed


def test_as_many_changes_are_listed_as_requested(cases: Cases, run: Run) -> None:
    exhibit = cases.exhibit("A-1")
    for _ in range(3):
        done(add_taggings, CALLER, tagging([exhibit], "Hot"))
    place = ("history", "A-1", "--case", "Case", "--limit", "2")
    assert [each["version"] for each in json.loads(run(*place, "--json")[1])["history"]] == [4, 3]
    assert "These are the last 2 changes; there are more" in run(*place)[1]
    assert "there are more" not in run(*place[:-1], "4")[1]


def test_a_document_that_there_is_not_has_no_history(cases: Cases, run: Run) -> None:
    cases.exhibit("A-1", tenant="other")
    cases.case("Case")
    for number, case, message in (("A-1", "Case", "has no document 'A-1'"), ("A-1", "None", "has no case 'None'")):
        code, printed = run("history", number, "--case", case)
        assert (code, message in printed) == (2, True)
    assert run("documents", "--case", "None")[0] == 2
    code, printed = run("history", "A-1", "--case", "Case", "--json", "--limit", "x")
    assert (code, json.loads(printed)["history"]) == (2, [])


def test_a_database_that_is_not_there_is_not_created(
    schema_url: URL, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cases"], Workspace(tmp_path / "state")) == 1
    missing = schema_url.set(database="no_such_schema").render_as_string(hide_password=False)
    assert main(["cases"], Workspace(tmp_path / "state", database_url=missing)) == 1
    said = capsys.readouterr().err
    assert "there is no database yet" in said
    assert "does not have the tables of this version" in said
    assert not (tmp_path / "state").exists()
