"""`exhibit-ingest undo`: returns the exit code."""

from __future__ import annotations

import argparse
from typing import Any

from exhibit_ingest.confirmation import require_terminal
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.session.arguments import OWN_TENANT
from exhibit_ingest.session.output import print_json, report_errors
from exhibit_ingest.session.session import Context, Session
from exhibit_ingest.undo.output import (
    build_document,
    describe,
    describe_going_on,
    describe_import,
    describe_stopped,
)
from exhibit_ingest.undo.undo_session import UndoOutcome, undo_import

_DRY_RUN = "--dry-run shows what it would do"
_EXITS = {"undone": DONE, "nothing_to_undo": DONE, "undone_with_conflicts": REJECTED}


def run(options: argparse.Namespace, context: Context) -> int:
    """Undo an import, print the result, and return the exit code. Raises CommandError without --json."""

    def describe_error(error: str) -> dict[str, Any]:
        return build_document(options.import_id, None, error, dry_run=options.dry_run)

    return report_errors(options, lambda: _run(options, context), describe_error)


def _run(options: argparse.Namespace, context: Context) -> int:
    _require_confirmation(options)
    outcome, names = _undo(options, context)
    if outcome is None:
        print("Nothing was undone.")
        return FAILED
    if options.json:
        print_json(build_document(options.import_id, outcome, None, dry_run=options.dry_run))
    else:
        print("\n".join(describe(options.import_id, outcome, names)))
    return _EXITS.get(outcome.undo["status"], FAILED)


def _require_confirmation(options: argparse.Namespace) -> None:
    """Raise WrongUsageError if the undo is neither confirmed nor a dry run, and no terminal can confirm it."""
    if options.dry_run or options.yes:
        return
    if options.json:
        raise WrongUsageError(f"undo --json does not ask: confirm it with --yes; {_DRY_RUN}")
    require_terminal(f"undo changes the case: run it in a terminal, or confirm it with --yes; {_DRY_RUN}")


def _undo(options: argparse.Namespace, context: Context) -> tuple[UndoOutcome | None, list[str]]:
    """Return the outcome, None if the user does not confirm the undo, and the options that name the stack."""
    from exhibit_ingest.acts.status_line import StatusLine

    has_begun = options.yes or options.dry_run
    stopped = describe_stopped(options.import_id, _name_own(options))
    with (
        StatusLine("Opening the stack ...", as_json=options.json) as line,
        context.open(options, ended=f"ended during the undo. {stopped}") as session,
    ):

        def confirm(import_record: dict[str, Any]) -> bool:
            nonlocal has_begun
            has_begun = has_begun or line.ask(describe_import(import_record), "Undo it?")
            return bool(has_begun)

        try:
            outcome = undo_import(session, options.import_id, dry_run=options.dry_run, confirm=confirm, display=line)
        except KeyboardInterrupt as interruption:
            note = _describe_interruption(session, options.import_id) if has_begun else "nothing was undone."
            interruption.add_note(note)
            raise
        return outcome, session.name_options()


def _name_own(options: argparse.Namespace) -> list[str]:
    """Return the options that name the tenant on the stack of this machine, before it is open."""
    return [] if options.tenant in (None, OWN_TENANT) else ["--tenant", options.tenant]


def _describe_interruption(session: Session, import_id: int) -> str:
    if session.machine is None or session.machine.is_kept:
        return describe_going_on(import_id, session.name_options())
    return describe_stopped(import_id, session.name_options())
