"""Build the zone of a chunk, and read those of a case.

Guaranteed: each exhibit of the case that was committed before they are read is in a zone, by its id and by its control
number, if the case has zones. It has none while the zone of one chunk is not known: an earlier version imported it, or
the servers order one of its control numbers otherwise than Python. Neither value of an exhibit ever changes.
Not guaranteed: that an exhibit which is in a zone by its id is in it by its control number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from core.statuses import ImportKind, ImportPhase
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.utils.db_helpers import force_index


class Zone(NamedTuple):
    """The lowest and highest control number and id of the exhibits that a chunk created; columns of `import_chunks`."""

    first_number: str
    last_number: str
    first_exhibit: int
    last_exhibit: int


class SizedZone(NamedTuple):
    """A zone, and how many exhibits the chunk created: there may be fewer by now."""

    zone: Zone
    exhibits: int


def build_zone(created: Iterable[tuple[str, int]]) -> Zone | None:
    """Return the zone of exhibits by control number and id; None without exhibits, or if it cannot be known.

    The servers pad texts with spaces when they compare them: what is below a space is ordered otherwise here.
    """
    numbers, ids = zip(*found, strict=True) if (found := list(created)) else ((), ())
    if not found or any(character < " " for number in numbers for character in number):
        return None
    return Zone(min(numbers), max(numbers), min(ids), max(ids))


def list_zones(
    reading: Session, case_id: int, start: str | None, *, is_descending: bool, import_id: int | None = None
) -> list[SizedZone] | None:
    """Return the zones, of a case or of one import of it, that reach beyond a control number, in the order of reading.

    Upwards that is the order of the lowest control numbers, downwards of the highest. None if the case has no zones.
    """
    chunk = ImportChunks
    order = chunk.last_number.desc() if is_descending else chunk.first_number
    columns = (chunk.first_number, chunk.last_number, chunk.first_exhibit, chunk.last_exhibit, chunk.imported)
    statement = select(*columns).select_from(Imports).join(chunk, chunk.import_id == Imports.id)
    statement = force_index(force_index(statement, Imports, "ix_imports_case"), chunk, "PRIMARY")
    # The chunks of a check count what they would create, and those of images create nothing.
    own = (Imports.case_id == case_id, Imports.kind == ImportKind.ROWS, Imports.phase == ImportPhase.IMPORT)
    statement = statement.where(*own, chunk.imported > 0).order_by(order).prefix_with("STRAIGHT_JOIN")
    statement = statement if import_id is None else statement.where(Imports.id == import_id)
    reached = statement
    if start is not None:
        beyond = chunk.first_number <= start if is_descending else chunk.last_number >= start
        reached = statement.where(or_(chunk.first_number.is_(None), beyond))
    rows: Sequence[Any] = reading.execute(reached).all()
    if any(row.first_number is None for row in rows):
        return None
    if not rows and reading.execute(statement.limit(1)).first() is None:
        return None
    return [SizedZone(Zone(*row[:4]), row.imported) for row in rows]
