"""What the uploader may say about a load file, beside what the file says itself.

Options are optional, all of them; whatever is given overrides what would have been detected. A malformed option fails
the file before a row is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import FileRefusedError
from core.field_mapping import FIELDS
from core.load_file import encoding
from core.load_file.encoding import is_damaged
from core.reasons import FileFailure

NO_QUALIFIER = ""
DATE_ORDERS = ("DMY", "MDY")
_CHARACTERS = {
    "comma": ",",
    "tab": "\t",
    "\\t": "\t",
    "pipe": "|",
    "semicolon": ";",
    "caret": "^",
    "quote": '"',
    "thorn": "\u00fe",
    "dc4": "\x14",
    "concordance": "\x14",
}


@dataclass(frozen=True)
class ImportOptions:
    """None means: detect. `qualifier` is NO_QUALIFIER where the file has none; `newline` likewise."""

    user_id: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    qualifier: str | None = None
    newline: str | None = None
    header: bool = True
    columns: Mapping[str, str] = field(default_factory=dict)
    date_order: str | None = None


def parse_options(given: object) -> ImportOptions:
    """The options of a JSON document; raises FileRefusedError (BAD_OPTIONS) that names the option and what it takes."""
    if not isinstance(given, Mapping):
        raise _bad("the options are not a JSON object")
    known = set(ImportOptions.__dataclass_fields__)
    unknown = sorted(set(map(str, given)) - known)
    if unknown:
        raise _bad(f"unknown option {unknown[0]!r}; known are {', '.join(sorted(known))}")
    header = given.get("header", True)
    if not isinstance(header, bool):
        raise _bad("option 'header' must be true or false")
    return ImportOptions(
        user_id=_text(given, "user_id"),
        encoding=_encoding(_text(given, "encoding")),
        delimiter=_character("delimiter", _text(given, "delimiter")),
        qualifier=_character("qualifier", _text(given, "qualifier"), none_allowed=True),
        newline=_character("newline", _text(given, "newline"), none_allowed=True),
        header=header,
        columns=_columns(given.get("columns", {})),
        date_order=_date_order(_text(given, "date_order")),
    )


def _bad(message: str) -> FileRefusedError:
    return FileRefusedError(FileFailure.BAD_OPTIONS, message)


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and (not isinstance(value, str) or not 0 < len(value) <= 255 or is_damaged(value)):
        raise _bad(f"option {name!r} must be a text of 1 to 255 characters")
    return value


def _encoding(name: str | None) -> str | None:
    if name is None:
        return None
    known = encoding.named(name)
    if known is None:
        raise _bad(f"unknown encoding {name!r}; known are {', '.join(encoding.SUPPORTED)}")
    return known


def _character(option: str, text: str | None, *, none_allowed: bool = False) -> str | None:
    """A single character, its name, or its decimal code (20 for Concordance's delimiter)."""
    if text is None:
        return None
    if none_allowed and text.lower() == "none":
        return NO_QUALIFIER
    found = _CHARACTERS.get(text.lower(), text)
    if len(found) > 1 and found.isascii() and found.isdigit() and int(found) < 256:
        found = chr(int(found))
    if len(found) != 1 or found in "\r\n\0 " or is_damaged(found):
        names = ", ".join(_CHARACTERS)
        raise _bad(f"option {option!r} must be one character, its decimal code, or one of {names}; not {text!r}")
    return found


def _columns(given: object) -> Mapping[str, str]:
    if not isinstance(given, Mapping):
        raise _bad("option 'columns' must map column names (or numbers from 1) to fields")
    for column, name in given.items():
        if not isinstance(name, str) or name not in FIELDS:
            mapped = f"column {str(column)[:100]!r} is mapped to {str(name)[:100]!r}"
            raise _bad(f"{mapped}, which is no field; fields are {', '.join(sorted(FIELDS))}")
    return {str(column): str(name) for column, name in given.items()}


def _date_order(order: str | None) -> str | None:
    if order is not None and order not in DATE_ORDERS:
        raise _bad(f"option 'date_order' must be one of {', '.join(DATE_ORDERS)}; years first need none")
    return order
