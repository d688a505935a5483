"""Keys and names are stored as they are or not at all: one that was changed to fit would be another key."""

from __future__ import annotations

from core.errors import InvalidInputError
from core.paging import decode_cursor, not_ours
from core.reasons import Rejection
from shell.utils.column_limits import ColumnLimit, column_limits
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


def can_be_held(value: str, table: str, column: str) -> bool:
    """Whether the table's column can hold the key.

    Compared with what its character set lacks, a column is converted row by row, past its index.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return unstorable(value, column_limits(table)[column]) is None


def start_of(after: str | None, table: str, column: str) -> str | None:
    """The key behind which the page starts; only what the column can hold was ever a key."""
    if after is None:
        return None
    key = str(decode_cursor(after, (str,))[0])
    if not can_be_held(key, table, column):
        raise not_ours()
    return key
