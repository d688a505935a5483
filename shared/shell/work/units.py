"""Work in units that another row counts: the chunks of an import, the parts of an undo, the units of a volume.

Guaranteed: only the worker that holds the lock on a unit's row completes it, and it counts once, however often its
message is delivered. That row is locked first, and the parent's last, because all units contend for it. Exactly one
transaction finds that no unit is left. Its caller ends the parent, or requests the completion *before* it commits,
while it holds the lock on the parent's row, which the receiver requests first: the request is neither lost, whatever is
killed, nor too early. If the queue rejects it, the unit is rolled back and delivered again.
What a failure does differs, and is not here: a chunk's rows are rejected, a part fails its undo at the end, a unit its
volume at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import ChunkBusyError, ExhibitIngestError, ImportNotRunningError, UnavailableError
from shell.db.session import session
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict


class UnitEndedError(ExhibitIngestError):
    """The unit is done, has failed in every attempt, or does not exist."""

    def __init__(self, status: str) -> None:
        super().__init__(f"the unit is {status}")
        self.status = status


class WorkRetriedError(UnavailableError):
    """The work was retried after the unit was read, and the case may have changed; the unit is read again."""


# These say that the work of a unit is not needed, or must begin anew.
STOPPED = (UnitEndedError, ImportNotRunningError, WorkRetriedError)


class UnitKind:
    """The units of one table, which a column of their parents' table counts until they end.

    `key` has the columns of a unit's key: those of its parent, which `parent_key` has in the same order, and its
    number. A unit with a status in `opened` is to be done; `busy` makes the error while another worker holds it.
    """

    # A page takes about ten seconds to send; the function that handles dead letters has a minute.
    per_page = 10_000

    def __init__(
        self,
        table: str,
        key: Sequence[str],
        parent: str,
        parent_key: Sequence[str],
        left: str,
        *,
        opened: Sequence[str] = ("pending",),
        busy: Callable[[], Exception] = ChunkBusyError,
    ) -> None:
        self.key, self.opened, self.busy = key, opened, busy
        is_parent = " AND ".join(f"{column} = :{name}" for column, name in zip(parent_key, key, strict=False))
        of_parent, number = " AND ".join(f"{name} = :{name}" for name in key[:-1]), key[-1]
        is_unit, is_opened = f"{of_parent} AND {number} = :{number}", " OR ".join(f"status = '{one}'" for one in opened)
        self.read = text(f"SELECT * FROM {table} WHERE {is_unit}")  # noqa: S608 - here and below, of constants
        self.lock_row = text(f"{self.read} FOR UPDATE SKIP LOCKED")
        self.wait_for_row = text(f"{self.read} FOR UPDATE")
        self.page = text(
            f"SELECT {number} FROM {table} WHERE {of_parent} AND {number} > :after AND ({is_opened}) "  # noqa: S608
            f"ORDER BY {number} LIMIT :most"
        )
        self.store = f"UPDATE {table} SET VALUES, finished_at = NOW(6) WHERE {is_unit}"  # noqa: S608
        self.count_down = text(f"UPDATE {parent} SET {left} = {left} - 1 WHERE {is_parent} AND status = :status")  # noqa: S608
        self.state = text(f"SELECT status, generation, {left} AS units_left FROM {parent} WHERE {is_parent}")  # noqa: S608

    def lock(self, transaction: Session, *unit: int) -> Any:
        """Lock and return the row of a unit that has not ended.

        Raises UnitEndedError, with the status `unknown` if there is no such unit, and `busy` while another worker holds
        it.
        """
        key = self.name(unit)
        found = transaction.execute(self.lock_row, key).one_or_none()
        if found is None and transaction.execute(self.read, key).first() is not None:
            raise self.busy()
        if found is None or found.status not in self.opened:
            raise UnitEndedError("unknown" if found is None else found.status)
        return found

    def find_end(self, *unit: int) -> str | None:
        """Return the status of a unit that has ended, else None; wait for a transaction that is about to change it.

        A read without a lock would return `pending` while that COMMIT is under way.
        """
        with session() as locking:
            found = locking.execute(self.wait_for_row, self.name(unit)).one_or_none()
        return None if found is None or found.status in self.opened else str(found.status)

    def complete(
        self,
        transaction: Session,
        unit: Sequence[int],
        values: Mapping[str, object],
        status: str,
        generation: int | None,
    ) -> bool:
        """Store the values of a unit that ends, its status first, and count it down; return whether it was the last.

        Call it last in a transaction; after the last unit only its end or the request of it follows. Raises
        ImportNotRunningError unless `status` is the parent's, and WorkRetriedError if that was retried since the
        generation, if one is given. The caller must then roll back.
        """
        key, columns = self.name(unit), ", ".join(f"{column} = :{column}" for column in values)
        transaction.execute(text(self.store.replace("VALUES", columns)), {**values, **key})
        counted = transaction.execute(self.count_down, {**key, "status": status})
        # After the count-down, which locks the parent: a retry could commit between an earlier read and that lock.
        parent = transaction.execute(self.state, key).one()
        if count_changed_rows(counted) != 1:
            raise ImportNotRunningError(parent.status)
        if generation not in (None, parent.generation):
            raise WorkRetriedError()
        return bool(parent.units_left == 0)

    def list_pages(self, *parent: int, after: int = 0) -> Iterator[list[int]]:
        """Yield the numbers of the parent's units that are to be done, in pages of `per_page`, after a number."""
        values = {**self.name(parent), "most": self.per_page}
        while page := _read_page(self.page, {**values, "after": after}):
            yield page
            if len(page) < self.per_page:
                break
            after = page[-1]

    def name(self, numbers: Sequence[int]) -> dict[str, int]:
        """Return the parameters for the key of a unit, or of a parent."""
        return dict(zip(self.key, numbers, strict=False))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_page(page: Any, values: Mapping[str, int]) -> list[int]:
    with session() as reading:
        return list(reading.scalars(page, values))
