"""What can be done with an import in each status, as commands that can be pasted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from exhibit_ingest.acts.imports import name_import
from exhibit_ingest.program import format_command

if TYPE_CHECKING:
    from exhibit_ingest.session.session import Session

_ACCEPTING = {"acknowledgeWarnings": "--acknowledge-warnings", "acceptRejections": "--accept-rejections"}


def explain_refusal(session: Session, act: str, found: Mapping[str, Any], reason: str) -> str:
    """Return why an import cannot be run, cancelled or retried: what it is, the API's reason, and what can be done."""
    steps = " ".join(f"{step}." for step in list_next_steps(session, found, without=act))
    return f"{name_import(found)} cannot be {_PARTICIPLES[act]}: {reason.rstrip('.')}. {steps}".rstrip()


_PARTICIPLES = {"run": "run", "cancel": "cancelled", "retry": "retried"}


def name_accepting_options(reason: str) -> str:
    """Return the API's reason with the options of the command in place of members of its request."""
    for member, option in _ACCEPTING.items():
        reason = reason.replace(member, option)
    return reason


def list_next_steps(session: Session, state: Mapping[str, Any], *, without: str = "") -> Iterator[str]:
    """Yield what can be done next, but for the act `without`; each step without a period at its end."""
    number, names = str(state["id"]), session.name_options()

    def write(name: str, *more: str) -> str:
        return format_command(name, number, *more, *names)

    status, actions = state["status"], state["actions"]
    if state["openRejections"]:
        yield f"To see and correct its rejected rows: {write('rejections')}"
    if "retry" in actions and without != "retry":
        yield f"To go on with it: {write('retry')}"
    if "cancel" in actions and status != "cancelled" and without != "cancel":
        yield f"To stop it: {write('cancel')}"
    if status in ("uploaded", "checked") and without != "run":
        yield f"To import its file: {write('run')}"
    if status in ("completed", "completed_with_rejections", "undone_with_conflicts", "undo_failed") and without:
        yield f"To take back what it did: {write('undo')}"
    if status == "undoing":
        yield f"To see how far its undo is: {write('undo', '--dry-run')}"
