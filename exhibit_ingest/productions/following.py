"""Follow a production to its end, with its progress on standard error."""

from __future__ import annotations

import argparse
from typing import Any, Protocol

from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.program import format_command
from exhibit_ingest.session.following import Clock, Work, follow
from exhibit_ingest.session.session import Session


class Shown(Protocol):
    """The line on standard error that says how far something is."""

    def show(self, line: str) -> None:
        """Show how far it is."""


def follow_production(
    session: Session, production: dict[str, Any], line: Shown, clock: Clock | None = None
) -> dict[str, Any]:
    """Return the production once it has ended, or needs attention. Raises CommandError.

    Whatever ends this earlier has a note: how to see what the production does.
    """
    number = production["id"]

    def read() -> dict[str, Any]:
        return session.api.request("GET", f"/productions/{number}")

    def show(state: dict[str, Any]) -> None:
        line.show(describe_progress(state))

    def abandon() -> str:
        return _describe_interrupted(session, number)

    work = Work(f"Production {number}", read, has_ended, show, abandon=abandon)
    return follow(session.machine, work, clock, production)


def _describe_interrupted(session: Session, number: int) -> str:
    if _goes_on(session):
        return f"Production {number} goes on. To see how far it is: {format_show(session, number)}"
    serve = format_command("serve")
    return f"Production {number} stopped with this command. Start `{serve}`: after some minutes it goes on there."


def check_waiting(options: argparse.Namespace, session: Session) -> None:
    """Raise WrongUsageError if the command would not wait, and the stack ends with it."""
    if options.no_wait and not _goes_on(session):
        raise WrongUsageError(f"--no-wait needs a stack that goes on running. Start one: {format_command('serve')}")


def _goes_on(session: Session) -> bool:
    return session.machine is None or session.machine.is_kept


def has_ended(production: dict[str, Any]) -> bool:
    """Return whether nothing goes on by itself any more; after the confirmation, others are notified."""
    if production["status"] == "confirmed":
        return all(step["status"] != "pending" for step in production["steps"])
    return production["status"] in ("cancelled", "needs_attention")


def describe_progress(production: dict[str, Any]) -> str:
    """Return the line that says which step is under way."""
    name = f"production {production['id']}"
    if production["status"] == "cancelling":
        return f"{name}: is being cancelled"
    step = next((each for each in production["steps"] if each["status"] == "pending"), None)
    if step is None:
        return f"{name}: {production['status']}"
    done = f" {step['done'] or 0:,} of {step['total']:,} documents" if step["total"] else ""
    return f"{name}: {step['name']}{done}"


def choose_exit_code(production: dict[str, Any], expected: str) -> int:
    """Return the exit code for a production that was to have the expected status."""
    if production["status"] == "needs_attention":
        return REJECTED
    return DONE if production["status"] == expected else FAILED


def format_show(session: Session, number: int) -> str:
    """Return the command that shows a production."""
    return format_command("productions", "show", str(number), *session.name_options())
