"""Request the undo of an import, wait until it has ended, and download what was kept."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from exhibit_ingest.program import format_command
from exhibit_ingest.stack_parts import HasActivity, HasApi, HasBucket, HasLogs, HasStateFolder
from exhibit_ingest.undo.resuming import OpenUndo, build_undo_command
from local.errors import LocalError, UsageError
from local.private_files import make_private_folder

STALLED_SECONDS = 30.0
_USER = "exhibit-ingest"
_POLL_SECONDS = 0.1
_OPEN = ("requested", "running")
# The images of documents go before the documents: `shell.imports.undo.commands` refuses another order.
_OTHER_FIRST = re.compile(r"\bimport (\d+) .*\bundo it first", re.IGNORECASE)
_NOTHING_TO_CONFIRM = ("undoing", "undone", "checked")
Undo = dict[str, Any]


class UndoStack(HasActivity, HasApi, HasBucket, HasLogs, HasStateFolder, Protocol):
    """The part of a stack that an undo needs."""


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
    stack: UndoStack,
    tenant: str,
    import_id: int,
    *,
    dry_run: bool,
    confirm: Callable[[dict[str, Any]], bool],
    on_state: Callable[[Undo], None],
    wait_for: Sequence[OpenUndo] = (),
) -> UndoOutcome | None:
    """Undo the import and return the outcome; `on_state` is called with every state that is read.

    Those of `wait_for` that are undos of the same case end first: the API would refuse another one meanwhile.
    `confirm` is called with the import unless it is being undone, is undone or was only checked; None is returned if it
    says no. Raises UsageError for an unknown import, LocalError if the API refuses the undo, with its reason, or if
    nothing goes on any more.
    """
    import_record = _request(stack, tenant, "GET", import_id)
    if import_record["status"] not in _NOTHING_TO_CONFIRM and not confirm(import_record):
        return None
    began = time.monotonic()
    for each in wait_for:
        if each.case_id == import_record["caseId"] and each.import_id != import_id and not each.dry_run:
            _wait(stack, tenant, each.import_id, on_state)
    undo = _request(stack, tenant, "POST", import_id, "/undo", {"dryRun": dry_run})
    kept, was_undone_before = None, undo["status"] == "undone"
    if undo["status"] in _OPEN:
        undo = _wait(stack, tenant, import_id, on_state)
        kept = _download(stack, undo) if undo["report"] and undo["kept"] else None
    names = (import_record["fileName"], import_record["case"])
    return UndoOutcome(undo, kept, time.monotonic() - began, *names, was_undone_before, dry_run)


def _wait(stack: UndoStack, tenant: str, import_id: int, on_state: Callable[[Undo], None]) -> Undo:
    """Return the undo once it has ended and its file is written, or will not be."""
    last: Undo | None = None
    changed = time.monotonic()
    while True:
        idle = stack.is_idle()
        undo = _request(stack, tenant, "GET", import_id, "/undo")
        if undo != last:
            last, changed = undo, time.monotonic()
            on_state(undo)
        has_ended = undo["status"] not in _OPEN
        if has_ended and (undo["report"] or idle):
            return undo
        if idle and time.monotonic() - changed > STALLED_SECONDS:
            raise LocalError(
                f"the undo of import {import_id} makes no progress; see the logs in {stack.log_directory}, and run it "
                f"again: {build_undo_command(import_id, tenant)}"
            )
        stack.wait_for_activity(_POLL_SECONDS)


def _download(stack: UndoStack, undo: Undo) -> Path:
    # The path of the URL ends with the file's key: /bucket/reports/12/undo-1/1/kept.csv.
    key = "reports/" + unquote(urlsplit(undo["report"]).path).partition("/reports/")[2]
    reports = make_private_folder(stack.state_dir / "reports")
    path = make_private_folder(reports / f"{undo['importId']}-undo-{undo['undoNo']}") / "kept.csv"
    stack.s3.download_file(stack.bucket, key, str(path))
    path.chmod(0o600)
    return path


def _request(
    stack: UndoStack, tenant: str, method: str, import_id: int, path: str = "", body: object = None
) -> dict[str, Any]:
    status, raw = stack.request_api(tenant, _USER, method, f"/imports/{import_id}{path}", body)
    document: dict[str, Any] = json.loads(raw or b"{}")
    if status == HTTPStatus.NOT_FOUND:
        raise UsageError(
            f"the tenant {tenant!r} has no import {import_id}; the imports of a case are listed by: "
            f"{format_command('imports', '--case', 'NAME')}"
        )
    if status >= HTTPStatus.BAD_REQUEST:
        reason = document.get("detail") or f"the API returned {status}"
        raise LocalError(f"import {import_id} cannot be undone: {_add_command(reason, tenant)}")
    return document


def _add_command(reason: str, tenant: str) -> str:
    """Return the reason with the command that undoes the other import which it says to undo first, if it does."""
    other = _OTHER_FIRST.search(reason)
    return f"{reason.removesuffix('.')}: {build_undo_command(int(other[1]), tenant)}" if other else reason
