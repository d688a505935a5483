"""The program as it was started, so that every command that a message prints can be pasted into the user's shell."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PROGRAM = "exhibit-ingest"


def format_command(*arguments: str) -> str:
    """Return the command line that runs this program with the arguments, quoted for a shell."""
    return quote([*_find_program(), *arguments])


def quote(words: list[str], *, is_windows: bool = os.name == "nt") -> str:
    """Return the words as they are typed: in double quotes on Windows, whose shells know no others."""
    return subprocess.list2cmdline(words) if is_windows else shlex.join(words)


def is_program(path: str) -> bool:
    """Return whether a path is this program, which has the suffix .exe on Windows."""
    return path.replace("\\", "/").rpartition("/")[2].lower() in (PROGRAM, f"{PROGRAM}.exe")


def _find_program() -> list[str]:
    """Return the words that start the program: as the user did, or from the folder of this Python for another one."""
    started = sys.argv[0]
    if is_program(started):
        # A shell that finds the program on PATH hands over its full path.
        on_path = shutil.which(PROGRAM)
        return [PROGRAM] if on_path and os.path.normcase(started) == os.path.normcase(on_path) else [started]
    folder = Path(sys.executable).parent
    installed = next((each for each in folder.glob(f"{PROGRAM}*") if is_program(each.name)), None)
    if installed is None:
        return [sys.executable, "-m", "exhibit_ingest.cli.main"]
    # The working directory can have been removed.
    with suppress(OSError, ValueError):
        return [os.fspath(installed.relative_to(Path.cwd()))]
    return [os.fspath(installed)]
