"""The command, from a file on disk to rows and reports, through the local stack and the real functions."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from exhibit_ingest.cli.main import main
from exhibit_ingest.cli.workspace import Workspace
from samples.generator import Generated, generate
from samples.spec import Fault, FaultKind, Spec
from tests.support.imports.error_file_reference import Form, error_file_of

pytestmark = pytest.mark.slow

SPEC = Spec(rows=1_200, seed=11, faults=(Fault(FaultKind.UNCLOSED_QUOTE, 20), Fault(FaultKind.DUPLICATE_ID, 30, of=3)))


@pytest.fixture
def workspace(tmp_path: Path, schema_url: Any) -> Iterator[Workspace]:
    """A workspace of its own, in this worker's schema."""
    engine = create_engine(schema_url.set(database=""), isolation_level="AUTOCOMMIT")
    name = f"{schema_url.database}_command"
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))
        yield Workspace(tmp_path, database_url=schema_url.set(database=name).render_as_string(hide_password=False))
        connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))
    engine.dispose()


def run(workspace: Workspace, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and what `--json` printed."""
    code = main(["import", *arguments, "--case", "Smith v. Jones", "--json"], workspace)
    return code, json.loads(capsys.readouterr().out)


def test_a_file_is_imported_once_and_its_rejected_rows_come_back(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made: Generated = generate(SPEC)
    file = made.write(tmp_path / "production.dat")
    assert main(["check", str(file), "--case", "Smith v. Jones", "--json"], workspace) == 3
    check = json.loads(capsys.readouterr().out)["checks"][0]
    assert (check["status"], check["would_import"]) == ("errors", len(made.truth.imported))
    code, first = run(workspace, capsys, str(file), "--workers", "2")
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

    code, second = run(workspace, capsys, str(file))
    entry = second["imports"][0]
    assert (code, entry["imported"], entry["unchanged"]) == (3, 0, len(made.truth.imported))


def test_one_failing_file_fails_the_command_and_not_the_others(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = generate(Spec(rows=5, seed=3)).write(tmp_path / "good.dat")
    without_ids = tmp_path / "list.csv"
    without_ids.write_bytes(b"Title,Author\r\nOne,Ann\r\n")
    code, printed = run(workspace, capsys, str(without_ids), str(good))
    failed, imported = printed["imports"]
    assert code == 1
    assert (failed["status"], failed["imported"]) == ("failed", 0)
    assert "NO_ID_COLUMN" in failed["error"]
    assert (imported["status"], imported["imported"]) == ("completed", 5)


def test_a_misspelt_case_is_created_only_on_request(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(generate(Spec(rows=5, seed=3)).write(tmp_path / "good.dat"))
    assert run(workspace, capsys, file)[0] == 0
    misspelt = ["import", file, "--case", "Smith v Jones", "--json"]
    assert main(misspelt, workspace) == 2
    assert "'Smith v. Jones'" in json.loads(capsys.readouterr().out)["error"]
    assert main(["cases", "--json"], workspace) == 0
    assert [case["name"] for case in json.loads(capsys.readouterr().out)["cases"]] == ["Smith v. Jones"]
    assert main([*misspelt, "--create-case"], workspace) == 0
    assert json.loads(capsys.readouterr().out)["imports"][0]["imported"] == 5


def test_a_file_that_is_not_there_is_wrong_usage(workspace: Workspace, tmp_path: Path) -> None:
    assert main(["import", str(tmp_path / "missing.dat"), "--case", "c"], workspace) == 2


def test_an_upload_that_the_functions_refuse_ends_with_their_reason(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exhibit_ingest.cli.main.check_name", lambda option, value: None)
    file = generate(Spec(rows=5, seed=3)).write(tmp_path / "good.dat")
    code, printed = run(workspace, capsys, str(file), "--tenant", "t" * 65)
    assert code == 1
    assert printed["imports"][0]["error"].startswith("The tenant in the object's key has 65 characters")


def test_a_profile_that_is_saved_reads_the_next_file_in_the_same_way(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, next_one, lacking = (tmp_path / f"{name}.csv" for name in ("first", "next", "lacking"))
    first.write_bytes(b"Doc,Subject,Written by\r\nA-1,Plan,Ada\r\n")
    next_one.write_bytes(b"Doc,Subject,Written by\r\nA-2,Memo,Grace\r\n")
    lacking.write_bytes(b"Doc,Topic,Written by\r\nA-3,Memo,Grace\r\n")
    mapping = tmp_path / "mapping.json"
    mapping.write_text('{"columns": {"Doc": "control_number", "2": "title", "Written by": "custodians"}}')
    code, printed = run(workspace, capsys, str(first), "--mapping", str(mapping), "--save-profile", "acme")
    entry = printed["imports"][0]
    assert (code, entry["profile"], entry["saved_profile"]) == (0, None, {"name": "acme", "version": 1})

    code, printed = run(workspace, capsys, str(next_one), str(lacking), "--profile", "acme", "--save-profile", "acme")
    followed, refused = printed["imports"]
    assert (code, followed["profile"]) == (1, {"name": "acme", "version": 1})
    assert followed["saved_profile"] == {"name": "acme", "version": 2}
    fields = [[column["field"] for column in each["columns"]] for each in (entry, followed)]
    assert fields == [["control_number", "title", "custodians"]] * 2
    assert [column["why"] for column in followed["columns"]] == ["profile"] * 3
    assert refused["error"].startswith("PROFILE_MISMATCH: Profile 'acme' (version 1) has columns that the file lacks")
    assert (refused["saved_profile"], refused["rows_seen"]) == (None, 0)

    assert main(["preview", str(next_one), "--profile", "acme", "--json"], workspace) == 0
    previewed = json.loads(capsys.readouterr().out)["preview"]
    assert [(column["field"], column["why"]) for column in previewed["columns"]] == [
        ("control_number", "profile"),
        ("title", "profile"),
        ("custodians", "profile"),
    ]
    code, printed = run(workspace, capsys, str(first), "--profile", "nosuch")
    assert (code, "has no profile 'nosuch'" in printed["imports"][0]["error"]) == (1, True)


def test_a_folder_that_is_imported_without_serve_says_that_its_files_are_not_kept(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "VOL001"
    folder.mkdir()
    (folder / "load.csv").write_bytes(b"Control Number,Native Path\r\nA-1,1.doc\r\n,2.doc\r\n")
    for name in ("1.doc", "2.doc"):
        (folder / name).write_bytes(b"native")
    assert main(["check", str(folder), "--case", "kept"], workspace) == 3
    assert "are not kept" not in capsys.readouterr().out
    assert main(["import", str(folder), "--case", "kept"], workspace) == 3
    printed = capsys.readouterr().out
    assert "The files of VOL001 are not kept" in printed
    assert "--mode append_overlay" in printed
    # The printed command imports the corrected rows with their natives: nothing is missing.
    command = shlex.split(printed.partition("Fix the rejected rows, then: ")[2].splitlines()[0])
    error_file = Path(command[command.index("import") + 1])
    error_file.write_bytes(error_file.read_bytes().replace(b"\n,2.doc", b"\nA-2,2.doc"))
    assert main([*command[command.index("import") :], "--json"], workspace) == 0
    entry = json.loads(capsys.readouterr().out)["imports"][0]
    assert (entry["imported"], entry["warnings"], entry["stored_paths"]) == (1, 0, None)
