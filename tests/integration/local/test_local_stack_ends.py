"""Whatever happens to the command, nothing of the stack is left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from local.cli import main
from local.cli.workspace import Workspace
from local.errors import StackBusyError
from local.services.state_lock import lock_state_directory
from local.stack import LocalStack, StackOptions
from tests.support.ended import wait_until_ended

_HOLD = """
import json, select, signal, sys
from pathlib import Path
import psutil
from local.stack import LocalStack, StackOptions
# Whoever runs the tests in the background may have had it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
with LocalStack(Path(sys.argv[1]), StackOptions(template=Path(sys.argv[2]))):
    print(json.dumps([child.pid for child in psutil.Process().children(recursive=True)]), flush=True)
    # Not one long read: a signal that comes just before it would go unnoticed.
    while not select.select([sys.stdin], [], [], 0.1)[0]:
        pass
"""


@contextmanager
def command_with_a_stack(state: Path, template: Path) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A process that holds a stack, and the processes that rest on it."""
    command = [sys.executable, "-c", _HOLD, str(state), str(template)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, [psutil.Process(pid) for pid in json.loads(process.stdout.readline())]
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a parent that was killed")
def test_a_killed_command_leaves_no_process(tmp_path: Path, toy_template: Path) -> None:
    with command_with_a_stack(tmp_path, toy_template) as (process, children):
        assert len(children) >= 3
        process.kill()
        wait_until_ended(children)


def _logs_below(process: psutil.Process, folder: Path) -> bool:
    with suppress(psutil.Error):
        return any(Path(each.path).is_relative_to(folder) for each in process.open_files())
    return False


@pytest.mark.slow
def test_an_interrupted_command_leaves_no_process(tmp_path: Path, toy_template: Path) -> None:
    with command_with_a_stack(tmp_path, toy_template) as (process, children):
        process.send_signal(signal.SIGINT)
        process.wait(timeout=120)
        wait_until_ended(children)


def test_an_exception_in_the_block_leaves_no_process(tmp_path: Path, stack: LocalStack) -> None:
    def children() -> set[psutil.Process]:
        found = psutil.Process().children(recursive=True)
        # Workers of the stack that other tests use may be replaced at any time.
        return {child for child in found if _logs_below(child, tmp_path)}

    before, during = children(), set()
    with (
        suppress(ZeroDivisionError),
        LocalStack(tmp_path, StackOptions(template=stack.template.path, database_url=stack.database_url)),
    ):
        during = children()
        raise ZeroDivisionError
    assert during > before
    assert children() <= before


def test_a_second_command_is_told_who_is_in_the_way(stack: LocalStack) -> None:
    with (
        pytest.raises(StackBusyError, match=rf"process {os.getpid()}.*end it \(Ctrl-C\) first.*`serve`"),
        LocalStack(stack.state_dir, StackOptions(template=stack.template.path)),
    ):
        pass


def test_database_url_answers_while_another_command_uses_the_private_server(
    stack: LocalStack, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["database-url"], Workspace(stack.state_dir, stack.template.path)) == 0
    assert capsys.readouterr().out.strip() == stack.database_url


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
            assert used.database_url == first.out.strip()
        assert workspace.server().is_running()
        assert run("database-url").out == first.out
        run("stop")
        assert not workspace.server().is_running()
        run("database-url")
        run("reset")
        assert not workspace.server().is_running()
        assert not workspace.state_dir.exists()
    finally:
        workspace.server().stop()
