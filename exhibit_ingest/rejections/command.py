"""`exhibit-ingest rejections`: returns the exit code."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from exhibit_ingest.confirmation import require_terminal
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.rejections.codes import list_codes
from exhibit_ingest.rejections.discarding import discard_rows
from exhibit_ingest.rejections.fixing import check_corrected_file, import_corrected
from exhibit_ingest.rejections.outcome import Outcome
from exhibit_ingest.rejections.rows import list_rows
from exhibit_ingest.rejections.saving import check_new_file, name_report, save_rows
from exhibit_ingest.session.output import print_json, report_errors
from exhibit_ingest.session.session import Context, Session

if TYPE_CHECKING:
    from exhibit_ingest.acts.status_line import StatusLine

_FINAL = "a discarded row cannot be corrected any more"


def run(options: argparse.Namespace, context: Context) -> int:
    """Do what the options say, print the result, and return the exit code. Raises CommandError without --json."""

    def describe(error: str) -> Mapping[str, Any]:
        return {"import": options.import_id, "error": error}

    return report_errors(options, lambda: _run(options, context), describe)


def _run(options: argparse.Namespace, context: Context) -> int:
    from exhibit_ingest.acts.status_line import StatusLine

    act = _choose(options)
    with (
        StatusLine("Opening the stack ...", as_json=options.json) as line,
        context.open(options, ended="ended meanwhile. Start it, and run this command again") as session,
    ):
        outcome = act(session, options, line)
    if options.json:
        print_json(outcome.document)
    else:
        outcome.print()
    return outcome.code


def _choose(options: argparse.Namespace) -> Callable[[Session, argparse.Namespace, StatusLine], Outcome]:
    """Return what the options say to do; raise WrongUsageError where a file or a confirmation is not as needed."""
    if options.code is None and (options.open or options.limit):
        raise WrongUsageError("--open and --limit are for the rows of a code: add --code CODE")
    if options.csv is not None:
        check_new_file(options.csv)
        check_new_file(name_report(options.csv))
        return save_rows
    if options.fix is not None:
        check_corrected_file(options.fix)
        return import_corrected
    if options.discard or options.discard_code is not None:
        _require_confirmation(options)
        return discard_rows
    return list_codes if options.code is None else list_rows


def _require_confirmation(options: argparse.Namespace) -> None:
    if options.yes:
        return
    if options.json:
        raise WrongUsageError(f"rejections --json does not ask, and {_FINAL}: confirm it with --yes")
    require_terminal(f"{_FINAL}: run the command in a terminal, or confirm it with --yes")
