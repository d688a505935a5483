"""The reference of the command, docs/command.md: `python -m tools.command_document` writes it, `--check` compares it.

It is made from the help that the command prints, so what a command does is said once, in its package.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from tools.generated_parts import write_or_check
from tools.sources import ROOT

_REFERENCE = ROOT / "docs" / "command.md"
_WIDTH = "110"
_OPENING = """\
# The command

What `exhibit-ingest COMMAND --help` prints, generated from it by `python -m tools.command_document`.

Install it with `pipx install exhibit_ingest-VERSION-py3-none-any.whl`, the wheel that `make release` builds; it runs on
Linux, macOS and Windows and needs no database. Then sign in to the stack of your firm: `exhibit-ingest login URL`. From
a clone of this repository, `make setup` installs it together with a stack of this machine, which commands use
until you sign in to a stack: the first one becomes the default, and `--stack here` is that of this machine.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 something needs attention, such as rejected rows. With `--json`, one
JSON object is printed, also for an error.
"""


def build_reference(_: str) -> str:
    """Return the document."""
    return "\n".join([_OPENING, *_list_sections()]).rstrip() + "\n"


def _list_sections() -> Iterator[str]:
    # Imported where the name of the program is set, which the help shows.
    from exhibit_ingest.cli.arguments import build_parser
    from exhibit_ingest.session.machine import LOCAL_COMMANDS

    commands = _find_commands(build_parser())
    own = {name: parser for name, parser in commands.items() if name in LOCAL_COMMANDS}
    for title, group in (("Commands", commands), ("Commands of the stack of this machine", own)):
        yield f"## {title}\n"
        for name, parser in group.items():
            if group is own or name not in own:
                yield _format_help("###", name, parser)
                for action, each in _find_commands(parser).items():
                    yield _format_help("####", f"{name} {action}", each)


def _format_help(level: str, name: str, parser: argparse.ArgumentParser) -> str:
    return f"{level} {name}\n\n```text\n{parser.format_help().rstrip()}\n```\n"


def _find_commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands of a parser, or the actions of a command, which may have none."""
    found = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(found[0]) if found else {}


def main(arguments: list[str] | None = None) -> int:
    """Write the document, or with `--check` compare it with the help. Return the exit code."""
    started, columns = sys.argv[0], os.environ.get("COLUMNS")
    sys.argv[0], os.environ["COLUMNS"] = "exhibit-ingest", _WIDTH
    try:
        return write_or_check(_REFERENCE, build_reference, "tools.command_document", arguments)
    finally:
        sys.argv[0] = started
        os.environ.pop("COLUMNS")
        os.environ.update({} if columns is None else {"COLUMNS": columns})


if __name__ == "__main__":
    sys.exit(main())
