"""The decisions made once for a whole image load file, in the form of those of any load file."""

from __future__ import annotations

from core.image_load_file.page_lines import ImageFileKind
from core.load_file.grammar import Grammar
from core.load_file.layout import Layout
from core.load_file.options import ImportOptions
from core.load_mode import OverlayKey

OPT_COLUMNS = ("image key", "volume", "path", "document break", "folder break", "box break", "page count")
LFP_COLUMNS = ("command", "image key", "boundary flag", "offset", "file")
COLUMNS = {ImageFileKind.OPT: OPT_COLUMNS, ImageFileKind.LFP: LFP_COLUMNS}


def build_image_layout(
    kind: ImageFileKind, encoding: str, mark_bytes: int, options: ImportOptions, key: OverlayKey
) -> Layout:
    """Return how any part of the file is read; `key` names the column that the keys of its documents are looked up in.

    The columns have no field: they say what pages a document has, and nothing of its values.
    """
    names = COLUMNS[kind]
    return Layout(
        encoding=encoding,
        grammar=Grammar(",", None, len(names), cr_ends=True),
        newline=None,
        names=names,
        fields=(None,) * len(names),
        date_order="MDY",
        body_start=mark_bytes,
        body_line=1,
        has_header=False,
        load_mode=options.load_mode,
        files=options.files,
        image_format=kind.value,
        image_key=key.value,
    )
