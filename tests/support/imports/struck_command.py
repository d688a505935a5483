"""`exhibit-ingest import` in a process that ends itself, or its database server, at a point of the import.

`python -m tests.support.imports.struck_command STATE DATABASE FILE POINT HOW`: POINT is `send`, before a byte is sent,
`sent`, when its state is first read, or `rows`, when rows are in; HOW is the number of a signal, or `server`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

from exhibit_ingest.cli import main as cli
from exhibit_ingest.importing.display import FileProgress
from exhibit_ingest.importing.state import ImportState
from exhibit_ingest.uploads.storage import Storage
from local.command.workspace import Workspace
from local.stack.options import REPOSITORY


def run_until_struck(workspace: Workspace, file: Path, point: str, how: str) -> subprocess.CompletedProcess[str]:
    """Run it with --json, for the case `c`."""
    given = [str(workspace.state_dir), workspace.database_url or "", str(file), point, how]
    command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, *given]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=REPOSITORY)


def _strike(how: str) -> None:
    if how != "server":
        os.kill(os.getpid(), int(how))
        return
    children = psutil.Process().children()
    [server] = [each for each in children if any(word.startswith("--datadir") for word in each.cmdline())]
    server.kill()


def _lie_in_wait(point: str, how: str) -> None:
    show, put = FileProgress.show, Storage.put

    def strike_at_state(line: FileProgress, state: ImportState) -> None:
        show(line, state)
        if point == "sent" or (state.rows_processed and not state.finished):
            FileProgress.show = show  # type: ignore[method-assign]
            _strike(how)

    def strike_at_send(*arguments: Any) -> Any:
        _strike(how)
        return put(*arguments)

    if point == "send":
        Storage.put = strike_at_send  # type: ignore[method-assign, assignment]
    else:
        FileProgress.show = strike_at_state  # type: ignore[method-assign, assignment]


def main(state: str, database: str, file: str, point: str, how: str) -> int:
    """Run the command and return its exit code."""
    # The shell of the tests may ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _lie_in_wait(point, how)
    workspace = Workspace(Path(state), database_url=database or None)
    return cli.main(["import", file, "--case", "c", "--json", "--workers", "2"], workspace)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
