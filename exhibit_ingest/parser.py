"""The parser of the command line: wrong usage is an error, and the commands in a help text can be pasted."""

from __future__ import annotations

import argparse
from typing import NoReturn

from exhibit_ingest.program import PROGRAM, format_command
from local.errors import UsageError


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError, with the usage as its note, instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        error = UsageError(message)
        error.add_note(_replace_program_name(self.format_usage().rstrip()))
        raise error

    def format_help(self) -> str:
        """Return the help with commands that can be pasted."""
        return _replace_program_name(super().format_help())


class PrintVersion(argparse.Action):
    """Prints the version of the installed package, which takes some time to find."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"{parser.prog} {version(parser.prog)}")
        parser.exit()


def _replace_program_name(text: str) -> str:
    return text.replace(f"{PROGRAM} ", f"{format_command()} ")
