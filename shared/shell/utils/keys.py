"""Keys and names are stored as they are or not at all: one that was changed to fit would be another key."""

from __future__ import annotations

from core.errors import InvalidInputError
from core.reasons import Rejection
from shell.utils.column_limits import ColumnLimit
from shell.utils.data_sanitizer import remove_four_byte_characters


def unstorable(value: str, limit: ColumnLimit) -> tuple[Rejection, str] | None:
    """Why the column cannot hold the key as it is, as (code, sentence); None if it can."""
    if limit.characters is not None and len(value) > limit.characters:
        return Rejection.KEY_TOO_LONG, f"{len(value)} characters; the column holds {limit.characters}"
    if not limit.takes_four_bytes and remove_four_byte_characters(value)[1]:
        return Rejection.KEY_NOT_STORABLE, f"it has characters that the column's character set {limit.charset} lacks"
    return None


def refuse_unstorable(value: str, limit: ColumnLimit) -> None:
    """Raise InvalidInputError unless the column can hold the key as it is."""
    reason = unstorable(value, limit)
    if reason:
        raise InvalidInputError(f"{reason[0].value}: {reason[1]}")
