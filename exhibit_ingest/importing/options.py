"""The options document of an import: those of the mapping file, overridden by those of the command line.

Names and characters are checked here, before anything is started; the rest is checked by the stack, with its own rules.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.import_request import ImportRequest
from exhibit_ingest.importing.fields import FIELDS
from exhibit_ingest.importing.state import to_camel
from exhibit_ingest.option_advice import advise_option
from exhibit_ingest.volumes.arguments import FILE_OPTIONS

# In lower case, without signs.
ENCODING_NAMES = frozenset(
    {*("utf8", "utf8sig", "ascii", "utf16le", "utf16be", "cp1252", "windows1252", "ansi", "iso88591", "latin1")}
)
_ENCODINGS = "utf-8, utf-16-le, utf-16-be, cp1252"
# Words for characters.
CHARACTERS = ("comma", "tab", "\\t", "pipe", "semicolon", "caret", "quote", "thorn", "dc4", "concordance")
_WITH_NONE = ("qualifier", "newline")
_CHARACTERS = ("delimiter", *_WITH_NONE, "multi_value_separator", "nested_separator")
_NO_CHARACTERS = "\r\n\0 0123456789"
_GIVEN = (
    *("encoding", "delimiter", "qualifier", "time_zone", "date_format", "multi_value_separator", "nested_separator"),
    *("header_line", "mode", "overlay_key", "blanks", "multi_values", *FILE_OPTIONS),
)
# Those of a mapping file.
KNOWN = frozenset({*_GIVEN, "newline", "header", "cells", "line_ends", "columns", "date_order", "volume"})


def read_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the mapping file, overridden by those given on the command line; empty without either.

    Raises WrongUsageError where the mapping cannot be read, or an option is not one.
    """
    document = {} if options.mapping is None else _read_mapping(options.mapping)
    given = {name: getattr(options, name, None) for name in _GIVEN}
    document |= {name: value for name, value in given.items() if value is not None}
    _check(document)
    return document


def build_api_options(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return an options document with the API's names of its members."""
    return {to_camel(name): value for name, value in document.items()}


def build_members(request: ImportRequest) -> dict[str, Any]:
    """Return the members of POST /imports, but for the file's name, size and parts."""
    given = {"profile": request.profile, "corrects": request.corrects}
    chosen = {name: value for name, value in given.items() if value is not None}
    return {"case": request.case, "dryRun": request.is_check, "options": build_api_options(request.options), **chosen}


def explain_refusal(message: str) -> str:
    """Return what the stack says of options, with the arguments for those that it names."""
    return " ".join(filter(None, (message, advise_option(message))))


def _read_mapping(mapping: Path) -> dict[str, Any]:
    try:
        document = json.loads(mapping.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as exc:
        raise WrongUsageError(
            f"the mapping file {mapping} cannot be read ({exc}); check its path and your rights"
        ) from exc
    except ValueError as exc:
        raise WrongUsageError(f"the mapping file {mapping} is not valid JSON ({exc}); correct it") from exc
    if not isinstance(document, dict):
        example = '{"columns": {"Doc ID": "control_number"}}'
        raise WrongUsageError(f"the mapping file {mapping} must be a JSON object such as {example}")
    return document


def _check(document: Mapping[str, Any]) -> None:
    if unknown := sorted(document.keys() - KNOWN):
        raise WrongUsageError(f"Unknown option {unknown[0]!r}. The options are {', '.join(sorted(KNOWN))}.")
    for name in _CHARACTERS:
        _check_character(name, document.get(name))
    encoding, columns = document.get("encoding"), document.get("columns")
    if isinstance(encoding, str) and re.sub(r"[^a-z0-9]", "", encoding.lower()) not in ENCODING_NAMES:
        raise WrongUsageError(explain_refusal(f"Unknown encoding {encoding!r} in option 'encoding'. Use {_ENCODINGS}."))
    for column, field in columns.items() if isinstance(columns, dict) else ():
        if field not in FIELDS:
            message = f"Option 'columns' maps column {column[:100]!r} to {str(field)[:100]!r}, which is not a field."
            raise WrongUsageError(f"{message} The fields are {', '.join(sorted(FIELDS))}.")


def _check_character(option: str, given: object) -> None:
    if not isinstance(given, str) or (option in _WITH_NONE and given.lower() == "none"):
        return
    is_code = given.isascii() and given.isdigit() and int(given) < 256
    if given.lower() in CHARACTERS or is_code or (len(given) == 1 and given not in _NO_CHARACTERS):
        return
    names = ", ".join([*CHARACTERS, *(["none"] if option in _WITH_NONE else [])])
    message = f"Option {option!r} is {given!r}. It must be one character, its decimal code, or one of {names}."
    raise WrongUsageError(explain_refusal(message))
