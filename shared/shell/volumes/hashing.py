"""Read the files of a volume for their hashes, in units that are counted once.

Guaranteed: a hash is that of the bytes of the listed version; it is computed once, however often the volume is
imported, unless the volume is listed again. A worker that is killed leaves units that the next one does not repeat. The
last unit makes the volume ready. Not guaranteed: hashes of files of more than LARGEST_BYTES.

Memory: a few blocks for each of the files that are read at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from sqlalchemy import text

from core.codes import VolumeFailure
from core.errors import FileRefusedError
from core.statuses import VolumeStatus
from core.volumes.errors import VolumeRefusedError, shorten_name
from core.volumes.hashes import FileHasher, FileHashes
from shell.aws.s3 import ObjectVersion
from shell.db.session import session
from shell.settings import settings
from shell.tables.volumes import Volumes
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volumes.hash_plans import IS_MISSING, LARGEST_BYTES
from shell.volumes.records import fail_volume, load_volume
from shell.volumes.units import end_unit, record_unit

FILES_AT_ONCE = 8

_UNIT = text(
    "SELECT first_file, last_file FROM volume_units "
    "WHERE volume_id = :volume_id AND unit_no = :unit_no AND status <> 'done'"
)
_FILES = text(
    "SELECT id, file_no, path, size, version_id, etag FROM volume_files "  # noqa: S608
    f"WHERE {IS_MISSING} AND file_no BETWEEN :first_file AND :last_file ORDER BY file_no"
)


def hash_unit(volume_id: int, unit_no: int, generation: int) -> None:
    """Hash the files of a unit, unless that is done; after the last one, have the volume's load files imported.

    Raises an UnavailableError for any failure that a later delivery of the message can overcome.
    """
    volume = load_volume(volume_id)
    if volume is None or volume.generation != generation:
        return
    if volume.status == VolumeStatus.HASHING and (files := _list_files(volume_id, unit_no)) is not None:
        try:
            with ThreadPoolExecutor(FILES_AT_ONCE) as pool:
                hashes = list(pool.map(partial(_hash_file, volume.prefix), files))
        except FileRefusedError as refused:
            fail_volume(volume_id, generation, refused.code, str(refused), unit_no)
            return
        record_unit(volume, unit_no, [_build_row(volume, *each) for each in zip(files, hashes, strict=True)])
    end_unit(volume_id)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_files(volume_id: int, unit_no: int) -> Sequence[Any] | None:
    """Return the files of a unit that have no hashes; None if the unit is done or does not exist."""
    with session() as reading:
        unit = reading.execute(_UNIT, {"volume_id": volume_id, "unit_no": unit_no}).one_or_none()
        if unit is None:
            return None
        place = {"first_file": unit.first_file, "last_file": unit.last_file, "largest": LARGEST_BYTES}
        return reading.execute(_FILES, {"volume_id": volume_id, **place}).all()


def _hash_file(prefix: str, row: Any) -> FileHashes:
    hasher = FileHasher()
    version = ObjectVersion(settings().bucket, prefix + row.path, row.version_id, row.etag)
    try:
        for block in version.read_blocks(row.size):
            hasher.update(block)
    except FileRefusedError as gone:
        message = f"{shorten_name(row.path)} was deleted from the bucket. Upload it, and import the volume again."
        raise VolumeRefusedError(VolumeFailure.FILES_MISSING, message) from gone
    return hasher.finish()


def _build_row(volume: Volumes, row: Any, hashes: FileHashes) -> tuple[Any, ...]:
    place = (row.id, volume.id, row.file_no, row.path, bytes(16), row.size)
    return (*place, row.version_id, row.etag, *(bytes.fromhex(digest or "") for digest in hashes))
