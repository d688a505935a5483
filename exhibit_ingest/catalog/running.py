"""Run a command of this package: open the stack, and print what goes wrong as the command prints its result."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from exhibit_ingest.catalog.members import format_error
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import FAILED
from exhibit_ingest.session.output import format_json
from exhibit_ingest.session.session import Context, Session

# By command: the function that runs it, which takes the session and the options; and one that takes the options alone,
# before anything is started.
_RUNNERS = {
    **dict.fromkeys(("imports", "custodians", "tags"), "lists:print_catalog"),
    "cases": "case_life:run_cases",
    **dict.fromkeys(("tag", "untag"), "tagging:tag_documents"),
    "documents": "documents:print_documents",
    "history": "history:print_history",
    "show": "show:print_document",
    "open": "opening:open_document",
}
_CHECKS = {
    "cases": "case_life:check_action",
    **dict.fromkeys(("tag", "untag"), "tagging:check_selection"),
    "documents": "documents:check_columns",
    "open": "opening:check_output",
}


def run(options: argparse.Namespace, context: Context) -> int:
    """Run the command and return its exit code. Raises CommandError, unless --json prints it."""
    try:
        return _run(options, context)
    except CommandError as exc:
        if not options.json:
            raise
        print(format_json(format_error(_name_result(options), str(exc))))
        return exc.exit_code
    except BrokenPipeError:
        # What reads the output has ended, such as `head`; nothing is left to flush at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _run(options: argparse.Namespace, context: Context) -> int:
    if options.command in _CHECKS:
        _find(_CHECKS[options.command])(options)
    run_command = _find(_RUNNERS[options.command])
    with context.open(options) as session:
        try:
            return int(run_command(session, options))
        except CommandError as exc:
            if unknown := _explain(session, options, exc):
                raise WrongUsageError(unknown) from exc
            raise


def _name_result(options: argparse.Namespace) -> str:
    """Return the command, or `case` for an action on one."""
    return "case" if getattr(options, "action", "list") != "list" else str(options.command)


def _find(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(f"exhibit_ingest.catalog.{module}"), name)
    return function


def _explain(session: Session, options: argparse.Namespace, error: CommandError) -> str | None:
    """Return the sentence about the case if that is what was not found."""
    if getattr(error, "code", "") != "not-found" or not hasattr(options, "case"):
        return None
    from exhibit_ingest.catalog.finding import explain_unknown_case

    return explain_unknown_case(session, options.case)
