"""Find the images that the pages of a chunk name in their volume.

Guaranteed: one lookup for all paths of a chunk, or for each PATHS_PER_LOOKUP of them where one document has more pages
than other chunks. What is found depends on the path and the volume's files alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy.orm import Session

from core.codes import VolumeCode, WarningCode
from core.image_load_file.documents import ImageDocument
from core.load_file.layout import Layout
from core.load_file.rows import ValueChange
from core.volumes.linking import VolumeFile, VolumePlace
from core.volumes.paths import PathError, list_candidates, resolve
from shell.tables.imports import Imports
from shell.tables.volumes import Volumes
from shell.volume_files.lookup import find_files, find_place

PATHS_PER_LOOKUP = 10_000
# By the text of the path: the file, or why there is none.
Images = Mapping[str, VolumeFile | PathError | None]


def find_images(reading: Session, import_record: Imports, layout: Layout, documents: Iterable[ImageDocument]) -> Images:
    """Return the file that each path of the documents names, None for one that the volume lacks."""
    volume = reading.get_one(Volumes, import_record.volume_id)
    place = find_place(volume, import_record, layout)
    paths = list(dict.fromkeys(page.path for document in documents for page in document.pages))
    found: dict[str, VolumeFile | PathError | None] = {}
    for start in range(0, len(paths), PATHS_PER_LOOKUP):
        found |= _look_up(reading, volume.id, place, layout, paths[start : start + PATHS_PER_LOOKUP])
    return found


def _look_up(reading: Session, volume_id: int, place: VolumePlace, layout: Layout, paths: Sequence[str]) -> Images:
    candidates = {
        path: list_candidates(
            path,
            volume_name=place.name,
            load_file_folder=place.load_file_folder,
            strip_prefix=layout.files.strip_prefix,
            root=place.root,
        )
        for path in paths
    }
    hashes = {each.hash for found in candidates.values() if not isinstance(found, PathError) for each in found}
    files = find_files(reading, volume_id, sorted(hashes))
    images: dict[str, VolumeFile | PathError | None] = {}
    for path, given in candidates.items():
        resolved = given if isinstance(given, PathError) else resolve(given, files)
        images[path] = resolved if resolved is None or isinstance(resolved, PathError) else resolved.file
    return images


def describe_image(image: VolumeFile | PathError | None, column: str) -> ValueChange | None:
    """Return what is wrong with the image of a page, None if nothing is."""
    if image is None:
        message = "The volume does not have this image. Add it, or correct the path."
        return ValueChange(WarningCode.IMAGE_MISSING, column, message, None)
    if isinstance(image, PathError):
        return ValueChange(image.code, column, image.message, None)
    if image.size == 0:
        message = "The image is empty. Ask the sender whether it should be."
        return ValueChange(VolumeCode.FILE_EMPTY, column, message, None)
    return None
