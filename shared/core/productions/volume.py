"""A production's volume: the keys of its files, and the lines of its load files.

The DAT is a Concordance load file that the importer can read: UTF-8 with a byte order mark, cells delimited by 0x14 and
quoted by thorns, which are doubled within a cell. A line break within a cell is written as U+00AE, as readers of the
format expect. If a cell of the volume contains U+00AE itself, line breaks are written unchanged, because the two could
not be distinguished, and the volume must be read with `newline: none`. The OPT is an Opticon file with one line for
each image file. MANIFEST.csv lists every other file of the volume with its size and hash.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from core.errors import InvalidInputError
from core.exhibit_fields import TEXT_FIELDS, get_text_field
from core.load_file.field_mapping import find_field
from core.load_file.header_names import normalise_name

PREFIX, SOURCE_PREFIX = "productions", "files"
BOM, DELIMITER, QUALIFIER, NEWLINE_MARK, LINE_END = "\ufeff", "\x14", "\u00fe", "\u00ae", "\r\n"
VALUE_SEPARATOR = "; "
HEADER = (
    *("Begin Bates", "End Bates", "Begin Attach", "End Attach", "Parent Bates", "Custodian", "Title", "File Name"),
    *("Document Date", "Native Link", "Text Link"),
)
# The columns of other dates, which a volume has if one of its documents has the date.
DATE_COLUMNS = {
    "date_sent": "Date Sent",
    "date_received": "Date Received",
    "date_created": "Date Created",
    "date_modified": "Date Modified",
}
# The columns of other texts, likewise.
TEXT_COLUMNS = {text.name: text.heading for text in TEXT_FIELDS if text.heading}
PAGE_COUNT = "Page Count"
# The columns of hashes of the natives, which a volume has if one of its natives has the hash.
HASH_COLUMNS = {"md5": "MD5 Hash", "sha1": "SHA-1 Hash", "sha256": "SHA-256 Hash"}
MANIFEST, MANIFEST_HASH = "MANIFEST.csv", "MANIFEST.sha256"
MANIFEST_HEADER = f"Path,Size,SHA-256{LINE_END}".encode()
SLIP_SHEET = ".pdf"
MAX_KEY_BYTES, MAX_DOCUMENTS = 1_024, 100_000
_IMAGE_COLUMNS = ("tiffpath", "pdfpath", "imagepath", "imagefile", "imagefilepath", "imagelink")
_EXTENSION = re.compile(r"\.([A-Za-z0-9]{1,10})$")
_BREAK = re.compile(r"\r\n|\r|\n")
_DRIVE = re.compile(r"^[A-Za-z]:")
# Every document repeats the same few names.
_normalise = lru_cache(maxsize=10_000)(normalise_name)


class FileKind(StrEnum):
    """The kind of a document's file; the value is its folder in the volume."""

    NATIVE = "NATIVES"
    IMAGE = "IMAGES"
    TEXT = "TEXT"


def build_production_prefix(production_id: int) -> str:
    """Return the prefix that the keys of a production's objects have, and no other keys."""
    return f"{PREFIX}/{production_id}/"


def build_volume_folder(production_id: int, volume: str) -> str:
    """Return the prefix of the volume's keys."""
    return f"{build_production_prefix(production_id)}{volume}/"


def build_manifest_part_key(production_id: int, part: int) -> str:
    """Return the key of the lines that the manifest gets from a part; no volume's name begins with a dot."""
    return f"{build_production_prefix(production_id)}.manifest/{part + 1:04d}.csv"


def build_load_file_path(volume: str, extension: str) -> str:
    """Return a load file's path within the volume."""
    return f"DATA/{volume}.{extension}"


def build_file_path(kind: FileKind, part: int, bates: str, source: str) -> str:
    """Return a file's path within the volume: its document's first Bates number, with the source's extension."""
    extension = _EXTENSION.search(source.strip())
    return f"{kind.value}/{part + 1:04d}/{bates}{extension[0].lower() if extension else ''}"


