"""Discard rejected rows: leave them out for good."""

from __future__ import annotations

import argparse
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from exhibit_ingest.acts.imports import name_import, request_import
from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.program import format_command
from exhibit_ingest.rejections.outcome import Outcome, RowsRefusedError
from exhibit_ingest.session.output import format_count
from exhibit_ingest.session.pages import iterate
from exhibit_ingest.session.session import Session

if TYPE_CHECKING:
    from exhibit_ingest.acts.status_line import StatusLine

# Of a request: core.imports.corrections.MAX_ROWS.
MOST_LINES = 1_000
_MOST_LISTED = 20


def discard_rows(session: Session, options: argparse.Namespace, line: StatusLine) -> Outcome:
    """Discard the lines, or the open rows of a code, after a question unless it is confirmed.

    Of each 1,000 lines all are discarded, or none is. Raises RowsRefusedError with the lines that others have.
    """
    state = request_import(session, "GET", options.import_id, "/progress")
    lines = _list_lines(session, options)
    named = f"{name_import(state)}: {format_count(len(lines), 'row')}"
    statement = f"{named} would be discarded, and cannot be corrected any more."
    if not (options.yes or line.ask(statement, "Discard?")):
        raise CommandError("Nothing was discarded.")
    open_rows = 0
    for start in range(0, len(lines), MOST_LINES):
        line.show(f"import {options.import_id}: {start:,} of {format_count(len(lines), 'row')} discarded")
        open_rows = _discard(session, options.import_id, lines[start : start + MOST_LINES], start)
    document = {"import": options.import_id, "discarded": len(lines), "open_rejections": open_rows}
    return Outcome(document, lambda: print(f"{format_count(len(lines), 'row')} discarded; {open_rows:,} open."))


def _list_lines(session: Session, options: argparse.Namespace) -> list[int]:
    if options.discard:
        return sorted(set(options.discard))
    path = f"/imports/{options.import_id}/rejections"
    lines = {each["line"] for each in iterate(session.api, path, code=options.discard_code, open=True)}
    if not lines:
        listed = format_command("rejections", str(options.import_id), *session.name_options())
        raise WrongUsageError(
            f"import {options.import_id} has no open row with {options.discard_code}; its codes are listed by: {listed}"
        )
    return sorted(lines)


def _discard(session: Session, import_id: int, lines: list[int], done: int) -> int:
    """Discard the lines of one request, and return how many rows are open then."""
    try:
        answer = request_import(session, "POST", import_id, "/corrections", {"discard": lines})
    except ApiError as exc:
        if exc.status != HTTPStatus.UNPROCESSABLE_ENTITY or exc.code != "correction-refused":
            raise
        raise RowsRefusedError(_describe_refused(exc.problem, done)) from exc
    return int(answer["openRejections"])


def _describe_refused(problem: Any, done: int) -> str:
    reasons = [str(each["message"]) for each in problem.get("errors", [])]
    more = f" And {len(reasons) - _MOST_LISTED:,} more." if len(reasons) > _MOST_LISTED else ""
    before = "No row was discarded."
    if done:
        before = f"{format_count(done, 'row')} were discarded before, and none of the others."
    return f"{before} {' '.join(reasons[:_MOST_LISTED])}{more}"
