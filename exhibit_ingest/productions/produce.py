"""`exhibit-ingest produce`: the draft of a production, the question, the production, and how to get it."""

from __future__ import annotations

import argparse
import secrets
import sys
from typing import TYPE_CHECKING, Any

from exhibit_ingest.catalog.finding import explain_unknown_case, require_names
from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.confirmation import require_terminal
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.productions.drafts import Draft, build_draft, build_selection, describe_draft, describe_findings
from exhibit_ingest.productions.following import check_waiting, choose_exit_code, follow_production
from exhibit_ingest.productions.output import describe_outcome
from exhibit_ingest.session.output import clean, format_facts, format_json, report_errors, to_snake
from exhibit_ingest.session.session import Context, Session

if TYPE_CHECKING:
    from exhibit_ingest.acts.status_line import StatusLine

_UNCONFIRMED = "Without a terminal or with --json, add --yes, or --dry-run for the draft alone."
_ENDED = "ended meanwhile. Start it; `productions` then lists what was requested"


def produce(options: argparse.Namespace, context: Context) -> int:
    """Run `produce` and return its exit code. Raises CommandError."""
    return report_errors(options, lambda: _produce(options, context))


def check_confirmation(options: argparse.Namespace) -> None:
    """Raise WrongUsageError if the command has to ask and cannot."""
    if options.yes:
        return
    if options.json:
        raise WrongUsageError(_UNCONFIRMED)
    require_terminal(_UNCONFIRMED)


def _produce(options: argparse.Namespace, context: Context) -> int:
    from exhibit_ingest.acts.status_line import StatusLine

    selection = build_selection(options)
    if not options.dry_run:
        check_confirmation(options)
    with (
        StatusLine("Opening the stack ...", as_json=options.json) as line,
        context.open(options, ended=_ENDED) as session,
    ):
        check_waiting(options, session)
        line.show("Checking the documents ...")
        draft = _build_draft(session, options, selection)
        is_draft = options.dry_run or draft.is_blocked
        production = None if is_draft or not _confirm(options, draft, line) else _request(options, session, draft, line)
    # The line is gone now.
    if production is not None:
        return _report(options, session, draft, production)
    if is_draft:
        return _report_draft(options, draft)
    print("Nothing was produced.", file=sys.stderr)
    return FAILED


def _confirm(options: argparse.Namespace, draft: Draft, line: StatusLine) -> bool:
    if not options.yes:
        return line.ask(_format_draft(draft), "Produce them?")
    if not options.json:
        line.say(_format_draft(draft))
    return True


def _build_draft(session: Session, options: argparse.Namespace, selection: dict[str, Any]) -> Draft:
    """Return the draft. Raises WrongUsageError, with the nearest names, for an unknown case, custodian or tag."""
    try:
        require_names(session, options.case, selection.get("query", {}))
        return build_draft(session.api, options, selection)
    except ApiError as exc:
        if exc.code == "not-found" and (unknown := explain_unknown_case(session, options.case)):
            raise WrongUsageError(unknown) from exc
        raise


def _report_draft(options: argparse.Namespace, draft: Draft) -> int:
    """Print the draft as the result, and return whether it can be produced."""
    if options.json:
        print(format_json(_describe(draft, None)))
    else:
        print(_format_draft(draft))
        text = "These documents cannot be produced. Correct what refuses them." if draft.is_blocked else ""
        print(text or "Nothing is produced. To produce them, run the command without --dry-run.")
    return REJECTED if draft.is_blocked else DONE


def _format_draft(draft: Draft) -> str:
    title = f"Draft of a production of {clean(draft.body['case'])!r}:"
    findings = describe_findings(draft.check["findings"])
    return "\n".join([title, *format_facts(describe_draft(draft)), *findings])


def _request(options: argparse.Namespace, session: Session, draft: Draft, line: StatusLine) -> dict[str, Any]:
    # One key for the act: however often its request is repeated, one production is made.
    key = secrets.token_urlsafe(18)
    try:
        production = session.api.request("POST", "/productions", draft.body, key)
    except ApiError as exc:
        if exc.code == "production-refused":
            exc.exit_code = REJECTED
        raise
    return production if options.no_wait else follow_production(session, production, line)


def _report(options: argparse.Namespace, session: Session, draft: Draft, production: dict[str, Any]) -> int:
    if options.json:
        print(format_json(_describe(draft, production)))
    else:
        print("\n".join(describe_outcome(production, session)))
    return DONE if options.no_wait else choose_exit_code(production, "confirmed")


def _describe(draft: Draft, production: dict[str, Any] | None) -> dict[str, Any]:
    return {"request": to_snake(draft.body), "check": to_snake(draft.check), "production": to_snake(production)}
