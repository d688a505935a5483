"""A production's volume: where its files lie, and the lines of its load files.

The DAT is a Concordance load file that the importer reads: UTF-8 with a byte order mark, 0x14 between cells, thorns
around them, doubled within. Line breaks within a cell are written as U+00AE, as readers of the format expect, unless a
cell of the volume holds that sign itself: then they stand as they are, and the volume is to be read with `newline:
none`, for otherwise the sign could not be told from a line break. The OPT is an Opticon file with one line a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from core.errors import InvalidInputError
from core.field_mapping import normalised

PREFIX, SOURCES = "productions", "files"
BOM, DELIMITER, QUALIFIER, NEWLINE_MARK, LINE_END = "\ufeff", "\x14", "\u00fe", "\u00ae", "\r\n"
SEVERAL = "; "
HEADER = (
    *("Begin Bates", "End Bates", "Begin Attach", "End Attach", "Parent Bates", "Custodian", "Title", "File Name"),
    *("Document Date", "Native Link", "Text Link"),
)
MAX_KEY_BYTES, MAX_DOCUMENTS = 1_024, 100_000
_IMAGE_COLUMNS = ("tiffpath", "pdfpath", "imagepath", "imagefile", "imagefilepath", "imagelink")
_EXTENSION = re.compile(r"\.([A-Za-z0-9]{1,10})$")
_BREAK = re.compile(r"\r\n|\r|\n")
_DRIVE = re.compile(r"^[A-Za-z]:")
# The same few names come back with every document.
_plain = lru_cache(maxsize=10_000)(normalised)


class FileKind(StrEnum):
    """What a file is to its document; the value is its folder in the volume."""

    NATIVE = "NATIVES"
    IMAGE = "IMAGES"
    TEXT = "TEXT"


def production_prefix(production_id: int) -> str:
    """What the keys of all objects of a production begin with, and of no other object."""
    return f"{PREFIX}/{production_id}/"


def volume_folder(production_id: int, volume: str) -> str:
    """Where the volume lies in the bucket."""
    return f"{production_prefix(production_id)}{volume}/"


def load_file_path(volume: str, extension: str) -> str:
    """A load file's path within the volume."""
    return f"DATA/{volume}.{extension}"


def file_path(kind: FileKind, part: int, bates: str, source: str) -> str:
    """A file's path within the volume: named by its document's first number, with the extension that it had."""
    extension = _EXTENSION.search(source.strip())
    return f"{kind.value}/{part + 1:04d}/{bates}{extension[0].lower() if extension else ''}"


def source_key(tenant_id: str, case: str, path: str) -> str:
    r"""The object that a path of a load file means: backslashes as slashes, without `.\` or a drive before them.

    Raises InvalidInputError for a path that leads out of the case's files, or is too long for a key.
    """
    parts = [part for part in _DRIVE.sub("", path.strip()).replace("\\", "/").split("/") if part not in ("", ".")]
    key = "/".join((SOURCES, tenant_id, case, *parts))
    leads_out = {".", ".."} & {tenant_id, case, *parts}
    if not parts or leads_out or len(key.encode("utf-8", "surrogatepass")) > MAX_KEY_BYTES:
        raise InvalidInputError("a path leads out of the case's files, or is too long")
    return key


def image_path(properties: Mapping[str, str | None]) -> str | None:
    """The path of the document's image, where a column of its load file had one."""
    named = {_plain(name): (value or "").strip() for name, value in properties.items()}
    return next((named[column] for column in _IMAGE_COLUMNS if named.get(column)), None)


def values_of(properties: Mapping[str, str | None], names: Sequence[str]) -> list[str]:
    """What the columns of these names held, blank where they held nothing.

    Load files of one case spell a name in several ways: where none is spelled so, one that is the same without case,
    spaces and signs is meant.
    """
    alike: dict[str, str | None] = {}
    for name, value in properties.items():
        alike.setdefault(_plain(name) or name, value)
    return [(properties[name] if name in properties else alike.get(_plain(name))) or "" for name in names]


def as_link(volume: str, path: str) -> str:
    r"""A path within the volume as load files write it: `VOL001\NATIVES\0001\ACME0000001.docx`."""
    return "\\".join((volume, *path.split("/")))


def is_ambiguous(cells: Iterable[str]) -> bool:
    """Whether a cell holds the sign that readers take for a line break."""
    return any(NEWLINE_MARK in cell for cell in cells)


def dat_line(cells: Sequence[str], *, marks: bool) -> str:
    """A record of the DAT; with `marks` line breaks in cells are written as readers expect."""
    return DELIMITER.join(QUALIFIER + _quoted(cell, marks) + QUALIFIER for cell in cells) + LINE_END


def _quoted(cell: str, marks: bool) -> str:
    cell = cell.replace(QUALIFIER, QUALIFIER * 2)
    return _BREAK.sub(NEWLINE_MARK, cell) if marks else cell


def opt_line(bates: str, volume: str, path: str, pages: int | None) -> str:
    """A document's line of the OPT: its image is one file, of so many pages where that is known."""
    return f"{bates},{volume},{as_link(volume, path)},Y,,,{pages or ''}{LINE_END}"
