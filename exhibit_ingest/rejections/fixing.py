"""Load the corrected rows of an import from the file that its rejected rows were saved to.

Guaranteed: the file is sent as an import of its own that says which import it corrects, so that each line is corrected
once; sent again after an interruption, it is the same import. The imports of pages that follow it in a volume are
waited for, too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from exhibit_ingest.acts.imports import (
    IMPORT_COUNTS,
    build_entry,
    describe_rows,
    list_rows,
    name_import,
    request_import,
    wait_for_import,
)
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED, REJECTED
from exhibit_ingest.program import format_command
from exhibit_ingest.rejections.outcome import Outcome
from exhibit_ingest.session.following import Display
from exhibit_ingest.session.output import format_count
from exhibit_ingest.session.pages import iterate
from exhibit_ingest.session.session import Session
from exhibit_ingest.session.tables import print_rows

_MOST_LISTED = 20
_WELL = ("completed", "completed_with_rejections")
State = Mapping[str, Any]


def check_corrected_file(path: Path) -> None:
    """Raise WrongUsageError unless the file can be read."""
    try:
        with path.open("rb") as file:
            is_empty = not file.read(1)
    except OSError as exc:
        raise WrongUsageError(f"{path} cannot be read ({exc.strerror}). Check its path and your rights.") from exc
    if is_empty:
        raise WrongUsageError(f"{path} is empty: name the file that --csv saved, with corrected rows")


def import_corrected(session: Session, options: argparse.Namespace, display: Display) -> Outcome:
    """Send the file, wait for its import, and return the result. Raises CommandError."""
    began = time.monotonic()
    original = request_import(session, "GET", options.import_id, "/progress")
    number = _send(session, options, original, display)
    try:
        state = wait_for_import(session, number, display, is_sent=True)
        images = [wait_for_import(session, each, display) for each in _list_images(session, original, number)]
    except KeyboardInterrupt as interruption:
        interruption.add_note(_describe_interruption(session, options, number))
        raise
    rejections = list(iterate(session.api, f"/imports/{number}/rejections", _MOST_LISTED))
    open_rows = request_import(session, "GET", options.import_id, "/progress")["openRejections"]
    document = {
        **build_entry(state),
        "corrects": options.import_id,
        "open_rejections": open_rows,
        "rejections": [_describe_rejection(each) for each in rejections],
        "images": [build_entry(each) for each in images],
        "seconds": round(time.monotonic() - began, 3),
    }
    code = _choose_code([state, *images])
    return Outcome(document, lambda: _print(session, [state, *images], rejections, options.import_id, open_rows), code)


def _send(session: Session, options: argparse.Namespace, original: State, display: Display) -> int:
    """Return the number of the import that has the file."""
    from exhibit_ingest.uploads.faults import UploadFault
    from exhibit_ingest.uploads.journal import Journal
    from exhibit_ingest.uploads.local_files import find_file
    from exhibit_ingest.uploads.protocols import Progress
    from exhibit_ingest.uploads.uploads import Uploads

    def show(progress: Progress) -> None:
        sent = f"{progress.bytes_done:,} of {progress.bytes:,} bytes sent"
        display.show(f"{options.fix.name}: {progress.message or sent}")

    place = f"{session.stack} {session.me['tenantId']}"
    uploads = Uploads(session.api, place, Journal(session.folder), session.storage, on_progress=show)
    request = {"case": original["case"], "createCase": False, "corrects": options.import_id}
    try:
        sent = uploads.send_import(find_file(options.fix), request)
    except UploadFault as exc:
        raise CommandError(f"{options.fix} was not imported: {exc}") from exc
    except OSError as exc:
        raise CommandError(
            f"{options.fix} cannot be read ({exc.strerror or exc}). Check its path and your rights."
        ) from exc
    except KeyboardInterrupt as interruption:
        interruption.add_note("no corrected row is in. Run the same command again to send the rest of the file.")
        raise
    # What follows needs no request.
    sent.close()
    return sent.number


def _list_images(session: Session, original: State, number: int) -> list[int]:
    """Return the imports of pages that follow the import of the corrected rows; they exist once that has ended."""
    found: list[int] = []
    if original["volumeId"] is None:
        return found
    for each in iterate(session.api, "/imports", caseId=original["caseId"]):
        if each["id"] <= number:
            break
        if each["volumeId"] == original["volumeId"] and each["kind"] == "images" and each["corrects"] is not None:
            found.append(each["id"])
    return sorted(found)


def _describe_interruption(session: Session, options: argparse.Namespace, number: int) -> str:
    listed = format_command("rejections", str(options.import_id), *session.name_options())
    if session.machine is None or session.machine.is_kept:
        return f"import {number}, of the corrected rows, goes on in the stack. To see what is open: {listed}"
    retry = [format_command(name, str(number), *session.name_options()) for name in ("cancel", "retry")]
    return f"import {number}, of the corrected rows, stops here. To go on with it: {retry[0]} and then {retry[1]}"


def _choose_code(states: Sequence[State]) -> int:
    if any(each["status"] not in _WELL for each in states):
        return FAILED
    return REJECTED if any(each["rejected"] for each in states) else DONE


def _describe_rejection(rejection: State) -> dict[str, Any]:
    members = {"line": "line", "original_line": "originalLine", "column": "column", "code": "code"}
    return {name: rejection[member] for name, member in members.items()} | {"message": rejection["message"]}


def _print(
    session: Session, states: Sequence[State], rejections: Sequence[State], original_id: int, open_rows: int
) -> None:
    columns, rows = list_rows(states)
    print_rows(columns, rows, numbers=IMPORT_COUNTS)
    state = states[0]
    if state["failureCode"]:
        print(f"{name_import(state)} failed. {state['failureCode']}: {state['failureMessage']}")
    else:
        print(f"{name_import(state)}: {describe_rows(state)}")
    for each in rejections:
        print(f"  line {each['originalLine'] or each['line']}, {each['code']}: {each['message']}")
    if state["rejected"] > len(rejections):
        listed = format_command("rejections", str(state["id"]), *session.name_options())
        print(f"  ... and more: {listed}")
    if not open_rows:
        print(f"No rejected row of import {original_id} is open any more.")
        return
    listed = format_command("rejections", str(original_id), *session.name_options())
    verb = "is" if open_rows == 1 else "are"
    print(f"{format_count(open_rows, 'row')} of import {original_id} {verb} still open: {listed}")
