"""Have the stack write documents to a file, wait, and download it.

Guaranteed: the file here is deleted after its use. The stack keeps its own for some days, as the API says.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from exhibit_ingest.catalog.progress import Line, explain_going_on
from exhibit_ingest.errors import CommandError
from exhibit_ingest.session.downloads import DownloadError, download, make_private_folder
from exhibit_ingest.session.following import Work, follow
from exhibit_ingest.session.session import Session

_OPEN = ("requested", "running")


@contextlib.contextmanager
def export_documents(session: Session, case: str, filters: Mapping[str, Any], columns: Sequence[str]) -> Iterator[Path]:
    """Give the file of an export, in JSON Lines with these columns of the API, for the block. Raises CommandError."""
    body = {"case": case, "kind": "documents", "format": "jsonl", "filters": dict(filters), "columns": list(columns)}
    export = _wait(session, session.api.request("POST", "/exports", body))
    folder = make_private_folder(session.folder / "exports")
    with tempfile.TemporaryDirectory(dir=folder) as private:
        path = Path(private) / "documents.jsonl"
        _download(session, export["id"], path)
        yield path


def _wait(session: Session, export: dict[str, Any]) -> dict[str, Any]:
    """Return the export once it is completed; cancel it if the wait is interrupted. Raises CommandError.

    One that does not change goes on.
    """
    line, path = Line(sys.stderr), f"/exports/{export['id']}"

    def show(state: dict[str, Any]) -> None:
        of = f" of {state['expectedDocuments']:,}" if state["expectedDocuments"] else ""
        line.show(f"Export {state['id']}: {state['documents']:,}{of} documents")

    def abandon() -> str:
        with contextlib.suppress(CommandError):
            session.api.request("POST", f"{path}/cancel")
        return ""

    def read() -> dict[str, Any]:
        return session.api.request("GET", path)

    def explain(_: dict[str, Any]) -> str:
        return explain_going_on(session)

    work = Work(
        f"Export {export['id']}", read, lambda state: state["status"] not in _OPEN, show, explain, None, abandon
    )
    try:
        export = follow(session.machine, work, state=export)
    finally:
        line.clear()
    if export["status"] != "completed":
        reason = export["reason"] or f"it is {export['status']}"
        raise CommandError(f"Export {export['id']} has no file: {reason}. Run the command again.")
    return export


def _download(session: Session, export_id: int, path: Path) -> None:
    for is_last in (False, True):
        url = session.api.request("GET", f"/exports/{export_id}/file")["url"]
        try:
            download(session.storage, url, path)
        except DownloadError as exc:
            if is_last or not exc.is_expired:
                raise
        else:
            return
