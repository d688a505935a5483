"""The command `open`: get a file of a document, and show it or save it."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from exhibit_ingest.catalog.finding import find_document
from exhibit_ingest.catalog.viewers import build_file_name, is_opened, open_file
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import format_command
from exhibit_ingest.session.downloads import download, make_private_folder
from exhibit_ingest.session.output import format_json, open_draft
from exhibit_ingest.session.pages import build_query, iterate
from exhibit_ingest.session.session import Session

_SHOWN = 200
_IMAGES = ("image", "page")


def check_output(options: argparse.Namespace) -> None:
    """Raise WrongUsageError for a file that is there already: what it has must not be lost."""
    if options.output is not None and options.output.exists():
        raise WrongUsageError(f"{options.output} is there already. Name a new file, or remove it.")


def open_document(session: Session, options: argparse.Namespace, view: Callable[[Path], None] = open_file) -> int:
    """Get the file, and open it with `view` unless it is to be saved or is of a type that is not opened.

    Raises CommandError.
    """
    document = find_document(session, options.case, options.control_number)
    file = _find_file(session, document, options)
    is_shown = options.output is None and is_opened(_name_path(file))
    path = options.output or _choose_path(session, options, file)
    save(session, document, file, path)
    if is_shown:
        view(path)
    if options.json:
        result = {"kind": file["kind"], "page": file["page"], "path": str(path), "opened": is_shown}
        print(format_json({"file": result}))
    else:
        _report(file, path, is_shown=is_shown, is_saved=options.output is not None)
    return DONE


def _find_file(session: Session, document: Mapping[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """Return the file that the options name. Raises CommandError if the document does not have it, or it is missing."""
    what = options.kind or f"page {options.page}"
    name = shorten_printable(options.control_number, _SHOWN)
    for each in iterate(session.api, f"/exhibits/{document['id']}/files"):
        if each["kind"] == options.kind or (options.page and each["page"] == options.page):
            path = shorten_printable(each["path"] or "", _SHOWN)
            if each["state"] == "missing":
                lacks = f"its volume does not have {path}" if path else "its volume was deleted"
                raise CommandError(f"The {what} of {name} is missing: {lacks}. Request it from the sender.")
            if each["url"] is None and path:
                raise CommandError(
                    f"The {what} of {name} has no file that can be read: its path is {path}. Ask the operator."
                )
            return each
    pages = f"; it has {document['pageCount']:,} pages" if options.page else ""
    listed = format_command("show", options.control_number, "--case", options.case, *session.name_options())
    raise CommandError(f"{name} has no {what}{pages}. Its files are listed by: {listed}")


def _name_path(file: Mapping[str, Any]) -> str:
    return file["path"] or "text.txt"


def _choose_path(session: Session, options: argparse.Namespace, file: Mapping[str, Any]) -> Path:
    """Return the place in the private folder: one for each stack, tenant and case, since numbers are of a case.

    One machine may be used for several tenants, whose cases can have the same name.
    """
    names = (session.api.url, session.me["tenantId"], options.case)
    of_case = hashlib.sha256("\0".join(names).encode()).hexdigest()[:12]
    folder = make_private_folder(make_private_folder(session.folder / "opened") / of_case)
    part = options.kind or f"page-{options.page}"
    return folder / build_file_name(options.control_number, part, _name_path(file))


def save(session: Session, document: Mapping[str, Any], file: Mapping[str, Any], path: Path) -> None:
    """Write the file; an earlier one stays until it is whole and has the hash that the stack states."""
    with open_draft(path) as draft:
        if file["url"] is None:
            _write_text(session, document["id"], draft)
        else:
            download(session.storage, file["url"], draft)
        if file["sha256"] is not None:
            with draft.open("rb") as content:
                found = hashlib.file_digest(content, "sha256").hexdigest()
            if found != file["sha256"].lower():
                raise CommandError(
                    f"What arrived is not the file of {shorten_printable(_name_path(file), _SHOWN)}: its SHA-256 is"
                    f" {found}, and that of the file is {file['sha256']}. Nothing was saved. Run the command again."
                )


def _write_text(session: Session, document_id: int, path: Path) -> None:
    """Write the text that cells of a load file have. Raises CommandError if it is changed meanwhile."""
    start: int | None = 0
    digest = None
    with path.open("w", encoding="utf-8", newline="") as file:
        while start is not None:
            part = session.api.request("GET", f"/exhibits/{document_id}/text{build_query({'start': start})}")
            if digest not in (None, part["sha256"]):
                raise CommandError("The document got another text meanwhile. Run the command again.")
            file.write(part["text"])
            digest, start = part["sha256"], part["nextStart"]


def _report(file: Mapping[str, Any], path: Path, *, is_shown: bool, is_saved: bool) -> None:
    if is_shown:
        print(f"Opened {path}")
        if file["kind"] == "page":
            print(f"The page is number {file['pageInFile']} of this file.")
    elif is_saved:
        print(f"Saved {path}")
    else:
        print(
            f"Saved {path}. It is not opened: its type is not one that viewers show. Open it yourself if you trust it."
        )
