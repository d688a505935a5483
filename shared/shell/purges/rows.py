"""Delete the rows of a case in batches, each of them in one transaction with its counts and its place.

Guaranteed: a batch reads and deletes by ranges of one index, so that it locks rows of the case alone, and at most
BATCH rows of a table; the place after it is the last key, so that deleted rows are not read again while a backup keeps
the server from removing them. Rows that appear between the read and the delete roll the batch back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import ConflictError
from shell.purges.plan import WALKS, Child, Walk
from shell.purges.tallies import Tallies
from shell.purges.turns import BATCH, Turn
from shell.utils.db_helpers import count_changed_rows

_ROWS = "rows"
Key = tuple[Any, ...]


class Place(NamedTuple):
    """How far the rows are: the walk, its last parent that is done, and of the next ones the child and its last row."""

    walk: int = 0
    parent: Key = ()
    child: int = 0
    row: Key = ()


def delete_batch(transaction: Session, turn: Turn, *, is_again: bool) -> bool:
    """Delete the next rows of the case; return whether there are no more. The turn's row is locked.

    `is_again` is whether no worker of before the purge can write any more: then the last rows are deleted, too.
    """
    place = _read_place(turn.position)
    if place.walk == len(WALKS):
        return True
    tallies = Tallies(transaction, turn.case_id)
    following = _Batch(transaction, turn, tallies, WALKS[place.walk], is_again).delete(place)
    tallies.save()
    turn.position = _write_place(following)
    return False


class _Batch:
    """One batch: parents of a walk, and what they have."""

    def __init__(self, transaction: Session, turn: Turn, tallies: Tallies, walk: Walk, is_again: bool) -> None:
        self._transaction, self._tallies, self._walk = transaction, tallies, walk
        self._case = {"case_id": turn.case_id, "tenant_id": turn.tenant_id}
        self._deletes_parents = is_again or not walk.is_last

    def delete(self, place: Place) -> Place:
        """Delete rows from a place on; return the next place."""
        parents = self._read_parents(place.parent)
        if not parents:
            return Place(place.walk + 1)
        ids = [row[0] for row in parents]
        for number, child in list(enumerate(self._walk.children))[place.child :]:
            last = self._delete_children(child, ids, place.row if number == place.child else ())
            if last:
                return place._replace(child=number, row=last)
        if self._deletes_parents:
            self._delete_by_ids(self._walk.table, self._walk.id, ids)
        return Place(place.walk, tuple(parents[-1][1:]))

    def _read_parents(self, after: Key) -> Sequence[Any]:
        if not self._walk.next_import:
            return self._read_page(after)
        found = self._read_page(after, import_id=after[0]) if after else []
        if found:
            return found
        values = {**self._case, "after": after[0] if after else 0}
        import_id = self._transaction.execute(text(self._walk.next_import), values).scalar()
        return [] if import_id is None else self._read_page((), import_id=import_id)

    def _read_page(self, key: Key, **values_of_source: int) -> Sequence[Any]:
        names = ", ".join((self._walk.id, *self._walk.columns))
        after, values = _write_after(self._walk.columns, key)
        order = ", ".join(self._walk.columns)
        statement = f"SELECT {names} FROM {self._walk.source} AND {after} ORDER BY {order} LIMIT {BATCH}"  # noqa: S608 - here and below, of constants
        return self._transaction.execute(text(statement), {**self._case, **values_of_source, **values}).all()

    def _delete_children(self, child: Child, ids: Sequence[int], after: Key) -> Key:
        """Delete rows of the parents; return the key of the last one if there may be more, else ()."""
        following, values = _write_after(child.columns, after)
        reached = [each for each in ids if not after or each >= after[0]]
        of_parents = f"{child.columns[0]} IN ({_list_numbers(reached)}) AND {following}"
        source = f"{child.table} FORCE INDEX ({child.hint})"
        columns = (*child.columns, *(("id",) if child.ids and "id" not in child.columns else ()))
        names = ", ".join(columns)
        rows = self._transaction.execute(
            text(f"SELECT {names} FROM {source} WHERE {of_parents} ORDER BY {names} LIMIT {BATCH}"),  # noqa: S608
            values,
        ).all()
        if not rows:
            return ()
        last = tuple(rows[-1][: len(child.columns)])
        if child.ids:
            self._delete_by_ids(child.table, "id", [row[columns.index("id")] for row in rows])
        else:
            up_to, ends = _write_up_to(child.columns, last)
            self._delete(child.table, f"{of_parents} AND {up_to}", {**values, **ends}, rows)
        return last if len(rows) == BATCH else ()

    def _delete_by_ids(self, table: str, column: str, ids: Sequence[int]) -> None:
        self._delete(table, f"{column} IN ({_list_numbers(ids)})", {}, [(each,) for each in ids])

    def _delete(self, table: str, condition: str, values: dict[str, Any], rows: Sequence[Any]) -> None:
        # The form for several tables is the one that takes a hint: a scan would wait for locks of other cases.
        statement = text(f"DELETE {table} FROM {table} FORCE INDEX (PRIMARY) WHERE {condition}")
        if count_changed_rows(self._transaction.execute(statement, values)) != len(rows):
            raise ConflictError(f"Rows of {table} changed while they were deleted.")
        self._tallies.add(_ROWS, table, rows)


def _list_numbers(numbers: Iterable[int]) -> str:
    return ", ".join(str(int(each)) for each in numbers)


def _write_after(columns: Sequence[str], key: Key) -> tuple[str, dict[str, Any]]:
    """Return the condition that the columns follow a key, and its values; no condition without one."""
    if not key:
        return "TRUE", {}
    return _write_beyond(columns, ">", "after"), {f"after_{place}": value for place, value in enumerate(key)}


def _write_up_to(columns: Sequence[str], key: Key) -> tuple[str, dict[str, Any]]:
    """Return the condition that the columns are a key or before it, and its values."""
    return _write_beyond(columns, "<", "end", or_equal=True), {f"end_{place}": each for place, each in enumerate(key)}


def _write_beyond(columns: Sequence[str], sign: str, name: str, place: int = 0, *, or_equal: bool = False) -> str:
    """Compare keys column by column: servers do not read a range for a comparison of rows."""
    column, value = columns[place], f":{name}_{place}"
    if place == len(columns) - 1:
        return f"{column} {sign}{'=' if or_equal else ''} {value}"
    rest = _write_beyond(columns, sign, name, place + 1, or_equal=or_equal)
    return f"{column} {sign}= {value} AND ({column} {sign} {value} OR ({rest}))"


def _read_place(position: Any) -> Place:
    if position is None:
        return Place()
    walk, parent, child, row = position
    return Place(walk, tuple(map(_read_value, parent)), child, tuple(map(_read_value, row)))


def _write_place(place: Place) -> list[Any]:
    written: list[Any] = json.loads(json.dumps(place, default=lambda value: {"hex": value.hex()}))
    return written


def _read_value(value: Any) -> Any:
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value
