"""`exhibit-ingest preview`: show how an import would read a load file on this machine, without any server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from core.errors import FileRefusedError
from core.image_load_file.detection import SAMPLE_BYTES, detect_image_file
from core.imports.preview import Preview, build_preview
from core.load_file.dialect import HEAD_BYTES, read_head
from core.load_file.options import parse_options
from exhibit_ingest.option_advice import advise_option
from exhibit_ingest.preview.declared_limits import declared_limits
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.program import format_command
from shell.imports.rows.preview_rows import make_converter

_MESSAGE_CHARACTERS = 4_000


def preview_file(file: Path, options: dict[str, Any], *, as_json: bool) -> bool:
    """Print the preview of a file, or the code and the reason why it cannot be imported; return whether it can."""
    try:
        preview = read_preview(file, options)
    except FileRefusedError as refused:
        _print_refusal(file, refused, as_json=as_json)
        return False
    if as_json:
        _print_json({"file": str(file), "preview": asdict(preview), "error": None})
    else:
        from exhibit_ingest.preview.preview_tables import print_preview

        print_preview(file, preview, sys.stdout)
    return True


def read_preview(file: Path, options: dict[str, Any]) -> Preview:
    """Return the preview of a file, of which at most the first 16 MB are read. Raises FileRefusedError."""
    with file.open("rb") as opened:
        size = file.stat().st_size
        head = read_head(_read_blocks(opened), size)
    return build_preview(head, size, parse_options(options), make_converter(declared_limits))


def _read_blocks(opened: BinaryIO) -> Iterator[bytes]:
    while block := opened.read(HEAD_BYTES):
        yield block


def _print_refusal(file: Path, refused: FileRefusedError, *, as_json: bool) -> None:
    if as_json:
        error = {"code": str(refused.code), "message": str(refused)}
        _print_json({"file": str(file), "preview": None, "error": error})
    else:
        is_image = _is_image_load_file(file)
        verb = "previewed" if is_image else "imported"
        # The message can name columns of the file.
        message = shorten_printable(f"{file.name} cannot be {verb}: {refused.code}: {refused}", _MESSAGE_CHARACTERS)
        print(f"exhibit-ingest: {message}", file=sys.stderr)
        if is_image:
            print(f"To import it: {format_command('import', str(file), '--case', 'NAME')}", file=sys.stderr)
        elif advice := advise_option(str(refused)):
            print(advice, file=sys.stderr)


def _is_image_load_file(file: Path) -> bool:
    """Return whether the file is an OPT or LFP, which has no columns to preview."""
    with file.open("rb") as opened:
        head = opened.read(SAMPLE_BYTES)
    return detect_image_file(head, whole=len(head) == file.stat().st_size).kind is not None


def _print_json(document: dict[str, Any]) -> None:
    print(json.dumps(document, ensure_ascii=False, indent=2))
