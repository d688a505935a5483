"""The program as it was started, so that every command that a message prints can be pasted into the user's shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

PROGRAM = "exhibit-ingest"


def format_command(*arguments: str) -> str:
    """Return the command line that runs this program with the arguments, quoted for a shell."""
    return shlex.join([*_find_program(), *arguments])


def _find_program() -> list[str]:
    """Return the words that start the program: as the user did, or from the folder of this Python for another one."""
    started = sys.argv[0]
    if Path(started).name == PROGRAM:
        # A shell that finds the program on PATH hands over its full path.
        return [PROGRAM] if started == shutil.which(PROGRAM) else [started]
    installed = Path(sys.executable).with_name(PROGRAM)
    if not installed.exists():
        return [sys.executable, "-m", "exhibit_ingest.cli.main"]
    here = Path.cwd()
    return [os.fspath(installed.relative_to(here) if installed.is_relative_to(here) else installed)]