def resolve_source_key(tenant_id: str, case: str, path: str) -> str:
    r"""Return the key of the object that a path of a load file names: with slashes, without a drive or `.\`.

    Raises InvalidInputError for a path that is blank, leaves the case's files, or is too long for a key.
    """
    parts = [part for part in _DRIVE.sub("", path.strip()).replace("\\", "/").split("/") if part not in ("", ".")]
    key = "/".join((SOURCE_PREFIX, tenant_id, case, *parts))
    leaves_case = {".", ".."} & {tenant_id, case, *parts}
    if not parts or leaves_case or len(key.encode("utf-8", "surrogatepass")) > MAX_KEY_BYTES:
        raise InvalidInputError("A path is blank, leaves the case's files or is too long.")
    return key


def find_image_path(properties: Mapping[str, str | None]) -> str | None:
    """Return the path of the document's image, or None if its load file has none."""
    named = {_normalise(name): (value or "").strip() for name, value in properties.items()}
    return next((named[column] for column in _IMAGE_COLUMNS if named.get(column)), None)


def get_property_values(properties: Mapping[str, str | None], names: Sequence[str]) -> list[str]:
    """Return the values of the columns with these names, blank for a missing column.

    The load files of a case may spell a name differently. A name without an exact match matches the first one that is
    equal without case, spaces and punctuation.
    """
    similar: dict[str, str | None] = {}
    for name, value in properties.items():
        similar.setdefault(_normalise(name) or name, value)
    return [(properties[name] if name in properties else similar.get(_normalise(name))) or "" for name in names]


def choose_date_columns(dates: Container[str], names: Iterable[str]) -> dict[str, str]:
    """Return the columns of the `dates` that the documents have, by field.

    A date for which a reader would take one of the requested columns has none.
    """
    meant = {find_field(name) for name in names}
    return {date: column for date, column in DATE_COLUMNS.items() if date in dates and date not in meant}


def find_text(name: str) -> str | None:
    """Return the text of TEXT_COLUMNS that a column of this name means; None if it means none of them."""
    field = find_field(name)
    return field if field in TEXT_COLUMNS else None


def is_doubtful(name: str) -> bool:
    """Return whether a column of this name can be something else beside the column of the text that it means."""
    text = find_text(name)
    return text is not None and normalise_name(name) in get_text_field(text).doubtful


def choose_headings(texts: Container[str], names: Iterable[str]) -> list[str]:
    """Return the columns of the `texts` that the documents have, but for those that a requested column surely means."""
    meant = {find_field(name) for name in names if not is_doubtful(name)}
    return [column for text, column in TEXT_COLUMNS.items() if text in texts and text not in meant]


def choose_columns(known: Container[str], columns: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the columns of what is `known`, without those of which the request names a column of the same name."""
    requested = set(map(_normalise, names))
    return {key: column for key, column in columns.items() if key in known and _normalise(column) not in requested}


def format_link(volume: str, path: str) -> str:
    r"""Return a path within the volume as load files write it: `VOL001\NATIVES\0001\ACME0000001.docx`."""
    return "\\".join((volume, *path.split("/")))


def has_newline_mark(cells: Iterable[str]) -> bool:
    """Check whether a cell contains the character that readers interpret as a line break."""
    return any(NEWLINE_MARK in cell for cell in cells)


def format_dat_line(cells: Sequence[str], *, marks: bool) -> str:
    """Return a record of the DAT; with `marks`, line breaks in cells are written as U+00AE."""
    return DELIMITER.join(QUALIFIER + _escape(cell, marks) + QUALIFIER for cell in cells) + LINE_END


def _escape(cell: str, marks: bool) -> str:
    cell = cell.replace(QUALIFIER, QUALIFIER * 2)
    return _BREAK.sub(NEWLINE_MARK, cell) if marks else cell


def format_opt_line(bates: str, volume: str, path: str, *, begins: bool, pages: int | None) -> str:
    """Return an image's line of the OPT: whether a document `begins` with it, and how many pages the document has.

    `pages` is None if the count is unknown, and on all lines of a document but the first.
    """
    return f"{bates},{volume},{format_link(volume, path)},{'Y' if begins else ''},,,{pages or ''}{LINE_END}"


def format_manifest_line(path: str, size: int, sha256: bytes) -> bytes:
    """Return a file's line of the manifest. No path of a volume contains a comma."""
    return f"{path},{size},{sha256.hex()}{LINE_END}".encode()
