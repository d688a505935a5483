"""Whatever happens to the command, nothing of the stack is left running."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from exhibit_ingest.cli import main
from local.command.workspace import Workspace
from local.services.state_lock import lock_state_directory
from tests.support.application.process_ends import wait_until_ended

_HOLD = """
import json, sys
from pathlib import Path
import psutil
from local.stack import LocalStack, StackOptions
with LocalStack(Path(sys.argv[1]), StackOptions(template=Path(sys.argv[2]))):
    print(json.dumps([child.pid for child in psutil.Process().children(recursive=True)]), flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a parent that was killed")
def test_a_killed_command_leaves_no_process(tmp_path: Path, toy_template: Path) -> None:
    """One that is interrupted: `test_serve_says_where_it_is_and_ends_with_0_at_ctrl_c`."""
    command = [sys.executable, "-c", _HOLD, str(tmp_path), str(toy_template)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            children = [psutil.Process(pid) for pid in json.loads(process.stdout.readline())]
            assert len(children) >= 3
        finally:
            process.kill()
        wait_until_ended(children)


def test_database_url_refuses_where_another_command_runs_without_the_private_server(
    tmp_path: Path, toy_template: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with lock_state_directory(tmp_path):
        assert main.main(["database-url"], Workspace(tmp_path, toy_template)) == 1
    said = capsys.readouterr()
    assert (said.out, "another exhibit-ingest command" in said.err) == ("", True)


@pytest.mark.slow
def test_database_url_leaves_a_server_that_stop_and_reset_end(
    tmp_path: Path, toy_template: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace(tmp_path / "state", toy_template)

    def run(*arguments: str) -> Any:
        assert main.main(arguments, workspace) == 0
        return capsys.readouterr()

    try:
        first = run("database-url")
        assert first.out.startswith("mysql+pymysql://")
        assert "exhibit-ingest stop" in first.err
        assert workspace.server().is_running()
        with workspace.stack() as used:
            assert used.database_url == first.out.strip() == run("database-url").out.strip()
        assert workspace.server().is_running()
        assert run("database-url").out == first.out
        run("stop")
        assert not workspace.server().is_running()
        run("database-url")
        run("reset", "--yes")
        assert not workspace.server().is_running()
        assert not workspace.state_dir.exists()
    finally:
        workspace.server().stop()
