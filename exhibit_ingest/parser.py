"""The parser of the command line: wrong usage is an error, and the commands in a help text can be pasted."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.program import PROGRAM, format_command


class Parser(argparse.ArgumentParser):
    """A parser that raises WrongUsageError, with the usage as its note, instead of ending the process.

    With `takes_words_anywhere`, options may stand between the words of a list.
    """

    takes_words_anywhere = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse the arguments, as the base class does."""
        if not self.takes_words_anywhere:
            return super().parse_known_args(args, namespace)
        # Which calls this method for the words and the options apart.
        self.takes_words_anywhere = False
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.takes_words_anywhere = True

    def error(self, message: str) -> NoReturn:
        error = WrongUsageError(message)
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
