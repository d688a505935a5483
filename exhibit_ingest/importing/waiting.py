"""Wait for an import."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from exhibit_ingest.importing.state import CHECKED, SPLITTING, ImportState, read_import, read_progress
from exhibit_ingest.program import format_command
from exhibit_ingest.session.following import Clock, Work, follow

if TYPE_CHECKING:
    from exhibit_ingest.session.session import Session

_SECONDS_WITHOUT_DETAILS = 2.0
OnState = Callable[[ImportState], None]
OnFailures = Callable[[list[str]], None]


def wait_for_import(
    session: Session,
    import_id: int,
    on_state: OnState,
    on_failures: OnFailures | None = None,
    clock: Clock | None = None,
) -> ImportState:
    """Wait until an import has finished and return its last state, with details; `on_state` gets every state.

    Raises StalledError if nothing changes, and CommandError if the stack has ended or a disk of this machine is full.
    """
    clock = clock or Clock()
    began = clock.now()

    def read() -> ImportState:
        return _read(session, import_id, clock.now() - began)

    def explain(state: ImportState) -> str:
        return _explain_stalled(session, state)

    work = Work(f"Import {import_id}", read, lambda state: state.finished, on_state, explain, on_failures)
    state = follow(session.machine, work, clock)
    return state if state.details else read_import(session.api, import_id)


def _read(session: Session, import_id: int, waited: float) -> ImportState:
    state = read_progress(session.api, import_id)
    # Only the details say whether a check has its reports, and what a split waits for.
    if state.status == CHECKED or (state.status == SPLITTING and waited > _SECONDS_WITHOUT_DETAILS):
        details = read_import(session.api, import_id)
        return details if details.ended else replace(details, details={})
    return state


def _explain_stalled(session: Session, state: ImportState) -> str:
    listing = format_command("imports", "--case", "NAME", *session.name_options())
    logs = "" if session.machine is None else f" The logs of the functions are in {session.folder / 'logs'}."
    return f"It is {state.status.replace('_', ' ')}, and may go on: {listing} shows it.{logs}"
