"""Text that a column cannot hold, made to fit, with an account of what was lost.

Guaranteed: a value that fits comes back untouched; VARCHAR is measured in characters and TEXT in bytes of the column's
character set; a cut never splits what a reader sees as one character (a grapheme cluster, UAX #29), unless that one
alone is too long. Keys are not for these functions: a key that does not fit is rejected, never changed.
`truncate_string` is the interface kept for callers of the published pattern.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlalchemy.orm import DeclarativeBase

from core.reasons import WarningCode
from shell.observability import logger
from shell.utils.column_limits import ColumnLimit, column_limits

_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


class TextLoss(NamedTuple):
    """What was taken from a value, and how many bytes of UTF-8 are left of it."""

    code: WarningCode
    message: str
    stored_bytes: int


def remove_four_byte_characters(value: str) -> tuple[str, int]:
    """The value without characters beyond the basic plane, and how many were removed."""
    if value.isascii():
        return value, 0
    return _BEYOND_BMP.subn("", value)


def fit_text(value: str, limit: ColumnLimit) -> tuple[str, list[TextLoss]]:
    """The value as the column can hold it, and what that cost."""
    losses = []
    if not limit.takes_four_bytes:
        value, removed = remove_four_byte_characters(value)
        if removed:
            message = f"{removed} character(s) that the column's character set cannot hold were removed"
            losses.append(TextLoss(WarningCode.CHARACTERS_REMOVED, message, utf8_length(value)))
    cut = _cut(value, limit)
    if len(cut) < len(value):
        kept = f"{limit.characters} characters" if limit.characters is not None else f"{limit.bytes} bytes"
        message = f"the value of {len(value)} characters was cut; the column holds {kept}"
        losses.append(TextLoss(WarningCode.VALUE_TRUNCATED, message, utf8_length(cut)))
    return cut, losses


def truncate_string(model_class: type[DeclarativeBase], column_name: str, value: str | None) -> str | None:
    """The value cut to what the model's column holds; logs lengths, never the value."""
    if value is None:
        return None
    fitted, losses = fit_text(value, column_limits(model_class.__tablename__)[column_name])
    for loss in losses:
        where = {"table": model_class.__tablename__, "column": column_name, "code": loss.code.value}
        logger.warning("value changed to fit", extra={**where, "characters": len(value), "kept": len(fitted)})
    return fitted


def utf8_length(value: str) -> int:
    """Bytes of the value in UTF-8; every character that utf8mb3 can hold takes the same there."""
    return len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))


def _cut(value: str, limit: ColumnLimit) -> str:
    if limit.characters is not None:
        return value if len(value) <= limit.characters else value[: _last_boundary(value, limit.characters)]
    room = limit.bytes or 0
    if utf8_length(value) <= room:
        return value
    # No more characters than bytes fit; what remains of a sequence that the byte limit cuts is dropped.
    whole = value.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore")
    return value[: _last_boundary(value, len(whole))]


def _last_boundary(value: str, limit: int) -> int:
    """The end of the last grapheme cluster within `limit` characters; `limit` if the first one is longer."""
    # Few values are ever cut, and most functions cut none.
    import regex

    boundary = 0
    for cluster in regex.finditer(r"\X", value):
        if cluster.end() > limit:
            break
        boundary = cluster.end()
    return boundary or limit
