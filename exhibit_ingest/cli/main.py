"""The command `exhibit-ingest`: arguments, signals and exit codes.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 something needs attention, such as rejected rows.
"""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from exhibit_ingest.catalog.members import COMMANDS as CATALOG_COMMANDS
from exhibit_ingest.catalog.members import format_error
from exhibit_ingest.cli.arguments import build_parser
from exhibit_ingest.cli.signals import Interrupted, interrupt_on_signals
from exhibit_ingest.completion_arguments import complete
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED, WRONG_USAGE
from exhibit_ingest.program import format_command
from exhibit_ingest.session.machine import LOCAL_COMMANDS, Machine
from exhibit_ingest.session.output import format_json
from exhibit_ingest.session.session import Context
from exhibit_ingest.sign_in.arguments import SIGN_IN_COMMANDS
from exhibit_ingest.sign_in.surroundings import Surroundings

_STOPPED = (
    "everything that it started is stopped. Rows imported so far are kept."
    " Import the file again to get the remaining rows."
)
# By command: the module and function that run it, which take the options and the context, and return the exit code.
# They are imported when they are needed: --help takes no time.
_RUNNERS = {
    **dict.fromkeys(LOCAL_COMMANDS, "local.command.commands:run"),
    **dict.fromkeys(CATALOG_COMMANDS, "exhibit_ingest.catalog.running:run"),
    **dict.fromkeys(SIGN_IN_COMMANDS, "exhibit_ingest.session.commands:run"),
    "import": "exhibit_ingest.cli.import_command:run",
    "check": "exhibit_ingest.cli.import_command:run",
    "preview": "exhibit_ingest.preview.command:run",
    "run": "exhibit_ingest.acts.commands:run_act",
    "cancel": "exhibit_ingest.acts.commands:run_act",
    "retry": "exhibit_ingest.acts.commands:run_act",
    "operations": "exhibit_ingest.acts.operations:run",
    "profiles": "exhibit_ingest.acts.profiles:run_profiles",
    "undo": "exhibit_ingest.undo.command:run",
    "rejections": "exhibit_ingest.rejections.command:run",
    "produce": "exhibit_ingest.productions.produce:produce",
    "productions": "exhibit_ingest.productions.commands:run",
    "volume": "exhibit_ingest.productions.commands:run",
    "custody": "exhibit_ingest.custody.commands:run",
    "devices": "exhibit_ingest.custody.commands:run",
    "completion": "exhibit_ingest.completion_arguments:run",
}


def main(
    arguments: Sequence[str] | None = None, machine: Machine | None = None, around: Surroundings | None = None
) -> int:
    """Run the command and return its exit code; `machine` is the stack of this machine, if it need not be found."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = build_parser()
    complete(parser)
    try:
        options = parser.parse_args(given)
    except WrongUsageError as exc:
        return _report_usage(exc, "", given)
    # Collecting garbage at the exit would take a tenth of a second and free nothing that is needed.
    atexit.register(gc.freeze)
    try:
        with interrupt_on_signals():
            return _run(options, Context(around or Surroundings(), machine))
    except WrongUsageError as exc:
        return _report_usage(exc, f"For help: {format_command(options.command, '--help')}", given)
    except CommandError as exc:
        print(f"exhibit-ingest: error: {exc}", file=sys.stderr)
        return exc.exit_code
    except OSError as exc:
        if exc.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print(f"exhibit-ingest: error: {exc}; free some space and run the command again", file=sys.stderr)
        return FAILED
    except Interrupted as exc:
        return _report_interruption(options.command, exc)


def _run(options: argparse.Namespace, context: Context) -> int:
    module, _, function = _RUNNERS[options.command].partition(":")
    code: int = getattr(import_module(module), function)(options, context)
    return code


def _report_usage(error: WrongUsageError, advice: str, given: Sequence[str]) -> int:
    """Print what is wrong with the command line, and return the exit code."""
    if "--json" in given:
        print(format_json(_build_usage_error(given[0], str(error))))
    else:
        usage: list[str] = getattr(error, "__notes__", [])
        print("\n".join([*usage, f"exhibit-ingest: error: {error}", advice]).rstrip(), file=sys.stderr)
    return WRONG_USAGE


def _build_usage_error(command: str, error: str) -> dict[str, Any]:
    """Return what --json prints: the object of the command, with the error in place of a result."""
    match command:
        case "import" | "check":
            return {"checks" if command == "check" else "imports": [], "error": error}
        case "preview":
            return {"preview": None, "error": {"code": None, "message": error}}
        case "undo":
            return {"import": None, "status": "undo_failed", "error": error}
    return format_error(command, error)


def _report_interruption(command: str, interruption: Interrupted) -> int:
    """Print that a signal ended the command, and return the exit code."""
    number = interruption.signal
    if command == "serve":
        print("exhibit-ingest: stopped, with everything that it started.", file=sys.stderr)
        return DONE if number == signal.SIGINT else 128 + number
    # A command has noted what it has cancelled, or what goes on.
    notes: list[str] = getattr(interruption, "__notes__", [])
    advice = _STOPPED if command in ("import", "check") else "run the command again."
    print(f"exhibit-ingest: interrupted; {' '.join(notes) or advice}", file=sys.stderr)
    return 128 + number


if __name__ == "__main__":
    sys.exit(main())
