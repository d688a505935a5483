"""The files that a production copies: files of volumes, objects that a path of a load file names, texts of cells.

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
from shell.tables.texts import Texts
from shell.tables.volumes import NO_FILE, ExhibitFiles, VolumeFiles, Volumes
from shell.utils.db_helpers import is_in

FILE, PATH, VERSION, TEXT = "file", "path", "version", "text"
# A text of cells has no name of its own.
_TEXT_NAME = "text.txt"
_LINKS = {"native": FileKind.NATIVE, "text": FileKind.TEXT}


@dataclass(frozen=True)
class SourceFile:
    """A file to be copied.

    `path` is that of the load file or within the volume; `key` is None for a path of the case's loose files. The hashes
    and the size are known for files of volumes only. Without a `version_id`, the current version is meant. A text of
    cells has an `offset`, and its size and SHA-256: other texts are in its object.
    """

    path: str
    key: str | None = None
    version_id: str | None = None
    size: int | None = None
    md5: bytes | None = None
    sha1: bytes | None = None
    sha256: bytes | None = None
    page_count: int | None = None
    offset: int | None = None


# A file of a volume that was deleted after the numbers were reserved.
DELETED = SourceFile("")


def parse_stored_files(stored: str) -> dict[FileKind, Any]:
    """Return the files of a production's document by kind, as they are stored."""
    return {FileKind(kind): file for kind, file in json.loads(stored).items()}


def build_source(stored: Any, known: Mapping[Any, SourceFile]) -> SourceFile:
    """Return the file that is stored as a path, as a path with its version, as a file of a volume or as a text.

    `known` is what `list_stored_files` returned.
    """
    if isinstance(stored, str):
        return SourceFile(stored)
    if FILE in stored:
        return known.get(stored[FILE], DELETED)
    if TEXT in stored:
        return known.get((TEXT, stored[TEXT]), DELETED)
    return SourceFile(stored[PATH], version_id=stored[VERSION])


def list_stored_files(reading: Session, stored: Iterable[Any]) -> dict[Any, SourceFile]:
    """Return the files of volumes and the texts that are among stored files, for `build_source`."""
    named = [file for file in stored if isinstance(file, dict)]
    text_ids = sorted({file[TEXT] for file in named if TEXT in file})
    texts = reading.scalars(select(Texts).where(is_in(Texts.id, text_ids))) if text_ids else ()
    files = list_volume_files(reading, (file[FILE] for file in named if FILE in file))
    return {**files, **{(TEXT, row.id): _build_text(row) for row in texts}}


def _build_text(row: Texts) -> SourceFile:
    size, place = row.byte_len, row.byte_start
    return SourceFile(_TEXT_NAME, row.object_key, row.version_id, size, sha256=bytes(row.sha256), offset=place)


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
