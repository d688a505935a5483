"""The import and check of load files, beside a `serve` that all tests of this module share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from exhibit_ingest.sign_in.surroundings import Surroundings
from local.command.workspace import Workspace
from local.stack import LocalStack
from samples.generator import Generated, generate
from samples.spec import Fault, FaultKind, Spec
from tests.support.imports.error_file_reference import Form, error_file_of
from tests.support.volumes.served import Served, serve, use

pytestmark = pytest.mark.slow

SPEC = Spec(rows=1_200, seed=11, faults=(Fault(FaultKind.UNCLOSED_QUOTE, 20), Fault(FaultKind.DUPLICATE_ID, 30, of=3)))
NUMBERED = "Control Number,Bates Begin,Bates End\nA-1,AB9,AB10\nA-2,AB1,AB3\nA-3,AB11,\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, schema_url: URL) -> Iterator[tuple[LocalStack, Workspace]]:
    with serve(tmp_path_factory.mktemp("state"), schema_url, "command") as running:
        yield running


@pytest.fixture
def served(running: tuple[LocalStack, Workspace], capsys: pytest.CaptureFixture[str]) -> Iterator[Served]:
    with use(running, capsys) as served:
        yield served


def test_a_file_is_imported_once_and_its_rejected_rows_come_back(served: Served, tmp_path: Path) -> None:
    made: Generated = generate(SPEC)
    file = made.write(tmp_path / "production.dat")
    code, checked = served.run("check", file, "--case", "once")
    check = checked["checks"][0]
    assert code == 3
    assert (check["status"], check["would_import"]) == ("errors", len(made.truth.imported))
    code, first = served.run("import", file, "--case", "once", "--workers", "2")
    entry = first["imports"][0]
    assert code == 3
    assert entry["status"] == "completed_with_rejections"
    assert sum(entry["rejected_by_code"].values()) == len(made.truth.rejected)
    counts = (entry["rows_seen"], entry["imported"], entry["rejected"])
    errors = {each["code"]: each["count"] for each in check["findings"] if each["severity"] == "error"}
    assert errors == entry["rejected_by_code"]
    assert Path(check["report"]).read_text("utf-8-sig").startswith("code,severity,line,column,message,id,rows")
    assert counts == (made.truth.rows_seen, len(made.truth.imported), len(made.truth.rejected))
    places = [(r.first_line, r.byte_start, r.byte_len) for r in made.truth.rejected]
    expected = error_file_of(made.data, made.truth.header_len, "utf-8-sig", Form.of(made), places)
    assert Path(entry["reports"]["rejected_rows"]).read_bytes() == expected

    code, second = served.run("import", file, "--case", "once")
    entry = second["imports"][0]
    assert (code, entry["imported"], entry["unchanged"]) == (3, 0, len(made.truth.imported))


def test_one_failing_file_fails_the_command_and_not_the_others(served: Served, tmp_path: Path) -> None:
    good = generate(Spec(rows=5, seed=3)).write(tmp_path / "good.dat")
    without_ids = tmp_path / "list.csv"
    without_ids.write_bytes(b"Title,Author\r\nOne,Ann\r\n")
    code, printed = served.run("import", without_ids, good, "--case", "failing")
    failed, imported = printed["imports"]
    assert code == 1
    assert (failed["status"], failed["imported"]) == ("failed", 0)
    assert "NO_ID_COLUMN" in failed["error"]
    assert (imported["status"], imported["imported"]) == ("completed", 5)


def test_a_misspelt_case_is_created_only_on_request(served: Served, tmp_path: Path) -> None:
    file = generate(Spec(rows=5, seed=3)).write(tmp_path / "good.dat")
    assert served.run("import", file, "--case", "Smith v. Jones")[0] == 0
    code, printed = served.run("import", file, "--case", "Smith v Jones")
    assert (code, printed["imports"], "'Smith v. Jones'" in printed["error"]) == (2, [], True)
    assert served.query("SELECT COUNT(*) FROM cases WHERE name = 'Smith v Jones'") == [(0,)]
    code, printed = served.run("import", file, "--case", "Smith v Jones", "--create-case")
    assert (code, printed["imports"][0]["imported"]) == (0, 5)


def test_what_the_stack_refuses_is_wrong_usage_or_the_result_of_the_file(served: Served, tmp_path: Path) -> None:
    file = generate(Spec(rows=5, seed=3)).write(tmp_path / "good.dat")
    code, printed = served.run("import", file, "--case", "refused", "--time-zone", "Mars/Olympus")
    assert (code, printed["imports"]) == (2, [])
    assert "Option 'time_zone' is 'Mars/Olympus'" in printed["error"]
    assert "the option is set by --time-zone" in printed["error"]
    code, printed = served.run("import", file, "--case", "refused", "--corrects", "999999")
    assert (code, "999999" in printed["imports"][0]["error"]) == (1, True)
    assert served.query("SELECT COUNT(*) FROM cases WHERE name = 'refused'") == [(0,)]


def test_what_came_is_compared_with_the_letter(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "numbered.csv"
    file.write_text(NUMBERED)
    code, printed = served.run("import", file, "--case", "letter", "--expect", "documents=3,natives=0,bates=AB1-AB11")
    assert (code, printed["differences"]) == (0, [])
    assert printed["imports"][0]["bates"] == {"first": "AB1", "last": "AB11"}
    # All rows are unchanged, and their documents belong to the first import.
    code, printed = served.run("import", file, "--case", "letter", "--expect", "documents=4,bates=AB1-AB11")
    assert (code, printed["differences"]) == (1, [{"name": "documents", "expected": 4, "found": 3}])
    assert printed["imports"][0]["unchanged"] == 3


def test_a_stack_elsewhere_imports_a_file_by_its_url(served: Served, tmp_path: Path) -> None:
    token = served.stack.tokens.issue("elsewhere", "ada", 600, name="Ada")
    around = Surroundings(tmp_path / "configuration", {"EXHIBIT_INGEST_TOKEN": token})
    file = generate(Spec(rows=5, seed=3)).write(tmp_path / "five.dat")
    arguments = ("import", file, "--case", "elsewhere", "--stack", served.stack.api_url)
    code, printed = served.run(*arguments, around=around)
    [entry] = printed["imports"]
    assert (code, entry["imported"], served.errors) == (0, 5, "")
    assert Path(entry["reports"]["report"]).is_relative_to(tmp_path / "configuration")
    found = served.query("SELECT tenant_id, user_id FROM imports WHERE id = :id", id=entry["import_id"])
    assert found == [("elsewhere", "ada")]
    code, printed = served.run(*arguments, "--tenant", "local", around=around)
    assert (code, "--tenant is for the stack of this machine" in printed["error"]) == (2, True)


def test_a_profile_that_is_saved_reads_the_next_file_in_the_same_way(served: Served, tmp_path: Path) -> None:
    first, next_one, lacking = (tmp_path / f"{name}.csv" for name in ("first", "next", "lacking"))
    first.write_bytes(b"Doc,Subject,Written by\r\nA-1,Plan,Ada\r\n")
    next_one.write_bytes(b"Doc,Subject,Written by\r\nA-2,Memo,Grace\r\n")
    lacking.write_bytes(b"Doc,Topic,Written by\r\nA-3,Memo,Grace\r\n")
    mapping = tmp_path / "mapping.json"
    mapping.write_text('{"columns": {"Doc": "control_number", "2": "title", "Written by": "custodians"}}')
    case = ("--case", "profiles")
    code, printed = served.run("import", first, *case, "--mapping", mapping, "--save-profile", "acme")
    entry = printed["imports"][0]
    assert (code, entry["profile"], entry["saved_profile"]) == (0, None, {"name": "acme", "version": 1})

    again = ("--profile", "acme", "--save-profile", "acme")
    code, printed = served.run("import", next_one, lacking, *case, *again)
    followed, refused = printed["imports"]
    assert (code, followed["profile"]) == (1, {"name": "acme", "version": 1})
    assert followed["saved_profile"] == {"name": "acme", "version": 2}
    fields = [[column["field"] for column in each["columns"]] for each in (entry, followed)]
    assert fields == [["control_number", "title", "custodians"]] * 2
    assert [column["why"] for column in followed["columns"]] == ["profile"] * 3
    assert refused["error"].startswith("PROFILE_MISMATCH: Profile 'acme' (version 2) has columns that the file lacks")
    assert (refused["saved_profile"], refused["rows_seen"]) == (None, 0)

    code, printed = served.run("import", first, *case, "--profile", "nosuch")
    assert (code, "nosuch" in printed["imports"][0]["error"]) == (1, True)
    code, printed = served.run("import", first, *case, "--mapping", mapping, "--save-profile", " x")
    assert (code, printed["imports"][0]["saved_profile"], printed["imports"][0]["unchanged"]) == (1, None, 1)
    assert "the profile is not saved: " in served.errors
