"""An import of a stack: its state, requests about it, and the wait until it has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.program import format_command
from exhibit_ingest.session.following import Clock, Display, Document, Work, follow, say_once

if TYPE_CHECKING:
    from exhibit_ingest.session.session import Session

# What an import does by itself, until it has one of the other statuses.
WORKING = ("waiting", "splitting", "checking", "running")
# Report files follow within seconds the end of an import that has one of these.
_WITH_REPORTS = ("completed", "completed_with_rejections", "cancelled")
_REPORTS_S = 60.0
# The columns of numbers in a table of imports.
IMPORT_COUNTS = ("rows", "imported", "updated", "unchanged", "rejected", "warnings")


def request_import(session: Session, method: str, import_id: int, path: str = "", body: Any = None) -> Document:
    """Send a request about an import; raise WrongUsageError if there is no such import, else what the API raises."""
    from exhibit_ingest.client.answers import ApiError

    try:
        return session.api.request(method, f"/imports/{import_id}{path}", body)
    except ApiError as exc:
        if exc.code != "not-found":
            raise
        listed = format_command("imports", "--case", "NAME", *session.name_options())
        missing = f"tenant {session.me['tenantId']!r} has no import {import_id}"
        raise WrongUsageError(f"{missing}; the imports of a case are listed by: {listed}") from exc


def wait_for_import(
    session: Session, import_id: int, display: Display, clock: Clock | None = None, *, is_sent: bool = False
) -> Document:
    """Return the import once it has ended and its report files are written, or should be. Raises CommandError.

    One that awaits its file has ended, too, unless the file is sent.
    """
    clock = clock or Clock()
    ended_at: list[float] = []

    def has_ended(state: Document) -> bool:
        if state["status"] in WORKING or (is_sent and state["status"] == "awaiting_upload"):
            return False
        ended_at.append(clock.now())
        return has_reports(state) or clock.now() - ended_at[0] > _REPORTS_S

    def read() -> Document:
        return request_import(session, "GET", import_id, "/progress")

    def show(state: Document) -> None:
        display.show(describe_progress(state))

    work = Work(f"Import {import_id}", read, has_ended, show, fail=say_once(display))
    return follow(session.machine, work, clock)


def has_reports(state: Mapping[str, Any]) -> bool:
    """Return whether the report files of an import that has ended are written, or will never be."""
    is_with = state["status"] in _WITH_REPORTS and state["chunks"]
    return not is_with or bool(state["reportsGeneration"] >= state["generation"])


def describe_progress(state: Mapping[str, Any]) -> str:
    """Return the line that shows how far an import is."""
    status = str(state["status"]).replace("_", " ")
    if not state["chunks"]:
        return f"import {state['id']}: {status}"
    done = state["chunksDone"] + state["chunksFailed"]
    rows = f"{state['rowsProcessed']:,} of {state['rowsSeen']:,} rows"
    return f"import {state['id']}: {status}, {rows}, {done:,}/{state['chunks']:,} chunks"


def name_import(import_record: Mapping[str, Any]) -> str:
    """Return the name of an import for people: number, file and case."""
    return f"Import {import_record['id']} ({import_record['fileName']}, case {import_record['case']!r})"


def describe_rows(state: Mapping[str, Any]) -> str:
    """Return what of an import is in the case."""
    imported = state["imported"] + state["unchanged"] + state["updated"]
    if state["phase"] == "check":
        return "Nothing was imported: the file was only checked."
    rejected = f", {state['rejected']:,} rejected" if state["rejected"] else ""
    return f"{imported:,} of {state['rowsSeen']:,} rows are in{rejected}."


def build_entry(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of --json that describe an import."""
    counts = {"rows_seen": "rowsSeen", "open_rejections": "openRejections"}
    names = ("imported", "unchanged", "updated", "rejected", "warnings")
    return {
        "import": state["id"],
        "case": state["case"],
        "file_name": state["fileName"],
        "status": state["status"],
        "phase": state["phase"],
        **{name: state[member] for name, member in counts.items()},
        **{name: state[name] for name in names},
        "failure_code": state["failureCode"],
        "error": state["failureMessage"],
    }


def list_rows(states: Sequence[Mapping[str, Any]]) -> tuple[Sequence[str], list[Sequence[object]]]:
    """Return the columns and rows of a table of imports."""
    members = ("rowsSeen", *IMPORT_COUNTS[1:])
    rows: list[Sequence[object]] = [
        (str(each["id"]), each["fileName"], str(each["status"]).replace("_", " "), *(each[name] for name in members))
        for each in states
    ]
    return ("import", "file name", "status", *IMPORT_COUNTS), rows
