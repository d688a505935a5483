"""The program as it was started, so that every command that a message prints can be pasted into the user's shell."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import NoReturn

from local.errors import UsageError

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


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError, with the usage as its note, instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        error = UsageError(message)
        error.add_note(_replace_program_name(self.format_usage().rstrip()))
        raise error

    def format_help(self) -> str:
        """Return the help with commands that can be pasted."""
        return _replace_program_name(super().format_help())


def _replace_program_name(text: str) -> str:
    return text.replace(f"{PROGRAM} ", f"{format_command()} ")
