"""Append destinations: each one's row holds its lock's id, its next free position and the current fencing token.

Guaranteed: a destination has one lock id, generated once, however many workers create it concurrently; positions are
allocated without gaps or repetition, and only to the lock's latest holder: a holder that lost the lock to another gets
none, and the new holder waits until earlier allocations are committed or rolled back. The destination's row and its
fencing token alone enforce this, not the lock.
Not guaranteed: gapless positions after rows are deleted.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, cast

from sqlalchemy import URL, CursorResult, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, SessionTransaction

from core.errors import CommitOutcomeUnknownError, ConflictError, InvalidInputError, LockLostError
from shell.db.column_limits import column_limits
from shell.db.errors import DbErrorClass, classify
from shell.db.session import engine, session
from shell.utils.key_validation import validate_key

ROUNDS = 5
ID_BITS = 63

_FIND = text("SELECT id, advisory_id FROM insert_destinations WHERE name = :name")
_INSERT = text("INSERT INTO insert_destinations (name, advisory_id) VALUES (:name, :advisory_id)")
# LAST_INSERT_ID(value) returns the value to this connection only: it is what this statement wrote.
_NEW_FENCING_TOKEN = text(
    "UPDATE insert_destinations SET fencing_token = LAST_INSERT_ID(fencing_token + 1) "
    "WHERE id = :id AND advisory_id = :advisory_id"
)
_ALLOCATE = text(
    "UPDATE insert_destinations SET next_position = LAST_INSERT_ID(next_position) + :count "
    "WHERE id = :id AND fencing_token = :fencing_token"
)


class Destination(NamedTuple):
    """A destination's id and the id of its lock."""

    id: int
    advisory_id: int


@dataclass(frozen=True)
class InsertLock:
    """A destination's lock as one holder has it; its fencing token is greater than any earlier holder's."""

    destination_id: int
    advisory_id: int
    fencing_token: int
    _used_in: list[SessionTransaction] = field(default_factory=list, repr=False, compare=False)

    def refuse_open_transaction(self) -> None:
        """Raise RuntimeError if a transaction that allocated positions is open: it must commit before the release."""
        if any(each.is_active for each in self._used_in):
            raise RuntimeError(
                "the insert lock would be released before COMMIT: open the session inside of the lock's block"
            )


def allocate_positions(transaction: Session, lock: InsertLock, count: int) -> int:
    """Allocate `count` contiguous positions of the lock's destination; return the first, 0 in a new destination.

    Call it before the transaction's first insert into the destination: from then on no other transaction allocates
    positions until this one ends, with or without the lock. A rollback returns the positions.
    Raises ValueError if `count` is less than 1, and LockLostError if the lock has a later holder; nothing was changed
    then, and the outermost `retry_on_db_conflict` retries the whole unit, acquiring the lock again.
    """
    if count < 1:
        raise ValueError("count must be at least 1")
    values = {"count": count, "id": lock.destination_id, "fencing_token": lock.fencing_token}
    allocated = cast("CursorResult[Any]", transaction.execute(_ALLOCATE, values))
    begun = transaction.get_transaction()
    if begun is not None:
        lock._used_in.append(begun)
    if allocated.rowcount != 1:
        raise LockLostError(
            f"The insert lock of destination {lock.destination_id} was lost: it has a later holder than fencing token "
            f"{lock.fencing_token}. Nothing was appended; retry the whole unit, with the lock."
        )
    return allocated.lastrowid


def issue_fencing_token(connection: Connection, destination: Destination) -> int | None:
    """Increment the destination's fencing token, commit and return it; None if the destination's row is gone.

    From then on earlier holders can allocate no positions. Waits for a transaction that has allocated some.
    """
    result = connection.execute(_NEW_FENCING_TOKEN, destination._asdict())
    fencing_token = result.lastrowid if result.rowcount == 1 else None
    connection.commit()
    return fencing_token


@lru_cache(maxsize=1024)
def get_or_create_destination(_database: URL, name: str) -> Destination:
    """Return the destination of that name, created if necessary; cached for each database.

    A caller that finds the row gone calls `get_or_create_destination.cache_clear()` and tries again.
    Raises InvalidInputError for a name that the column cannot hold exactly, and ConflictError if the row is deleted
    again and again.
    """
    _validate_name(name)
    for _ in range(ROUNDS):
        with engine().connect() as connection:
            found = connection.execute(_FIND, {"name": name}).one_or_none()
        if found is not None:
            return Destination(found.id, found.advisory_id)
        _insert(name)
    raise ConflictError(f"An insert destination was created and deleted by others {ROUNDS} times; try again.")


def _insert(name: str) -> None:
    """Insert the row; after a duplicate or a COMMIT of unknown outcome, the caller reads the row again."""
    try:
        with session() as transaction:
            transaction.execute(_INSERT, {"name": name, "advisory_id": secrets.randbits(ID_BITS)})
    except IntegrityError as error:
        if classify(error) is not DbErrorClass.DUPLICATE:
            raise
    except CommitOutcomeUnknownError:
        return


def _validate_name(name: str) -> None:
    """Raise InvalidInputError for a name that the column does not hold exactly.

    The column's collation pads with spaces, so names that differ only in trailing spaces would be one destination.
    """
    if not name or name.endswith(" "):
        raise InvalidInputError("An insert destination's name must not be empty or end in a space.")
    try:
        name.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInputError("An insert destination's name has characters that cannot be stored.") from exc
    validate_key(name, column_limits("insert_destinations")["name"])
