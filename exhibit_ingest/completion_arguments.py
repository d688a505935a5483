"""`exhibit-ingest completion`, and what the shell then calls: argcomplete reads the parser of the command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

SHELLS = ("bash", "zsh", "fish", "powershell")
# Set by the script that the shell has run.
_VARIABLE = "_ARGCOMPLETE"

COMPLETION = """\
Prints a script with which the shell completes commands, options and files."""
COMPLETION_EPILOG = """\
examples:
  eval "$(exhibit-ingest completion bash)"
      in ~/.bashrc
  eval "$(exhibit-ingest completion zsh)"
      in ~/.zshrc
  exhibit-ingest completion fish > ~/.config/fish/completions/exhibit-ingest.fish
  exhibit-ingest completion powershell | Out-String | Invoke-Expression
      in the file that $PROFILE names"""


def add_completion_arguments(add: Callable[[str, str, str, str], argparse.ArgumentParser]) -> None:
    """Add the command with `add`, which takes a name, a summary, a description and an epilog."""
    parser = add("completion", "print a script for the completion of a shell", COMPLETION, COMPLETION_EPILOG)
    parser.add_argument("shell", choices=SHELLS, help="shell that runs the script")


def run(options: argparse.Namespace, _: object) -> int:
    """Print the script and return the exit code."""
    from argcomplete.shell_integration import shellcode

    from exhibit_ingest.exit_codes import DONE
    from exhibit_ingest.program import PROGRAM

    print(shellcode([PROGRAM], shell=options.shell))
    return DONE


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell and end the process, if a shell wants completions; else do nothing."""
    if _VARIABLE in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)
