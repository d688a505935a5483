"""Save the rejected rows of an import, in the format of its file, and why each was rejected."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from exhibit_ingest.acts.imports import has_reports, name_import, request_import
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.program import format_command
from exhibit_ingest.rejections.outcome import Outcome
from exhibit_ingest.session.downloads import download
from exhibit_ingest.session.following import Display
from exhibit_ingest.session.output import format_count
from exhibit_ingest.session.session import Session


def check_new_file(path: Path) -> None:
    """Raise WrongUsageError unless a new file can have this path: an earlier one may have someone's corrections."""
    if path.exists():
        raise WrongUsageError(f"{path} exists, and may have corrections: name a new file, or move that one away")
    if not path.parent.is_dir():
        raise WrongUsageError(f"the folder {path.parent} does not exist: create it, or name another one")


def name_report(path: Path) -> Path:
    """Return the path of the reasons, beside that of the rejected rows."""
    return path.with_name(f"{path.stem}-report.csv")


def save_rows(session: Session, options: argparse.Namespace, display: Display) -> Outcome:
    """Download the rejected rows and their reasons. Raises CommandError."""
    state = request_import(session, "GET", options.import_id, "/progress")
    if not state["rejected"]:
        nothing = {"import": options.import_id, "rejected_rows": None, "report": None}
        return Outcome(nothing, lambda: print(f"{name_import(state)}: no row was rejected, and nothing was saved."))
    files = request_import(session, "GET", options.import_id, "/reports")
    if not (files["rejectedRows"] and files["report"]):
        raise CommandError(f"{name_import(state)}: {_explain_missing(state)}")
    report = name_report(options.csv)
    try:
        download(session.storage, files["report"]["url"], report)
        download(session.storage, files["rejectedRows"]["url"], options.csv)
    except OSError as exc:
        raise CommandError(f"{options.csv} cannot be written: {exc.strerror}; choose another file") from exc
    document = {"import": options.import_id, "rejected_rows": str(options.csv), "report": str(report)}
    return Outcome(document, lambda: _print(session, state, options.csv, report))


def _explain_missing(state: dict[str, Any]) -> str:
    if state["phase"] == "check":
        return "it was only checked, so that it has no rejected rows to correct."
    if not has_reports(state):
        return "its report files are not written yet. Run the command again in a minute."
    return f"it is {str(state['status']).replace('_', ' ')} and has no report files."


def _print(session: Session, state: dict[str, Any], path: Path, report: Path) -> None:
    print(f"{format_count(state['rejected'], 'row')} of {name_import(state)}: {path}")
    print(f"Why each was rejected: {report}")
    closed = state["rejected"] - state["openRejections"]
    if closed > 0:
        print(f"{format_count(closed, 'row')} of it are corrected or discarded already: delete them from the file.")
    if state["openRejections"]:
        fix = format_command("rejections", str(state["id"]), "--fix", str(path), *session.name_options())
        print(f"Correct the cells, keep all columns, and import the file: {fix}")
