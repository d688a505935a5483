"""An import whose command is interrupted or killed, or whose database server dies, is cancelled and counted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text

from exhibit_ingest.cli.main import main
from exhibit_ingest.cli.workspace import Workspace
from tests.support.servers.provisioned_servers import schema_beside

pytestmark = pytest.mark.slow

# Ends itself, or its database server, when the first chunk is in.
_IMPORT = """
import os, signal, sys
from pathlib import Path
import psutil
from exhibit_ingest.cli import main as cli, progress
from exhibit_ingest.cli.workspace import Workspace
show, how = progress.FileProgress.show, sys.argv[4]
def strike(line, state):
    show(line, state)
    if state and state.rows_processed and not state.finished:
        progress.FileProgress.show = show
        if how == "server":
            [server] = [c for c in psutil.Process().children() if any(a.startswith("--datadir") for a in c.cmdline())]
            server.kill()
        else:
            os.kill(os.getpid(), int(how))
progress.FileProgress.show = strike
signal.signal(signal.SIGINT, signal.default_int_handler)
workspace = Workspace(Path(sys.argv[1]), database_url=sys.argv[2] or None)
sys.exit(cli.main(["import", sys.argv[3], "--case", "c", "--json", "--workers", "2"], workspace))
"""


def run_until_struck(workspace: Workspace, file: Path, how: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _IMPORT, str(workspace.state_dir), workspace.database_url or "", str(file), how]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


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
    ended = run_until_struck(workspace, write_file(tmp_path, 3_000), str(int(number)))
    blocked.rollback()
    output = ended.stderr
    if number == signal.SIGKILL:
        assert main(["import", str(tmp_path / "1.csv"), "--case", "c"], workspace) == 0
        output = capsys.readouterr().err
    else:
        assert ended.returncode == 128 + number
    state = blocked.execute(text("SELECT id, status, imported, rejected FROM imports WHERE rows_seen = 3000")).one()
    assert state.status == "cancelled"
    assert blocked.execute(text("SELECT COUNT(*) - 1 FROM exhibits")).scalar_one() == state.imported > 0
    counts = f"{state.imported:,} of 3,000 rows are in, {state.rejected} rejected"
    assert counts in " ".join(output.split())
    [report] = (workspace.state_dir / "reports").glob(f"{state.id}-*/report.csv")
    assert report.read_text("utf-8-sig").count("MISSING_ID") == state.rejected
    assert list((workspace.state_dir / "running").iterdir()) == []


def test_the_counts_after_the_end_of_the_server_are_the_committed_ones(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "state")
    ended = run_until_struck(workspace, write_file(tmp_path, 20_000), "server")
    [entry] = json.loads(ended.stdout)["imports"]
    assert (ended.returncode, entry["status"], entry["rows_seen"]) == (1, "failed", 20_000)
    assert "database error" in entry["error"]
    with workspace.stack(minimal=True) as stack, create_engine(stack.database_url).connect() as connection:
        assert connection.execute(text("SELECT COUNT(*) FROM exhibits")).scalar_one() == entry["imported"] > 0
        assert connection.execute(text("SELECT status FROM imports")).scalar_one() == "cancelled"
