"""Find the files of a volume by their names, whatever folders they are in.

Guaranteed: one statement, which reads the index of names; of a name that more than MAX_PLACES files have, none is
returned. A volume that an earlier version listed has no names, and nothing is found.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.volumes.paths import fold_path, hash_path
from shell.tables.volumes import VolumeFiles
from shell.utils.db_helpers import is_in

MAX_PLACES = 20


def hash_name(path: str) -> bytes:
    """Return the key by which files are found by their name: the hash of the last segment, folded."""
    return hash_path(fold_path(path.rpartition("/")[2]))


def find_paths_of_names(reading: Session, volume_id: int, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths of the files that have each of these names, which are folded."""
    if not names:
        return {}
    hashes = [hash_path(name) for name in names]
    table = VolumeFiles
    few = (
        select(table.name_hash)
        .where(table.volume_id == volume_id, is_in(table.name_hash, hashes))
        .group_by(table.name_hash)
        .having(func.count() <= MAX_PLACES)
        .subquery()
    )
    rows = reading.scalars(
        select(table.path)
        .join(few, few.c.name_hash == table.name_hash)
        .where(table.volume_id == volume_id)
        .order_by(table.file_no)
    )
    found: dict[str, list[str]] = {}
    for path in rows:
        found.setdefault(fold_path(path.rpartition("/")[2]), []).append(path)
    return found
