"""Read what S3 has of a volume's zip or of one of its files, and which of many files it has."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import islice

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.uploads import UploadState, choose_part_bytes
from core.errors import InvalidInputError, NotFoundError, WrongStateError
from core.statuses import VolumeStatus
from core.volumes.errors import shorten_name
from shell.aws.s3 import list_objects
from shell.db.session import session
from shell.imports.upload_state import Awaited, build_earlier_version, build_stored, read_state
from shell.settings import settings
from shell.tables.volumes import Volumes, VolumeUploads
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volumes.queries import has_imports, require_volume

# Three pages of S3; a request has at most 1,000 files, so this covers them where few others lie between them.
MOST_LISTED = 3_000


def get_upload(caller: Caller, volume_id: int, path: str | None) -> UploadState:
    """Return the state of the upload of a volume's zip or, with `path`, of one of its declared files.

    Raises NotFoundError for a volume that the caller does not have and for a path that was not declared,
    InvalidInputError for a path of a zip and for none of a folder, WrongStateError for a volume that takes no files;
    otherwise as `read_state`.
    """
    awaited = _load(caller, volume_id, path)
    return build_stored(None) if awaited is None else read_state(awaited)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load(caller: Caller, volume_id: int, path: str | None) -> Awaited | None:
    """Return what is awaited, or None for a zip that is stored, because it was sealed."""
    with session() as reading:
        require_volume(reading, caller, volume_id)
        volume = reading.scalars(select(Volumes).where(Volumes.id == volume_id)).one()
        if (volume.archive_key is None) == (path is None):
            raise InvalidInputError(
                "path: name a file of the volume." if path is None else "path: the volume is a zip; leave the path out."
            )
        if volume.archive_version_id is not None and volume.status not in (VolumeStatus.DELETING, VolumeStatus.DELETED):
            return None
        require_taking(reading, volume)
        return _read_archive(volume) if path is None else _read_file(reading, volume, path)


def require_taking(reading: Session, volume: Volumes) -> None:
    """Raise WrongStateError unless the volume takes files: it is open, or failed before it had an import."""
    is_failed = volume.status == VolumeStatus.FAILED and not has_imports(reading, volume.id)
    if volume.status != VolumeStatus.OPEN and not is_failed:
        raise build_closed(volume.status)


def build_closed(status: str) -> WrongStateError:
    """Return the error for a volume that takes no files."""
    return WrongStateError(f"The volume has the status {status} and takes no more files; create another one.")


def _read_archive(volume: Volumes) -> Awaited:
    if volume.archive_size is None or volume.archive_key is None:
        raise build_earlier_version("POST /volumes")
    size, parts = volume.archive_size, (volume.archive_multipart_id, volume.archive_part_bytes)
    return Awaited(settings().bucket, volume.archive_key, size, *parts)


def _read_file(reading: Session, volume: Volumes, path: str) -> Awaited:
    row = reading.get(VolumeUploads, (volume.id, hash_path(path)))
    if row is None:
        raise NotFoundError(f"{shorten_name(path)} was not declared: POST /volumes/{volume.id}/files declares it.")
    parts = (row.multipart_id, get_part_bytes(row))
    return Awaited(settings().bucket, volume.prefix + row.path, row.size, *parts, row.sha256)


def hash_path(path: str) -> bytes:
    """Return what identifies a declared file within its volume."""
    return hashlib.sha256(path.encode()).digest()


def get_part_bytes(row: VolumeUploads) -> int | None:
    """Return the size of a declared file's parts, which earlier versions did not store; None for one request."""
    return row.part_bytes or (choose_part_bytes(row.size) if row.multipart_id else None)


def find_stored(bucket: str, prefix: str, sizes: Mapping[str, int]) -> set[str]:
    """Return those of the paths, given with their sizes, whose object is there with this size.

    One listing, from the first of the paths to the last of them, of at most MOST_LISTED objects: beyond these it is not
    known. Raises StorageUnavailableError.
    """
    if not sizes:
        return set()
    keys = sorted((prefix + path for path in sizes), key=str.encode)
    listed = islice(list_objects(bucket, prefix, keys[0][:-1]), MOST_LISTED)
    found: set[str] = set()
    for key, size in listed:
        if key.encode() > keys[-1].encode():
            break
        path = key.removeprefix(prefix)
        if sizes.get(path) == size:
            found.add(path)
    return found
