"""The parser of the command line: the groups of commands, each with the arguments of its own package."""

from __future__ import annotations

import argparse
from functools import partial
from importlib import import_module
from typing import TypeAlias

from exhibit_ingest.acts.arguments import add_act_arguments
from exhibit_ingest.catalog.arguments import add_lists
from exhibit_ingest.completion_arguments import add_completion_arguments
from exhibit_ingest.custody.arguments import add_custody_arguments
from exhibit_ingest.importing.arguments import add_import_arguments
from exhibit_ingest.parser import Parser, PrintVersion
from exhibit_ingest.preview.arguments import add_preview_arguments
from exhibit_ingest.productions.arguments import add_production_arguments
from exhibit_ingest.program import PROGRAM
from exhibit_ingest.rejections.arguments import add_rejection_arguments
from exhibit_ingest.session.machine import has_machine
from exhibit_ingest.sign_in.arguments import add_sign_in_arguments
from exhibit_ingest.undo.arguments import add_undo_arguments

# In the order of the help. Each adds its commands.
_GROUPS = (
    add_import_arguments,
    add_lists,
    add_undo_arguments,
    add_act_arguments,
    add_rejection_arguments,
    add_sign_in_arguments,
    add_preview_arguments,
    add_production_arguments,
    add_custody_arguments,
    add_completion_arguments,
)

_DESCRIPTION = """\
Imports litigation load files (Concordance DAT, CSV, TSV and similar formats) and whole productions (a folder or zip
with DAT, OPT or LFP, natives, texts and images), lists and tags documents, and produces them. Every row is imported
exactly once, or rejected with its line number and the reason.

Commands work with a stack, which has the database and the files: the one of --stack, of EXHIBIT_INGEST_STACK or the
default of `exhibit-ingest stacks`. `exhibit-ingest login URL` signs in to one."""

_OWN_STACK = """\

Without any, commands use the stack of this machine: that of a running `exhibit-ingest serve`, or one that a command
starts for itself, with a private database, S3, SQS and SNS and the functions that run in AWS, and stops at its end.

To import into your own MySQL 8+ or MariaDB 10.6+ there, set
DATABASE_URL=mysql+pymysql://user:password@host:3306/schema?charset=utf8mb4
"""

_EXIT_STATUS = """\
exit status: 0 success; 1 failure; 2 wrong usage; 3 something needs attention, such as rejected rows; `--help` of a
command has the details"""

_EPILOG = """\
examples:
  exhibit-ingest import production.dat --case "Smith v. Jones"
      import one load file; importing it again adds nothing
  exhibit-ingest import VOL001 --case acme
      import a production from its folder, or from VOL001.zip: documents, files and pages
  exhibit-ingest preview production.dat
      show how an import would read the file
  exhibit-ingest check production.dat --case acme
      find what the import would do before it does it
  exhibit-ingest rejections 12
      see why rows of import 12 were rejected, and correct them
  exhibit-ingest documents --case acme --title "board budget"
      find documents; `exhibit-ingest show NUMBER --case acme` shows one
  exhibit-ingest produce --case acme --tag Responsive --prefix ACME
      show the draft of a production, ask, and produce it
  exhibit-ingest undo 12 --dry-run
      find out what the undo of import 12 would do; without --dry-run, ask and undo it
"""

_RAW = argparse.RawDescriptionHelpFormatter
_Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; `command` names the subcommand. It raises WrongUsageError."""
    own = _OWN_STACK if has_machine() else ""
    epilog = f"{_EPILOG}{own}\n{_EXIT_STATUS}"
    top = Parser(PROGRAM, None, _DESCRIPTION, epilog, formatter_class=_RAW, allow_abbrev=False)
    top.add_argument("--version", action=PrintVersion, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = partial(_add, commands)
    for group in _GROUPS:
        group(add)
    if own:
        import_module("local.command.arguments").add_local_arguments(add)
    return top


def _add(commands: _Commands, name: str, summary: str, description: str | None, epilog: str | None = None) -> Parser:
    # Abbreviated options in scripts would break with the next option of these letters.
    form = partial(commands.add_parser, formatter_class=_RAW, allow_abbrev=False)
    return form(name, help=summary, description=description, epilog=epilog)
