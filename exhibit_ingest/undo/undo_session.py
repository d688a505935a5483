"""Request the undo of an import, wait until it has ended, and download what was kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exhibit_ingest.acts.imports import request_import
from exhibit_ingest.client.answers import ApiError
from exhibit_ingest.errors import CommandError
from exhibit_ingest.program import format_command
from exhibit_ingest.session.downloads import download, make_private_folder
from exhibit_ingest.session.following import Clock, Display, Work, follow, say_once
from exhibit_ingest.session.pages import iterate
from exhibit_ingest.session.session import Session

# The list of what was kept follows the end of an undo within seconds.
_REPORT_S = 60.0
_OPEN = ("requested", "running")
_WITHOUT_REPORT = ("cancelled", "superseded")
# The images of documents go before the documents: `shell.imports.undo.commands` refuses another order.
_OTHER_FIRST = re.compile(r"\bimport (\d+) .*\bundo it first", re.IGNORECASE)
_NOTHING_TO_CONFIRM = ("undoing", "undone", "checked")
# In the name of a folder.
_UNSAFE = re.compile(r"[^\w.-]")
Undo = dict[str, Any]


@dataclass(frozen=True)
class UndoOutcome:
    """The undo as the API describes it, the CSV file of what was kept, if anything was, and the import's file and case.

    `was_undone_before` means that an earlier command had undone the import, and this one changed nothing. The outcome
    of a requested dry run is that of the undo itself if the import is undone or being undone.
    """

    undo: Undo
    kept: Path | None
    seconds: float
    file_name: str
    case: str
    was_undone_before: bool = False
    is_dry_run_requested: bool = False

    @property
    def is_undo_itself(self) -> bool:
        """Whether a dry run was requested, and this is the outcome of the undo instead."""
        return self.is_dry_run_requested and self.undo["undoNo"] is not None and not self.undo["dryRun"]


def undo_import(
    session: Session,
    import_id: int,
    *,
    dry_run: bool,
    confirm: Callable[[dict[str, Any]], bool],
    display: Display,
    clock: Clock | None = None,
) -> UndoOutcome | None:
    """Undo the import and return the outcome.

    Undos of the same case that run end first: the API would refuse another one meanwhile. `confirm` is called with the
    import unless it is being undone, is undone or was only checked; None is returned if it says no. Raises
    WrongUsageError for an unknown import, and CommandError if the API refuses the undo, with its reason.
    """
    clock = clock or Clock()
    import_record = request_import(session, "GET", import_id)
    if import_record["status"] not in _NOTHING_TO_CONFIRM and not confirm(import_record):
        return None
    began = clock.now()
    for other in list(iterate(session.api, "/imports", caseId=import_record["caseId"], status="undoing")):
        if other["id"] != import_id:
            display.say(f"Import {other['id']} of the same case is being undone; this undo begins when that has ended.")
            _wait(session, other["id"], display, clock)
    undo = _request(session, import_id, dry_run=dry_run)
    was_undone_before = undo["status"] == "undone"
    if undo["status"] in _OPEN:
        undo = _wait(session, import_id, display, clock)
    kept = None if was_undone_before else _download(session, import_id, undo)
    names = (import_record["fileName"], import_record["case"])
    return UndoOutcome(undo, kept, clock.now() - began, *names, was_undone_before, dry_run)


def describe_progress(undo: Undo) -> str:
    """Return the line that shows how far an undo is."""
    done, parts = undo["parts"] - undo["partsLeft"], undo["parts"]
    return f"import {undo['importId']}: {done:,}/{parts:,} parts {'examined' if undo['dryRun'] else 'undone'}"


def _wait(session: Session, import_id: int, display: Display, clock: Clock) -> Undo:
    """Return the undo once it has ended and its file is written, or should be."""
    ended_at: list[float] = []

    def has_ended(undo: Undo) -> bool:
        if undo["status"] in _OPEN:
            return False
        ended_at.append(clock.now())
        return bool(undo["report"]) or undo["status"] in _WITHOUT_REPORT or clock.now() - ended_at[0] > _REPORT_S

    def read() -> Undo:
        # The URL is signed anew for every answer: it would look like progress.
        undo = request_import(session, "GET", import_id, "/undo")
        return {**undo, "report": bool(undo["report"])}

    def show(undo: Undo) -> None:
        display.show(describe_progress(undo))

    work = Work(f"The undo of import {import_id}", read, has_ended, show, fail=say_once(display))
    return follow(session.machine, work, clock)


def _download(session: Session, import_id: int, undo: Undo) -> Path | None:
    """Return the path of the list of what was kept; None if nothing was, or the list is not written."""
    if not (undo["kept"] and undo["undoNo"]):
        return None
    report = request_import(session, "GET", import_id, "/undo")["report"]
    if not report:
        return None
    folder = make_private_folder(session.folder / "reports")
    # Two stacks can have imports of one number.
    place = "" if session.machine else f"{_UNSAFE.sub('_', session.stack)}-"
    path = make_private_folder(folder / f"{place}{import_id}-undo-{undo['undoNo']}") / "kept.csv"
    download(session.storage, report, path)
    return path


def _request(session: Session, import_id: int, *, dry_run: bool) -> Undo:
    try:
        return request_import(session, "POST", import_id, "/undo", {"dryRun": dry_run})
    except ApiError as exc:
        if exc.code != "wrong-state":
            raise
        reason = str(exc)
        other = _OTHER_FIRST.search(reason)
        if other:
            # The command that undoes the other import, which has to be undone first.
            reason = f"{reason.removesuffix('.')}: {format_command('undo', other[1], *session.name_options())}"
        raise CommandError(f"import {import_id} cannot be undone: {reason}") from exc
