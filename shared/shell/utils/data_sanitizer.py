"""Coerce text to what a column can hold, and report every change.

Guaranteed: a value that fits is returned unchanged; VARCHAR is measured in characters, TEXT in bytes of the column's
character set; truncation never splits a grapheme cluster (UAX #29), unless a single one is too long. Do not use these
functions for keys: a key that does not fit is rejected, never changed.
`truncate_string` is the interface kept for callers of the published pattern.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from core.codes import WarningCode
from shell.db.column_limits import ColumnLimit, column_limits
from shell.observability import logger

if TYPE_CHECKING:
    from sqlalchemy.orm import DeclarativeBase

_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


class TextChange(NamedTuple):
    """A change to a value: its code, a message, the UTF-8 bytes that are stored, and the value after the change."""

    code: WarningCode
    message: str
    stored_bytes: int
    stored: str


def remove_four_byte_characters(value: str) -> tuple[str, int]:
    """Return the value without characters outside of the Basic Multilingual Plane, and how many were removed."""
    if value.isascii():
        return value, 0
    return _BEYOND_BMP.subn("", value)


def describe_removed(count: int) -> str:
    """Return the message for characters that were removed because the column's character set lacks them."""
    characters = "1 character was" if count == 1 else f"{count} characters were"
    return f"{characters} removed: the column's character set lacks {'it' if count == 1 else 'them'}."


def coerce_text(value: str, limit: ColumnLimit) -> tuple[str, list[TextChange]]:
    """Return the value as the column can hold it, and the changes that were necessary."""
    changes = []
    if not limit.takes_four_bytes:
        value, removed = remove_four_byte_characters(value)
        if removed:
            message = describe_removed(removed)
            changes.append(TextChange(WarningCode.CHARACTERS_REMOVED, message, utf8_length(value), value))
    truncated = _truncate(value, limit)
    if len(truncated) < len(value):
        kept = f"{limit.characters} characters" if limit.characters is not None else f"{limit.bytes} bytes"
        message = f"The value of {len(value)} characters was truncated; the column holds {kept}."
        changes.append(TextChange(WarningCode.VALUE_TRUNCATED, message, utf8_length(truncated), truncated))
    return truncated, changes


def truncate_string(model_class: type[DeclarativeBase], column_name: str, value: str | None) -> str | None:
    """Return the value truncated to what the model's column holds; log lengths, never the value."""
    if value is None:
        return None
    stored, changes = coerce_text(value, column_limits(model_class.__tablename__)[column_name])
    for change in changes:
        where = {"table": model_class.__tablename__, "column": column_name, "code": change.code.value}
        logger.warning("value changed to fit", extra={**where, "characters": len(value), "kept": len(stored)})
    return stored


def utf8_length(value: str) -> int:
    """Return the value's length in UTF-8 bytes, which for every character of utf8mb3 is its length there too."""
    return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))


def _truncate(value: str, limit: ColumnLimit) -> str:
    if limit.characters is not None:
        return value if len(value) <= limit.characters else value[: _last_boundary(value, limit.characters)]
    room = limit.bytes or 0
    if utf8_length(value) <= room:
        return value
    # A multi-byte sequence that the byte limit splits is dropped.
    whole = value.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore")
    return value[: _last_boundary(value, len(whole))]


def _last_boundary(value: str, limit: int) -> int:
    """Return the end of the last grapheme cluster within `limit` characters; `limit` if the first one is longer."""
    # Imported here because few values are truncated, and most functions truncate none.
    import regex

    boundary = 0
    for cluster in regex.finditer(r"\X", value):
        if cluster.end() > limit:
            break
        boundary = cluster.end()
    return boundary or limit
