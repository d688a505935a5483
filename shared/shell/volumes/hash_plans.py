"""Divide the files of a volume that have no hashes into units.

Guaranteed: it only reads, a page at a time. Files of more than LARGEST_BYTES are in no unit: one invocation cannot read
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import text

from core.volumes.hash_units import HashUnit, plan_hash_units
from shell.db.session import session
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

LARGEST_BYTES = 50_000_000_000
ROWS_PER_PAGE = 10_000

IS_MISSING = "volume_id = :volume_id AND md5 IS NULL AND size <= :largest"
_MISSING = text(
    f"SELECT file_no, size FROM volume_files WHERE {IS_MISSING} AND file_no > :after "  # noqa: S608
    "ORDER BY file_no LIMIT :most"
)


def plan_units(volume_id: int) -> list[HashUnit]:
    """Return the units of the volume's files that have no hashes."""
    return list(plan_hash_units(_list_missing(volume_id)))


def _list_missing(volume_id: int) -> Iterator[tuple[int, int]]:
    after = -1
    while page := _read_missing(volume_id, after):
        yield from ((row.file_no, row.size) for row in page)
        after = page[-1].file_no


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_missing(volume_id: int, after: int) -> Sequence[Any]:
    values = {"volume_id": volume_id, "after": after, "largest": LARGEST_BYTES, "most": ROWS_PER_PAGE}
    with session() as reading:
        return reading.execute(_MISSING, values).all()
