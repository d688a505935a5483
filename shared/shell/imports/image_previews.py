"""Compare the paths of an image load file's first lines with the listing of its volume, for a preview.

Guaranteed: nothing is written; a path is found as the import finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.image_load_file.detection import LONGEST_MARK_BYTES, SAMPLE_BYTES, Detection, detect_with_options
from core.image_load_file.image_layout import build_image_layout
from core.image_load_file.page_lines import ImageFileKind
from core.imports.image_preview import PathOfLine, build_image_preview
from core.imports.preview import SHOWN_ROWS, MissingImage, Preview, shorten
from core.load_file.options import ImportOptions
from core.load_mode import OverlayKey
from core.volumes.path_guesses import NamedPath
from core.volumes.paths import Resolved
from shell.db.session import session
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.lookup import find_named_files


def detect_images(head: bytes, size: int, options: ImportOptions, *, in_volume: bool) -> Detection:
    """Return whether the file that begins with `head` is an image load file, as its import decides it."""
    sample = head[: SAMPLE_BYTES + LONGEST_MARK_BYTES]
    whole = len(sample) == size
    return detect_with_options(sample, whole=whole, encoding=options.encoding, in_volume=in_volume)


def preview_images(
    head: bytes, size: int, options: ImportOptions, file: Detection, import_id: int | None = None
) -> Preview:
    """Return the preview of an image load file; of an import of a volume with the first files that are missing."""
    preview, paths = build_image_preview(head, size, options, file)
    missing = None if import_id is None else _find_missing(import_id, options, file, paths)
    if missing is None or preview.images is None:
        return preview
    images = replace(preview.images, paths_compared=len(paths), missing=missing[:SHOWN_ROWS])
    return replace(preview, images=images)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_missing(
    import_id: int, options: ImportOptions, file: Detection, paths: Sequence[PathOfLine]
) -> list[MissingImage] | None:
    """Return the paths for which the import's volume has no file; None without a volume, which was listed before."""
    layout = build_image_layout(ImageFileKind(file.kind or ""), "utf-8", 0, options, OverlayKey.CONTROL_NUMBER)
    with session() as reading:
        import_record = reading.get_one(Imports, import_id)
        if import_record.volume_id is None:
            return None
        named = [NamedPath(each.path, each.volume) for each in paths]
        found = find_named_files(reading, import_record, layout, named)
    return [
        MissingImage(each.line, shorten(each.path))
        for each, path in zip(paths, named, strict=True)
        if not isinstance(found[path], Resolved)
    ]
