"""Cancel the import of a command that was interrupted or killed, and count what is in.

Guaranteed: the counts are those of the chunks that were committed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

from exhibit_ingest.errors import CommandError
from exhibit_ingest.importing.state import ImportState, read_import
from exhibit_ingest.session.following import Clock

if TYPE_CHECKING:
    from exhibit_ingest.session.session import Session

INTERRUPTED = "the command was interrupted"
# Ctrl-C ends a command within 3 s: the stack of this machine needs the rest to stop.
_SECONDS, _SECONDS_IN_ALL = 1.8, 2.2
_POLL_SECONDS = 0.1
Result = TypeVar("Result")


def call_in_time(act: Callable[[], Result]) -> Result:
    """Return the result of what is done after an interruption; it is left behind where it takes too long.

    Raises its exceptions, and CommandError after 2.2 s.
    """
    ended: Future[Result] = Future()

    def run() -> None:
        try:
            ended.set_result(act())
        except BaseException as exc:
            ended.set_exception(exc)

    threading.Thread(target=run, daemon=True, name="after-interruption").start()
    try:
        return ended.result(_SECONDS_IN_ALL)
    except TimeoutError as exc:
        raise CommandError("The stack did not answer in time") from exc


def cancel_import(session: Session, import_id: int, clock: Clock | None = None) -> ImportState:
    """Cancel an import if it has not ended; return its state, after its reports are written if it has any.

    Raises CommandError if it cannot be cancelled.
    """
    from exhibit_ingest.client.answers import ApiError

    clock = clock or Clock()
    state = read_import(session.api, import_id)
    if not state.ended:
        try:
            session.api.request("POST", f"/imports/{import_id}/cancel")
        except ApiError as error:
            # One that has completed meanwhile is a conflict.
            if error.status != HTTPStatus.CONFLICT:
                raise
    deadline = clock.now() + _SECONDS
    while not _is_over(state) and clock.now() < deadline:
        clock.sleep(_POLL_SECONDS)
        state = read_import(session.api, import_id)
    return state


def _is_over(state: ImportState) -> bool:
    """Return whether the import has ended, with its reports; a check and a file that was not split have none."""
    has_none = not state.rows_seen or state.details.get("phase") == "check"
    return state.ended and (has_none or state.has_reports)


def describe_cancelled(state: ImportState | None) -> str:
    """Return a sentence about an import after `cancel_import`; None if its file was being sent.

    Its last byte may have arrived although no answer came.
    """
    if state is None:
        return "the file may have arrived whole: the same command goes on with its import, and `imports` lists it."
    if state.status == "awaiting_upload":
        return "the import had not started: none of its rows are in."
    counts = f"{state.rows_imported:,} of {state.rows_seen:,} rows are in, {state.rejected:,} rejected"
    if state.status != "cancelled":
        return f"the import is {state.status.replace('_', ' ')}: {counts}."
    return f"the import was cancelled: {counts}. Import the file again to get the remaining rows."
