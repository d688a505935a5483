"""`exhibit-ingest preview`: show how an import would read a load file.

Guaranteed: everything is decided by the stack, as an import decides it; the command sends the beginning of the file, at
most 8 MB, and neither a case nor an import is created.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.exit_codes import DONE, FAILED
from exhibit_ingest.importing.options import build_api_options, read_options
from exhibit_ingest.option_advice import advise_option
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import format_command
from exhibit_ingest.session.machine import has_machine
from exhibit_ingest.session.output import format_json
from exhibit_ingest.session.pages import build_query
from exhibit_ingest.session.session import Context, Session
from exhibit_ingest.volumes.arguments import FILE_OPTIONS, check_volume_arguments

if TYPE_CHECKING:
    from exhibit_ingest.client.answers import ApiError

Document = dict[str, Any]
_MESSAGE_CHARACTERS = 4_000
# The name of no case: a user who may see some cases alone has to name one of them.
_NO_CASE = "preview"
# What an import does with the values, which a preview does not show.
_NOT_SHOWN = {"mode", "overlay_key", "blanks", "multi_values", *FILE_OPTIONS}


def run(options: argparse.Namespace, context: Context) -> int:
    """Print the preview of a file, or why it cannot be imported; return the exit code. Raises CommandError."""
    try:
        options.files = [options.file]
        if check_volume_arguments(options):
            return _preview_volume(options)
        return _preview_file(options, context)
    except CommandError as exc:
        if not options.json:
            raise
        _print_json(options.file, None, {"code": None, "message": str(exc)})
        return exc.exit_code


def _preview_volume(options: argparse.Namespace) -> int:
    """Preview a folder or zip with the code of the stack, which reads it here, where that is installed."""
    if not has_machine():
        check = format_command("check", str(options.file), "--case", "NAME")
        raise WrongUsageError(
            "This installation cannot preview a folder or zip without sending it."
            f" To send it and have it checked: {check}"
        )
    from importlib import import_module

    is_readable: bool = import_module("local.command.volume_preview").preview_volume(options)
    return DONE if is_readable else FAILED


def _preview_file(options: argparse.Namespace, context: Context) -> int:
    from exhibit_ingest.client.answers import ApiError

    head = _read_head(options.file)
    query = _build_options(read_options(options)) | {"profile": options.profile}
    if not head:
        return _refuse(options, "EMPTY_FILE", "The file is empty. Export it again.")
    with context.open(options, may_be_new=True) as session:
        try:
            preview = _request(session, options.file, head, query)
        except ApiError as exc:
            code, detail = exc.problem.get("failureCode"), _describe_refusal(exc)
            if code == "BAD_OPTIONS":
                raise WrongUsageError(" ".join(filter(None, (detail, advise_option(detail))))) from exc
            if code is None:
                raise
            return _refuse(options, str(code), detail)
    if options.json:
        _print_json(options.file, _to_snake(preview), None)
    else:
        from exhibit_ingest.preview.preview_tables import print_preview

        print_preview(options.file, preview, sys.stdout)
    return DONE


def _build_options(document: Document) -> Document:
    """Return options as parameters of a query: with the API's names, objects as text."""
    shown = {name: value for name, value in document.items() if name not in _NOT_SHOWN}
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
        for name, value in build_api_options(shown).items()
    }


def _read_head(file: Path) -> bytes:
    """Return a block of the file, which shows whether it can be read and is empty."""
    try:
        with file.open("rb") as opened:
            return opened.read(1)
    except OSError as exc:
        raise WrongUsageError(f"{file} cannot be read: {exc.strerror}. Check the path and your rights.") from exc


def _request(session: Session, file: Path, head: bytes, query: Document) -> Document:
    cases = session.me.get("cases")
    body = {"case": cases[0] if cases else _NO_CASE, "fileName": file.name, "size": file.stat().st_size}
    announced = session.api.request("POST", "/previews", body)
    with file.open("rb") as opened:
        content = opened.read(announced["bytes"])
    _send(session, announced["upload"], content)
    return session.api.request("GET", f"/previews/{announced['id']}{build_query(query)}")


def _send(session: Session, upload: Document, content: bytes) -> None:
    import httpx

    try:
        answer = session.storage.put(upload["url"], content=content, headers=upload["headers"])
    except httpx.TransportError as exc:
        name = type(exc).__name__
        raise CommandError(f"The beginning of the file was not sent ({name}). Run the command again.") from exc
    if not answer.is_success:
        raise CommandError(
            f"The storage refused the beginning of the file ({answer.status_code}). Run the command again."
        )


def _describe_refusal(error: ApiError) -> str:
    detail = str(error.problem.get("detail") or error)
    if columns := error.problem.get("columns"):
        detail += f" Columns of the file: {', '.join(map(str, columns))}."
    return detail


def _refuse(options: argparse.Namespace, code: str, message: str) -> int:
    if options.json:
        _print_json(options.file, None, {"code": code, "message": message})
        return FAILED
    # The message can name columns of the file.
    text = shorten_printable(f"{options.file.name} cannot be imported: {code}: {message}", _MESSAGE_CHARACTERS)
    print(f"exhibit-ingest: {text}", file=sys.stderr)
    if advice := advise_option(message):
        print(advice, file=sys.stderr)
    return FAILED


def _print_json(file: Path, preview: Document | None, error: Document | None) -> None:
    print(format_json({"file": str(file), "preview": preview, "error": error}))


def _to_snake(value: Any) -> Any:
    """Return a document of the API with the names that the JSON of commands has."""
    match value:
        case dict():
            return {re.sub("([A-Z])", r"_\1", name).lower(): _to_snake(each) for name, each in value.items()}
        case list():
            return [_to_snake(each) for each in value]
    return value
