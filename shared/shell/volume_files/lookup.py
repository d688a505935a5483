"""Find the files of a volume by the paths that a load file names.

Guaranteed: at most five lookups for each PATHS_PER_LOOKUP paths, of which one is enough for paths that a stated rule
finds; a chunk has more only where one document has more pages. What is found depends on the path, its volume column and
the volume's files alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.codes import VolumeCode
from core.load_file.layout import Layout
from core.volumes.hashes import FileHashes
from core.volumes.linking import NamedFiles, VolumeFile
from core.volumes.path_guesses import NamedPath, resolve_guesses
from core.volumes.paths import Candidate, Elsewhere, PathError, Resolved, fold_path, resolve
from core.volumes.places import VolumePlace
from shell.tables.imports import Imports
from shell.tables.volumes import VolumeFiles, Volumes
from shell.utils.db_helpers import is_in
from shell.volume_files.error_files import find_load_file
from shell.volume_files.same_names import find_paths_of_names

PATHS_PER_LOOKUP, HASHES_PER_LOOKUP = 10_000, 120_000
_FILE_COLUMNS = (
    *(VolumeFiles.path_hash, VolumeFiles.id, VolumeFiles.file_no, VolumeFiles.path, VolumeFiles.size),
    *(VolumeFiles.md5, VolumeFiles.sha1, VolumeFiles.sha256),
)
_Found = Resolved[VolumeFile] | PathError | Elsewhere | None


def find_place(volume: Volumes, import_record: Imports, layout: Layout) -> VolumePlace:
    """Return where the paths of an import's load file start from."""
    path = find_load_file(volume, import_record, layout.files)
    top_folder = json.loads(volume.load_files or "{}").get("top_folder")
    return VolumePlace.of_load_file(volume.name, path, top_folder, json.loads(volume.folders or "{}"), layout.files)


def find_named_files(
    reading: Session, import_record: Imports, layout: Layout, paths: Iterable[NamedPath]
) -> NamedFiles:
    """Return the file that each path of an import's load file means; the volume was listed before the import began."""
    volume = reading.get_one(Volumes, import_record.volume_id)
    place = find_place(volume, import_record, layout)
    found: dict[NamedPath, _Found] = {}
    different = list(dict.fromkeys(paths))
    for start in range(0, len(different), PATHS_PER_LOOKUP):
        part = different[start : start + PATHS_PER_LOOKUP]
        found.update(_find_stated(reading, volume.id, place, part))
        found.update(_find_guesses(reading, volume.id, place, [each for each in part if found[each] is None]))
        found.update(_find_elsewhere(reading, volume.id, place, found, part))
    return found


def _find_stated(
    reading: Session, volume_id: int, place: VolumePlace, paths: Sequence[NamedPath]
) -> Iterator[tuple[NamedPath, _Found]]:
    candidates = {path: place.list_candidates(path) for path in paths}
    files = _find_all(reading, volume_id, [each for each in candidates.values() if not isinstance(each, PathError)])
    for path, given in candidates.items():
        yield path, given if isinstance(given, PathError) else resolve(given, files)


def _find_guesses(
    reading: Session, volume_id: int, place: VolumePlace, paths: Sequence[NamedPath]
) -> Iterator[tuple[NamedPath, _Found]]:
    candidates = {path: place.list_guesses(path) for path in paths}
    files = _find_all(reading, volume_id, candidates.values())
    for path, given in candidates.items():
        yield path, resolve_guesses(given, files)


def _find_elsewhere(
    reading: Session,
    volume_id: int,
    place: VolumePlace,
    found: Mapping[NamedPath, _Found],
    paths: Sequence[NamedPath],
) -> Iterator[tuple[NamedPath, _Found]]:
    """Yield the paths without a file, also refused ones, with a file of the same name if the volume has one."""
    without = [path for path in paths if found[path] is None or _is_refused(found[path])]
    names = {path: fold_path(place.get_file_name(path)) for path in without}
    places = find_paths_of_names(reading, volume_id, sorted({name for name in names.values() if name}))
    for path, name in names.items():
        error, elsewhere = found[path], place.choose_elsewhere(path, places.get(name, ()))
        yield path, error._replace(elsewhere=elsewhere) if isinstance(error, PathError) else elsewhere


def _is_refused(found: _Found) -> bool:
    return isinstance(found, PathError) and found.code is VolumeCode.PATH_REFUSED


def _find_all(
    reading: Session, volume_id: int, candidates: Iterable[Sequence[Candidate]]
) -> dict[bytes, list[VolumeFile]]:
    """Return the volume's files that have the hash of a candidate, by that."""
    hashes = sorted({each.hash for given in candidates for each in given})
    found: dict[bytes, list[VolumeFile]] = {}
    for start in range(0, len(hashes), HASHES_PER_LOOKUP):
        found |= _find_files(reading, volume_id, hashes[start : start + HASHES_PER_LOOKUP])
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
