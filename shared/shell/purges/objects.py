"""Delete the objects of a case: every version, delete marker and upload in parts under its prefixes.

Guaranteed: what is about to be deleted is written down first, and counted in the transaction that removes the note: a
worker that is killed anywhere leaves a note, with which the next one repeats the request, and nothing is counted twice.
A version that S3 refuses to delete, as Object Lock does, is not counted; it stays noted, with its date.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import StorageUnavailableError
from shell.aws.all_versions import (
    UPLOADS,
    VERSIONS,
    Doomed,
    DoomedPage,
    delete_all,
    find_lock,
    list_uploads,
    list_versions,
)
from shell.db.bulk_insert import insert_new
from shell.purges.prefixes import Prefix
from shell.purges.tallies import Tallies
from shell.purges.turns import Turn, batch
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# Most prefixes have nothing: so many are looked at in a batch.
PREFIXES = 50
_COLUMNS = ("case_id", "kind", "object_key", "version_id", "size")
_NOTED = text(
    "SELECT id, kind, object_key, version_id, size FROM case_purge_objects "
    "WHERE case_id = :case_id AND is_locked = 0 ORDER BY id"
)
_REMOVE = text("DELETE FROM case_purge_objects WHERE case_id = :case_id AND is_locked = 0")
_REMOVE_LOCKED = text("DELETE FROM case_purge_objects WHERE case_id = :case_id AND is_locked = 1")
_LOCK = text("UPDATE case_purge_objects SET is_locked = 1, locked_until = :until WHERE id = :id")
_PREFIXES = text(
    "SELECT prefix, suffix FROM case_purge_prefixes WHERE case_id = :case_id AND prefix_no >= :number "
    "ORDER BY prefix_no LIMIT :most"
)


class Look(NamedTuple):
    """How far a look at all prefixes is, and how many versions, markers and uploads it has found to delete."""

    number: int = 1
    kind: str = VERSIONS
    after: Sequence[str] = ()
    found: int = 0


def delete_page(turn: Turn) -> int | None:
    """Delete a page of what the next prefixes have; return how much was found once a look has ended, else None.

    Raises StorageUnavailableError, and TurnOverError.
    """
    noted, look, prefixes = _read(turn)
    if noted:
        _forget(turn, noted, _find_locks(delete_all(settings().bucket, [each.item for each in noted])))
        return None
    if not prefixes:
        return look.found
    _note(turn, look, *_find_page(prefixes, look))
    return None


def _find_page(prefixes: Sequence[Prefix], look: Look) -> tuple[list[Doomed], Look]:
    """Return the next page that has something, and the place after it; without one, the place after the prefixes."""
    for number, prefix in enumerate(prefixes, look.number):
        while look.number == number:
            page = _list(prefix, look)
            items = [each for each in page.items if each.key.endswith(prefix.suffix)]
            look = _follow(look, page, len(items))
            if items:
                return items, look
    return [], look


class _Noted(NamedTuple):
    id: int
    item: Doomed


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read(turn: Turn) -> tuple[list[_Noted], Look, list[Prefix]]:
    with batch(turn) as (reading, now):
        rows = reading.execute(_NOTED, {"case_id": turn.case_id})
        noted = [_Noted(row.id, Doomed(row.kind, row.object_key, row.version_id, row.size)) for row in rows]
        look = _read_look(now)
        found = reading.execute(_PREFIXES, {"case_id": turn.case_id, "number": look.number, "most": PREFIXES})
        return noted, look, [Prefix(row.prefix, row.suffix) for row in found]


def _read_look(turn: Turn) -> Look:
    return Look() if turn.position is None else Look(*turn.position)


def _list(prefix: Prefix, look: Look) -> DoomedPage:
    read = list_uploads if look.kind == UPLOADS else list_versions
    return read(settings().bucket, prefix.prefix, look.after)


def _follow(look: Look, page: DoomedPage, found: int) -> Look:
    found += look.found
    if page.next:
        return look._replace(after=page.next, found=found)
    if look.kind == VERSIONS:
        return look._replace(kind=UPLOADS, after=(), found=found)
    return Look(look.number + 1, found=found)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _note(turn: Turn, look: Look, items: Sequence[Doomed], following: Look) -> None:
    with batch(turn) as (transaction, now):
        if _read_look(now) != look:
            return  # The commit of unknown outcome had taken place.
        if now.position is None:
            # Each look notes anew what S3 refuses to delete.
            transaction.execute(_REMOVE_LOCKED, {"case_id": turn.case_id})
        rows = [(turn.case_id, each.kind, each.key, each.version_id, each.size) for each in items]
        insert_new(transaction, "case_purge_objects", _COLUMNS, rows)
        now.position = list(following)


def _find_locks(refused: Sequence[Doomed]) -> dict[Doomed, Any]:
    """Return until when each of them is locked. Raises StorageUnavailableError for one that is not."""
    locks = {each: find_lock(settings().bucket, each) for each in refused}
    if not all(is_locked for is_locked, _ in locks.values()):
        raise StorageUnavailableError("S3 refuses to delete a version that no lock protects.")
    return {each: until for each, (_, until) in locks.items()}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _forget(turn: Turn, noted: Sequence[_Noted], locks: dict[Doomed, Any]) -> None:
    with batch(turn) as (transaction, now):
        still = set(transaction.execute(_NOTED, {"case_id": turn.case_id}).scalars())
        if still != {each.id for each in noted}:
            return  # The commit of unknown outcome had taken place.
        _count(transaction, turn, [each.item for each in noted if each.item not in locks])
        for each in noted:
            if each.item in locks:
                until = locks[each.item]
                transaction.execute(_LOCK, {"id": each.id, "until": until and until.replace(tzinfo=None)})
        transaction.execute(_REMOVE, {"case_id": turn.case_id})
        look = _read_look(now)
        now.position = list(look._replace(found=look.found - len(locks)))


def _count(transaction: Session, turn: Turn, items: Sequence[Doomed]) -> None:
    tallies = Tallies(transaction, turn.case_id)
    for (kind, name), group in groupby(items, lambda item: (item.kind, item.key.partition("/")[0])):
        alike = list(group)
        sizes = sum(each.size for each in alike)
        tallies.add(kind, name, [(each.key, each.version_id, each.size) for each in alike], sizes)
    tallies.save()
