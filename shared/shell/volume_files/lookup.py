"""Find the files of a volume by the paths that a load file names."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.load_file.layout import Layout
from core.volumes.hashes import FileHashes
from core.volumes.linking import VolumeFile, VolumePlace
from shell.tables.imports import Imports
from shell.tables.volumes import VolumeFiles, Volumes
from shell.utils.db_helpers import is_in
from shell.volume_files.error_files import find_load_file

_FILE_COLUMNS = (
    *(VolumeFiles.path_hash, VolumeFiles.id, VolumeFiles.file_no, VolumeFiles.path, VolumeFiles.size),
    *(VolumeFiles.md5, VolumeFiles.sha1, VolumeFiles.sha256),
)


def find_place(volume: Volumes, import_record: Imports, layout: Layout) -> VolumePlace:
    """Return from where the paths of an import's load file start; the volume was listed before the import began."""
    path = find_load_file(volume, import_record, layout.files)
    return VolumePlace.of_load_file(volume.name, path, json.loads(volume.load_files or "{}").get("top_folder"))


def find_files(reading: Session, volume_id: int, hashes: Sequence[bytes]) -> dict[bytes, list[VolumeFile]]:
    """Return the volume's files by the hash of their folded path."""
    found: dict[bytes, list[VolumeFile]] = {}
    if hashes:
        rows = reading.execute(
            select(*_FILE_COLUMNS)
            .where(VolumeFiles.volume_id == volume_id, is_in(VolumeFiles.path_hash, hashes))
            .order_by(VolumeFiles.file_no)
        )
        for path_hash, file_id, file_no, path, size, *known in rows:
            file = VolumeFile(
                file_id, file_no, path, size, FileHashes(*(each.hex() if each else None for each in known))
            )
            found.setdefault(path_hash, []).append(file)
    return found
