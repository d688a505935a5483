"""An import whose command is interrupted or killed, or whose database server dies, without a `serve` beside it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text

from exhibit_ingest.cli.main import main
from local.command.workspace import Workspace
from tests.support.imports.struck_command import run_until_struck
from tests.support.servers.provisioned_servers import schema_beside

pytestmark = pytest.mark.slow

COUNT = text("SELECT COUNT(*) FROM exhibits")


def write_file(folder: Path, rows: int) -> Path:
    """A load file whose second row has no id."""
    lines = [f"{'' if n == 2 else f'{rows}-{n}'},Title {n}" for n in range(1, rows + 1)]
    file = folder / f"{rows}.csv"
    file.write_text("\n".join(["Control Number,Title", *lines, ""]))
    return file


@pytest.fixture
def workspace(tmp_path: Path, schema_url: Any) -> Iterator[Workspace]:
    """One with a schema of its own."""
    with schema_beside(schema_url, "struck") as url:
        yield Workspace(tmp_path / "state", database_url=url.render_as_string(hide_password=False))


@pytest.fixture
def blocked(workspace: Workspace, tmp_path: Path) -> Iterator[Connection]:
    """A transaction that has inserted document 3000-3000: until it ends, no chunk with that document can be written."""
    assert main(["import", str(write_file(tmp_path, 1)), "--case", "c"], workspace) == 0
    engine = create_engine(workspace.database_url or "")
    with engine.connect() as connection:
        connection.execute(text("CREATE TEMPORARY TABLE copied AS SELECT * FROM exhibits"))
        connection.execute(text("UPDATE copied SET id = 1000000, control_number = '3000-3000'"))
        connection.execute(text("INSERT INTO exhibits SELECT * FROM copied"))
        yield connection
    engine.dispose()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_ended_leaves_no_running_import(
    workspace: Workspace,
    blocked: Connection,
    tmp_path: Path,
    number: signal.Signals,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = write_file(tmp_path, 3_000)
    ended = run_until_struck(workspace, file, "rows", str(int(number)))
    blocked.rollback()
    output = ended.stderr
    capsys.readouterr()
    assert ended.returncode == (-number if number == signal.SIGKILL else 128 + number), output
    if number == signal.SIGINT:
        assert json.loads(ended.stdout)["imports"][0]["error"].startswith("the command was interrupted; the import was")
        assert blocked.execute(COUNT).scalar_one() - 1 < 2_999
        assert list((workspace.state_dir / "uploads").glob("*.json")) == []
        assert main(["import", str(file), "--case", "c"], workspace) == 3
    else:
        # The file and the messages of the import are kept: the same command goes on with it.
        assert main(["import", str(file), "--case", "c"], workspace) == 3
    states = blocked.execute(text("SELECT id, status, imported, rejected FROM imports WHERE rows_seen = 3000")).all()
    begun = ["cancelled"] if number == signal.SIGINT else []
    assert [each.status for each in states] == [*begun, "completed_with_rejections"]
    assert blocked.execute(COUNT).scalar_one() - 1 == sum(each.imported for each in states) == 2_999
    if number == signal.SIGINT:
        first = states[0]
        assert 0 < first.imported < 2_999
        assert f"{first.imported:,} of 3,000 rows are in, {first.rejected} rejected" in " ".join(output.split())
        [report] = (workspace.state_dir / "reports").glob(f"{first.id}-*/report.csv")
        assert report.read_text("utf-8-sig").count("MISSING_ID") == first.rejected
    assert list((workspace.state_dir / "uploads").glob("*.json")) == []


def test_the_import_of_a_folder_goes_on_after_its_command_was_killed(
    workspace: Workspace, blocked: Connection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "VOL001"
    (folder / "DATA").mkdir(parents=True)
    write_file(folder / "DATA", 3_000)
    ended = run_until_struck(workspace, folder, "rows", str(int(signal.SIGKILL)))
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    blocked.rollback()
    capsys.readouterr()
    assert main(["import", str(folder), "--case", "c"], workspace) == 3
    assert "VOL001: the import of an earlier command goes on" in capsys.readouterr().err
    states = blocked.execute(text("SELECT status, imported FROM imports WHERE rows_seen = 3000")).all()
    assert [(each.status, each.imported) for each in states] == [("completed_with_rejections", 2_999)]
    # Its result is known: the same command begins another import.
    assert main(["import", str(folder), "--case", "c", "--json"], workspace) == 3
    [entry] = json.loads(capsys.readouterr().out)["imports"]
    assert (entry["imported"], entry["unchanged"]) == (0, 2_999)


def test_after_the_end_of_the_server_the_same_command_brings_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, file = Workspace(tmp_path / "state"), write_file(tmp_path, 20_000)
    ended = run_until_struck(workspace, file, "rows", "server")
    [entry] = json.loads(ended.stdout)["imports"]
    assert (ended.returncode, entry["status"], entry["rows_seen"]) == (1, "failed", 20_000)
    # Not the error of the API, whose requests are repeated for a while.
    assert entry["error"].startswith("the private database server has ended. Its log is in ")
    assert "The counts are those of the last reading; the same command goes on" in entry["error"]
    assert main(["import", str(file), "--case", "c", "--json"], workspace) == 3
    [entry] = json.loads(capsys.readouterr().out)["imports"]
    assert entry["imported"] == 19_999
