"""Which ids the database generates: those of this stack's cell, a residue of INCREMENT.

Guaranteed: a connection whose server would generate ids of another cell is refused, so that rows of two cells never
have one id, and a tenant's rows can move between them with their ids; an id above MAX_ID, which JSON numbers do not
hold exactly (RFC 8259, section 6), is an error of the statement that generated it.
Not guaranteed: that ids have no gaps. The servers skip some, as they do with an increment of one.
"""

from __future__ import annotations

from typing import Any

from core.errors import DatabaseUnavailableError, SettingsError
from shell.settings import settings

# At most 65,535 for the servers ("Replication Source Options and Variables", auto_increment_increment).
INCREMENT = 1_000
MAX_ID = 2**53 - 1


class ForeignIdsError(DatabaseUnavailableError):
    """The server would generate ids of another cell; wait until its parameter group has reached it."""


def get_offset() -> int:
    """Return auto_increment_offset of this stack's cell. Raises SettingsError for a cell that cannot be."""
    cell = settings().cell_number
    if not 0 <= cell < INCREMENT:
        raise SettingsError(f"environment variable CELL_NUMBER is {cell}; it must be from 0 to {INCREMENT - 1}")
    return cell + 1


def refuse_foreign_ids(increment: int, offset: int) -> None:
    """Raise ForeignIdsError unless a connection with these settings generates ids of this stack's cell."""
    expected = (INCREMENT, get_offset())
    if (increment, offset) != expected:
        raise ForeignIdsError(
            f"The server would generate ids with auto_increment_increment {increment} and auto_increment_offset "
            f"{offset}; those of this stack need {expected[0]} and {expected[1]}. Its parameter group sets them for "
            "new connections: restart the writer if this lasts."
        )


def refuse_large_id(_connection: Any, cursor: Any, *_rest: Any) -> None:
    """Raise DatabaseUnavailableError if a statement generated an id above MAX_ID; a listener of `after_cursor_execute`.

    Of the ids of one statement, the driver reports the first.
    """
    if cursor.lastrowid and cursor.lastrowid > MAX_ID:
        raise DatabaseUnavailableError(f"The database generated an id above {MAX_ID}; no more rows can be added.")
