"""Find the files of a volume by the paths that a load file names.

Guaranteed: one lookup for each PATHS_PER_LOOKUP paths; a chunk has more only where one document has more pages. What
is found depends on the path and the volume's files alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.load_file.layout import Layout
from core.volumes.hashes import FileHashes
from core.volumes.linking import NamedFiles, VolumeFile, VolumePlace
from core.volumes.paths import PathError, Resolved, resolve
from shell.tables.imports import Imports
from shell.tables.volumes import VolumeFiles, Volumes
from shell.utils.db_helpers import is_in
from shell.volume_files.error_files import find_load_file

PATHS_PER_LOOKUP = 10_000
_FILE_COLUMNS = (
    *(VolumeFiles.path_hash, VolumeFiles.id, VolumeFiles.file_no, VolumeFiles.path, VolumeFiles.size),
    *(VolumeFiles.md5, VolumeFiles.sha1, VolumeFiles.sha256),
)


def find_named_files(reading: Session, import_record: Imports, layout: Layout, paths: Iterable[str]) -> NamedFiles:
    """Return the file that each path of an import's load file means; the volume was listed before the import began."""
    volume = reading.get_one(Volumes, import_record.volume_id)
    path = find_load_file(volume, import_record, layout.files)
    place = VolumePlace.of_load_file(volume.name, path, json.loads(volume.load_files or "{}").get("top_folder"))
    found: dict[str, Resolved[VolumeFile] | PathError | None] = {}
    texts = list(dict.fromkeys(paths))
    for start in range(0, len(texts), PATHS_PER_LOOKUP):
        part = texts[start : start + PATHS_PER_LOOKUP]
        candidates = {text: place.list_candidates(text, layout.files.strip_prefix) for text in part}
        hashes = {each.hash for given in candidates.values() if not isinstance(given, PathError) for each in given}
        files = _find_files(reading, volume.id, sorted(hashes))
        for text, given in candidates.items():
            found[text] = given if isinstance(given, PathError) else resolve(given, files)
    return found


def _find_files(reading: Session, volume_id: int, hashes: Sequence[bytes]) -> dict[bytes, list[VolumeFile]]:
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
