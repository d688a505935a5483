"""Find the images that the pages of a chunk name in their volume, and describe what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.codes import VolumeCode, WarningCode
from core.image_load_file.documents import ImageDocument
from core.load_file.layout import Layout
from core.load_file.rows import ValueChange
from core.volumes.linking import VolumeFile
from core.volumes.paths import PathError, Resolved
from shell.db.session import session
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.lookup import find_named_files

# By the text of the path: the file, or why there is none.
Images = Mapping[str, VolumeFile | PathError | None]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def find_images(import_record: Imports, layout: Layout, documents: Iterable[ImageDocument]) -> Images | None:
    """Return the file that each path of the documents names, None for one that the volume lacks.

    Return None for a load file that is not of a volume.
    """
    if import_record.volume_id is None:
        return None
    paths = (page.path for document in documents for page in document.pages)
    with session() as reading:
        named = find_named_files(reading, import_record, layout, paths)
    return {path: found.file if isinstance(found, Resolved) else found for path, found in named.items()}


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
