"""Validate keys and names, which are stored exactly or rejected: a key changed to fit would be another key."""

from __future__ import annotations

from core.codes import Rejection
from core.errors import InvalidInputError
from core.pagination import PageRequest, Window, build_cursor_error, decode_cursor, open_window
from shell.db.column_limits import ColumnLimit, column_limits
from shell.utils.data_sanitizer import remove_four_byte_characters


def key_error(value: str, limit: ColumnLimit) -> tuple[Rejection, str] | None:
    """Return why the column cannot hold the key exactly, as (code, message); None if it can."""
    if limit.characters is not None and len(value) > limit.characters:
        return (
            Rejection.KEY_TOO_LONG,
            f"The value has {len(value)} characters; the column holds {limit.characters}. Shorten it.",
        )
    if not limit.takes_four_bytes and remove_four_byte_characters(value)[1]:
        return (
            Rejection.KEY_NOT_STORABLE,
            f"The value has characters that the column's character set {limit.charset} cannot store. Remove them.",
        )
    return None


def validate_key(value: str, limit: ColumnLimit) -> None:
    """Raise InvalidInputError unless the column can hold the key exactly."""
    reason = key_error(value, limit)
    if reason:
        raise InvalidInputError(f"{reason[0].value}: {reason[1]}")


def is_storable(value: str, table: str, column: str) -> bool:
    """Return whether the table's column can hold the key.

    A comparison with characters outside of the column's character set converts every row and does not use the index.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return key_error(value, column_limits(table)[column]) is None


def decode_start_key(after: str | None, table: str, column: str) -> str | None:
    """Return the key after which the page starts, None for the first page.

    Raises InvalidInputError for a cursor whose key the column cannot hold: no such key was ever returned.
    """
    if after is None:
        return None
    key = str(decode_cursor(after, (str,))[0])
    if not is_storable(key, table, column):
        raise build_cursor_error()
    return key


def open_named_window(request: PageRequest, table: str, column: str, *more: type[int]) -> Window:
    """Return the window of a list that is ordered by a name, and then by numbers.

    Raises InvalidInputError for a cursor whose name the column cannot hold: no such name was ever returned.
    """
    window = open_window(request, (str, *more))
    if window.start is not None and not is_storable(window.start[0], table, column):
        raise build_cursor_error()
    return window
