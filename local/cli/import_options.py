"""The command's options -> the options document that is uploaded before a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.errors import FileRefusedError
from core.import_options import parse_options
from local.errors import UsageError


def import_options(mapping: Path | None, **given: str | None) -> dict[str, Any]:
    """The document, empty where nothing was given; raises UsageError where the importer would refuse it."""
    document: dict[str, Any] = {} if mapping is None else _read(mapping)
    document |= {name: value for name, value in given.items() if value is not None}
    try:
        parse_options(document)
    except FileRefusedError as exc:
        raise UsageError(str(exc)) from exc
    return document


def _read(mapping: Path) -> dict[str, Any]:
    try:
        document = json.loads(mapping.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(f"cannot read the mapping {mapping}: {exc}") from exc
    except ValueError as exc:
        raise UsageError(f"the mapping {mapping} is no JSON: {exc}") from exc
    if not isinstance(document, dict):
        example = '{"columns": {"Doc ID": "control_number"}}'
        raise UsageError(f"the mapping {mapping} must be a JSON object such as {example}")
    return document
