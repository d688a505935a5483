"""Refuse files that are not delimited load files, recognised by their first bytes, with what to upload instead."""

from __future__ import annotations

import codecs
import re

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.load_file.encoding import is_wide
from core.load_file.options import MAX_COLUMNS

_MAGIC = (
    (
        b"PK\x03\x04",
        "an XLSX workbook or a ZIP archive. Export the sheet as CSV, or unpack the archive, and upload it.",
    ),
    (b"\xd0\xcf\x11\xe0", "an XLS workbook or another Office document. Export it as CSV and upload that."),
    (b"%PDF", "a PDF document. Upload the load file that lists it."),
    (b"\x1f\x8b", "a GZIP archive. Unpack it and upload its contents."),
    (b"7z\xbc\xaf", "a 7z archive. Unpack it, and import the folder or make a zip of it."),
    (b"Rar!\x1a\x07", "a RAR archive. Unpack it, and import the folder or make a zip of it."),
    (b"SQLite format 3", "an SQLite database. Export the table as CSV and upload that."),
    (b"II*\x00", "a TIFF image. Upload the load file that lists it."),
    (b"MM\x00*", "a TIFF image. Upload the load file that lists it."),
    (b"\xff\xd8\xff", "a JPEG image. Upload the load file that lists it."),
    (b"\x89PNG", "a PNG image. Upload the load file that lists it."),
)
_FORMATS = (
    (re.compile(rb"\s*<"), "XML. EDRM XML is not supported: export a delimited load file (DAT or CSV)."),
    (re.compile(rb"\s*[{\[]\s*[\"{\[]"), "JSON. Export a delimited load file (DAT or CSV)."),
    (
        re.compile(rb"(?:IM|PG|IS|OF|VN|FT),[^\r\n]*(?:,[^\r\n]*){2}"),
        "an LFP image file, which an import takes as it is. Columns are in the DAT file that comes with it.",
    ),
    (
        re.compile(rb"(?:;[^\r\n]*\r?\n)*@(?:T|C|D|FULLTEXT|EATTACH|I)\b"),
        "a Summation DII file. Export a DAT or CSV file.",
    ),
    (
        re.compile(
            rb"[^,\r\n\x14|]+,[^,\r\n]*,[^,\r\n]+\.(?:tiff?|jpe?g|pdf|png),Y?,[^,\r\n]*(?:,[^,\r\n]*){0,4}\r?\n", re.I
        ),
        "an Opticon (OPT) image file, which an import takes as it is. Columns are in the DAT file that comes with it.",
    ),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x14\x1a\x1c\x1d\x1e\x1f"))
_BINARY_SHARE = 0.05
MAX_NAME_CHARACTERS, MAX_HEADER_CHARACTERS = 1_000, 1_000_000
CLOSE_THE_QUALIFIER = "Close or double the qualifier and upload the file again."
EMPTY_FILE = "The file is empty. Export it again and upload it."


def refuse_foreign_formats(head: bytes, encoding: str | None) -> None:
    """Raise FileRefusedError for an empty file, a binary file and known formats that are not supported.

    `encoding` is the uploader's option; UTF-16 without a byte order mark is accepted only with this option.
    """
    if not head.strip():
        raise FileRefusedError(FileFailure.EMPTY_FILE, EMPTY_FILE)
    for magic, advice in _MAGIC:
        if head.startswith(magic):
            raise FileRefusedError(FileFailure.UNSUPPORTED_FORMAT, f"The file is {advice}")
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        # Before UTF-16: its byte order mark is the beginning of the one of UTF-32.
        raise FileRefusedError(FileFailure.UNSUPPORTED_ENCODING, "The file is in UTF-32. Save it as UTF-8.")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or is_wide(encoding or ""):
        return
    text = head.removeprefix(codecs.BOM_UTF8)[:65536]
    for form, advice in _FORMATS:
        if form.match(text):
            raise FileRefusedError(FileFailure.UNSUPPORTED_FORMAT, f"The file looks like {advice}")
    _refuse_binary(text)


def _refuse_binary(text: bytes) -> None:
    # Old programs fill the last block of a file.
    text = text.rstrip(b"\0\x1a\r\n") or text
    if text.count(b"\0") > len(text) / 4 and min(len(set(text[::2])), len(set(text[1::2]))) < 8:
        raise FileRefusedError(
            FileFailure.UNSUPPORTED_ENCODING,
            "The file looks like UTF-16 without a byte order mark. Save it with one, or set option 'encoding'.",
        )
    controls = len(text) - len(text.translate(None, _CONTROLS))
    if controls > len(text) * _BINARY_SHARE:
        raise FileRefusedError(
            FileFailure.BINARY_FILE, "The file is binary. Upload a delimited load file (DAT or CSV)."
        )


def refuse_too_many_columns(cells: list[str]) -> None:
    """Raise FileRefusedError for more than MAX_COLUMNS."""
    if len(cells) > MAX_COLUMNS:
        message = f"The first line has {len(cells)} cells; a file can have at most {MAX_COLUMNS} columns"
        raise FileRefusedError(FileFailure.TOO_MANY_COLUMNS, f"{message}. Check the delimiter.")


def refuse_implausible_names(cells: list[str], delimiter: str) -> None:
    """Raise FileRefusedError for a first record that is not a list of column names."""
    longest, total = max(map(len, cells)), sum(map(len, cells))
    if longest > MAX_NAME_CHARACTERS or total > MAX_HEADER_CHARACTERS:
        message = f"The first line is not a header: it has {total} characters, {longest} of them in one cell"
        raise FileRefusedError(FileFailure.NOT_DELIMITED, f"{message}. Check the delimiter, or add a header line.")
    if any("\n" in cell and delimiter in cell for cell in cells):
        message = "A qualifier in the first line is not closed: a cell continues over several lines and delimiters"
        raise FileRefusedError(FileFailure.NOT_DELIMITED, f"{message}. {CLOSE_THE_QUALIFIER}")


def build_unread_rest(rest: int) -> FileRefusedError:
    """Return the error for a file that has bytes after its header and no row."""
    message = f"No row was read from the {rest} bytes after the header"
    return FileRefusedError(FileFailure.NO_ROWS, f"{message}. Export the file again with its rows.")
