"""The files that a production copies: versions of files of volumes, or objects that a path of a load file names.

Guaranteed: a file of a volume is read and copied in the version that was listed when the volume was sealed. Which file
an exhibit's path means is decided when numbers are reserved, and stored with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.productions.volume import FileKind
from shell.tables.volumes import NO_FILE, ExhibitFiles, VolumeFiles, Volumes
from shell.utils.db_helpers import is_in

FILE, PATH, VERSION = "file", "path", "version"
_LINKS = {"native": FileKind.NATIVE, "text": FileKind.TEXT}


@dataclass(frozen=True)
class SourceFile:
    """A file to be copied.

    `path` is that of the load file or within the volume; `key` is None for a path of the case's loose files. The hashes
    and the size are known for files of volumes only. Without a `version_id`, the current version is meant.
    """

    path: str
    key: str | None = None
    version_id: str | None = None
    size: int | None = None
    md5: bytes | None = None
    sha1: bytes | None = None
    sha256: bytes | None = None
    page_count: int | None = None


# A file of a volume that was deleted after the numbers were reserved.
DELETED = SourceFile("")


def parse_stored_files(stored: str) -> dict[FileKind, Any]:
    """Return the files of a production's document by kind, as they are stored."""
    return {FileKind(kind): file for kind, file in json.loads(stored).items()}


def build_source(stored: Any, known: Mapping[int, SourceFile]) -> SourceFile:
    """Return the file that is stored as a path, as a path with its version, or as a file of a volume."""
    if isinstance(stored, str):
        return SourceFile(stored)
    if FILE in stored:
        return known.get(stored[FILE], DELETED)
    return SourceFile(stored[PATH], version_id=stored[VERSION])


def list_volume_files(reading: Session, file_ids: Iterable[int]) -> dict[int, SourceFile]:
    """Return the files of volumes with these ids that are in the bucket."""
    ids = sorted(set(file_ids))
    if not ids:
        return {}
    columns = ("id", "path", "version_id", "size", "md5", "sha1", "sha256", "page_count")
    statement = select(*(getattr(VolumeFiles, name) for name in columns), Volumes.prefix)
    statement = statement.join(Volumes, Volumes.id == VolumeFiles.volume_id)
    statement = statement.where(is_in(VolumeFiles.id, ids), VolumeFiles.version_id.is_not(None))
    return {row.id: _build_volume_file(row) for row in reading.execute(statement)}


def _build_volume_file(row: Any) -> SourceFile:
    key = f"{row.prefix.rstrip('/')}/{row.path}"
    return SourceFile(row.path, key, row.version_id, row.size, row.md5, row.sha1, row.sha256, row.page_count)


def list_linked_files(reading: Session, exhibits: Sequence[Any]) -> dict[tuple[int, FileKind], int]:
    """Return which files of volumes the exhibits' present paths mean, by exhibit id and kind.

    `exhibits` are rows with `id`, `native_path` and `text_path`. Of the links whose path is the present one, the one of
    the latest import counts.
    """
    if not exhibits:
        return {}
    paths = {row.id: {"native": _hash_path(row.native_path), "text": _hash_path(row.text_path)} for row in exhibits}
    link = ExhibitFiles
    statement = select(link.exhibit_id, link.kind, link.text_hash, link.file_id).order_by(link.import_id)
    rows = reading.execute(statement.where(is_in(link.exhibit_id, list(paths)), link.file_id > NO_FILE))
    return {
        (row.exhibit_id, _LINKS[row.kind]): row.file_id
        for row in rows
        if row.text_hash == paths[row.exhibit_id].get(row.kind)
    }


def _hash_path(path: str | None) -> bytes | None:
    return None if path is None else hashlib.sha256(path.encode()).digest()[:16]
