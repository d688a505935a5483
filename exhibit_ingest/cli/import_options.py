"""Build the options document that is uploaded before a load file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import FileRefusedError
from core.load_file.options import parse_options
from exhibit_ingest.option_advice import advise_option
from local.errors import UsageError


def import_options(mapping: Path | None, **given: str | bool | list[str] | Mapping[str, str] | None) -> dict[str, Any]:
    """Return the options of the mapping file, overridden by those given on the command line; empty without either.

    Raises UsageError where the mapping cannot be read or the importer would reject the options.
    """
    document: dict[str, Any] = {} if mapping is None else _read(mapping)
    document |= {name: value for name, value in given.items() if value is not None}
    try:
        parse_options(document)
    except FileRefusedError as exc:
        raise UsageError(" ".join(filter(None, (str(exc), advise_option(str(exc)))))) from exc
    return document


def _read(mapping: Path) -> dict[str, Any]:
    try:
        document = json.loads(mapping.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(f"cannot read the mapping file {mapping}: {exc}") from exc
    except ValueError as exc:
        raise UsageError(f"the mapping file {mapping} is not valid JSON: {exc}") from exc
    if not isinstance(document, dict):
        example = '{"columns": {"Doc ID": "control_number"}}'
        raise UsageError(f"the mapping file {mapping} must be a JSON object such as {example}")
    return document
