"""What many append to: its row, the id of its lock, its next free position, and the number of its latest holder.

Guaranteed: a destination has one id for its lock, minted once, whoever asks first and however many at once; positions
are given out without gap or repetition, and only to the lock's latest holder: whoever lost the lock to another one gets
none, and the other one waits until what was given out before is committed or rolled back. That rests on the
destination's row and its epoch alone, not on the lock.
Not guaranteed: positions without a gap over rows that are deleted later.
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
from shell.utils.column_limits import column_limits
from shell.utils.db_errors import DbErrorClass, classify
from shell.utils.db_session import engine, session
from shell.utils.keys import refuse_unstorable

ROUNDS = 5
ID_BITS = 63

_FIND = text("SELECT id, advisory_id FROM insert_destinations WHERE name = :name")
_MINT = text("INSERT INTO insert_destinations (name, advisory_id) VALUES (:name, :minted)")
# LAST_INSERT_ID(value) hands the value to this connection alone: what is read is what this statement wrote.
_NEW_EPOCH = text(
    "UPDATE insert_destinations SET epoch = LAST_INSERT_ID(epoch + 1) WHERE id = :id AND advisory_id = :advisory_id"
)
_TAKE = text(
    "UPDATE insert_destinations SET next_position = LAST_INSERT_ID(next_position) + :count "
    "WHERE id = :id AND epoch = :epoch"
)


class Destination(NamedTuple):
    """A destination's id, and the id of its lock."""

    id: int
    advisory_id: int


@dataclass(frozen=True)
class InsertLock:
    """A destination's lock as one holder has it; `epoch` is greater than that of any earlier holder."""

    destination_id: int
    advisory_id: int
    epoch: int
    _used_in: list[SessionTransaction] = field(default_factory=list, repr=False, compare=False)

    def refuse_open_transaction(self) -> None:
        """Raise RuntimeError if a transaction that took positions is open: its COMMIT comes before the release."""
        if any(each.is_active for each in self._used_in):
            raise RuntimeError("the lock was about to be released before the COMMIT: open the session inside of it")


def next_positions(transaction: Session, lock: InsertLock, count: int) -> int:
    """Take `count` contiguous positions of the lock's destination; returns the first, which is 0 in a new destination.

    To be called before the transaction's first insert into the destination: from then on nobody else takes positions
    until the transaction ends, lock or no lock. A transaction that rolls back gives its positions back.
    Raises LockLostError, at which the outermost `retry_on_db_conflict` replays the whole unit with the lock, if
    another holder came after this one; nothing of the destination was changed then.
    """
    if count < 1:
        raise ValueError("count is at least 1")
    given = {"count": count, "id": lock.destination_id, "epoch": lock.epoch}
    taken = cast("CursorResult[Any]", transaction.execute(_TAKE, given))
    begun = transaction.get_transaction()
    if begun is not None:
        lock._used_in.append(begun)
    if taken.rowcount != 1:
        raise LockLostError(
            f"the insert lock of destination {lock.destination_id} was lost and another holder came after epoch "
            f"{lock.epoch}; nothing was appended: repeat the whole unit, with the lock"
        )
    return taken.lastrowid


def new_epoch(connection: Connection, destination: Destination) -> int | None:
    """Shut out all earlier holders, committed; None if the destination's row is gone.

    Waits for a transaction of an earlier holder that took positions.
    """
    raised = connection.execute(_NEW_EPOCH, destination._asdict())
    epoch = raised.lastrowid if raised.rowcount == 1 else None
    connection.commit()
    return epoch


@lru_cache(maxsize=1024)
def destination_of(_database: URL, name: str) -> Destination:
    """The destination of that name, made if there is none yet; remembered for each database.

    Whoever finds that the row is gone calls `destination_of.cache_clear()` and asks again.
    Raises InvalidInputError for a name that the column cannot hold as it is.
    """
    _refuse_inexact(name)
    for _ in range(ROUNDS):
        with engine().connect() as connection:
            found = connection.execute(_FIND, {"name": name}).one_or_none()
        if found is not None:
            return Destination(found.id, found.advisory_id)
        _mint(name)
    raise ConflictError(f"an insert destination appeared and vanished {ROUNDS} times")


def _mint(name: str) -> None:
    """Insert the row. Whether somebody else was faster, or the COMMIT was lost, the next look tells."""
    try:
        with session() as transaction:
            transaction.execute(_MINT, {"name": name, "minted": secrets.randbits(ID_BITS)})
    except IntegrityError as error:
        if classify(error) is not DbErrorClass.DUPLICATE:
            raise
    except CommitOutcomeUnknownError:
        return


def _refuse_inexact(name: str) -> None:
    """The column's collation pads with spaces, so names that differ by spaces at their end would be one destination."""
    if not name or name.endswith(" "):
        raise InvalidInputError("an insert destination's name is not empty and does not end in a space")
    try:
        name.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInputError("an insert destination's name has characters that cannot be stored") from exc
    refuse_unstorable(name, column_limits("insert_destinations")["name"])
