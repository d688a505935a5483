"""`exhibit-ingest run`, `cancel` and `retry`; each function returns the exit code."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exhibit_ingest.acts.imports import (
    IMPORT_COUNTS,
    WORKING,
    build_entry,
    describe_rows,
    list_rows,
    name_import,
    request_import,
    wait_for_import,
)
from exhibit_ingest.acts.refusals import explain_refusal, list_next_steps, name_accepting_options
from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.confirmation import require_terminal
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.program import format_command
from exhibit_ingest.session.following import Document
from exhibit_ingest.session.output import print_json, report_errors
from exhibit_ingest.session.session import Context, Session
from exhibit_ingest.session.tables import print_rows

if TYPE_CHECKING:
    from exhibit_ingest.acts.status_line import StatusLine

# What an import that was retried ends as without a fault.
_WELL = ("completed", "completed_with_rejections", "checked", "uploaded")
_LOST_UPLOAD = "What was sent of its file is then lost: the file has to be sent again."


def run_act(options: argparse.Namespace, context: Context) -> int:
    """Run `run`, `cancel` or `retry`, print the result, and return the exit code. Raises CommandError without"
    " --json."""

    def describe(error: str) -> Mapping[str, Any]:
        return {"import": options.import_id, "status": None, "error": error, "seconds": 0.0}

    return report_errors(options, lambda: _run(options, context), describe)


def _run(options: argparse.Namespace, context: Context) -> int:
    from exhibit_ingest.acts.status_line import StatusLine

    began = time.monotonic()
    with (
        StatusLine("Opening the stack ...", as_json=options.json) as line,
        context.open(options, ended="ended meanwhile. Start it, and run this command again") as session,
    ):
        try:
            state = _cancel(session, options, line) if options.command == "cancel" else _go_on(session, options, line)
        except KeyboardInterrupt as interruption:
            interruption.add_note(_describe_interruption(session, options))
            raise
    if state is None:
        raise CommandError("Nothing was cancelled.")
    _print(session, options, state, time.monotonic() - began)
    return _choose_code(options, state)


def _cancel(session: Session, options: argparse.Namespace, line: StatusLine) -> Document | None:
    """Return the import after its cancellation, None if the user does not confirm it."""
    found = request_import(session, "GET", options.import_id, "/progress")
    if found["status"] == "awaiting_upload" and not options.yes:
        # Everything else that a cancellation ends can be retried.
        advice = f"cancel ends an upload: run it in a terminal, or confirm it with --yes. {_LOST_UPLOAD}"
        if options.json:
            raise WrongUsageError(f"cancel --json does not ask: confirm it with --yes. {_LOST_UPLOAD}")
        require_terminal(advice)
        if not line.ask(f"{name_import(found)} awaits its file. {_LOST_UPLOAD}", "Cancel it?"):
            return None
    state = _request(session, options, found)
    return state if options.no_wait else wait_for_import(session, options.import_id, line)


def _go_on(session: Session, options: argparse.Namespace, line: StatusLine) -> Document:
    found = request_import(session, "GET", options.import_id, "/progress")
    state = _request(session, options, found)
    # A stack of the command's own ends with it.
    is_kept = session.machine is None or session.machine.is_kept
    return state if options.no_wait and is_kept else wait_for_import(session, options.import_id, line)


def _request(session: Session, options: argparse.Namespace, found: Document) -> Document:
    try:
        if options.command == "run":
            return _run_import(session, options)
        return request_import(session, "POST", options.import_id, f"/{options.command}")
    except ApiError as exc:
        if exc.code != "wrong-state":
            raise
        reason = name_accepting_options(str(exc))
        raise CommandError(explain_refusal(session, options.command, found, reason)) from exc


def _run_import(session: Session, options: argparse.Namespace) -> Document:
    """Have the import run with the options that it has now: a change in between is refused by the API."""
    version = request_import(session, "GET", options.import_id)["optionsVersion"]
    accepted = {"acknowledgeWarnings": options.acknowledge_warnings, "acceptRejections": options.accept_rejections}
    body = {**accepted, "requireUnchanged": options.require_unchanged}
    return session.api.request("POST", f"/imports/{options.import_id}/run", body, if_match=f'"{version}"')


def _describe_interruption(session: Session, options: argparse.Namespace) -> str:
    """Return what happens after Ctrl-C."""
    number, names = str(options.import_id), session.name_options()
    if options.command == "cancel":
        return f"to see what is in: {format_command('cancel', number, *names)}"
    if session.machine is None or session.machine.is_kept:
        return f"import {number} goes on in the stack. To stop it: {format_command('cancel', number, *names)}"
    again = [format_command(name, number, *names) for name in ("cancel", "retry")]
    return f"import {number} stops with the stack of this command. To go on with it: {again[0]} and then {again[1]}"


def _print(session: Session, options: argparse.Namespace, state: Document, seconds: float) -> None:
    if options.json:
        print_json({**build_entry(state), "seconds": round(seconds, 3)})
        return
    columns, rows = list_rows([state])
    print_rows(columns, rows, numbers=IMPORT_COUNTS)
    status = str(state["status"]).replace("_", " ")
    print(f"{name_import(state)} is {status}. {describe_rows(state)}")
    if state["failureCode"]:
        print(f"{state['failureCode']}: {state['failureMessage']}")
    for step in list_next_steps(session, state):
        print(step)


def _choose_code(options: argparse.Namespace, state: Document) -> int:
    if options.command == "cancel":
        return DONE
    if state["status"] not in (*_WELL, *WORKING):
        return FAILED
    return REJECTED if state["rejected"] and state["status"] not in WORKING else DONE
