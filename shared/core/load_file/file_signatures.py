"""Files that are no delimited load files, told by their first bytes, with what the uploader can do instead."""

from __future__ import annotations

import codecs
import re

from core.errors import FileRefusedError
from core.load_file.encoding import is_wide
from core.reasons import FileFailure

_MAGIC = (
    (b"PK\x03\x04", "an XLSX workbook or ZIP archive; export the sheet as CSV, or unpack the archive, and upload that"),
    (b"\xd0\xcf\x11\xe0", "an XLS workbook or another Office document; export it as CSV and upload that"),
    (b"%PDF", "a PDF document; upload the load file that lists it"),
    (b"\x1f\x8b", "a GZIP archive; unpack it and upload what it contains"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it and upload what it contains"),
    (b"SQLite format 3", "an SQLite database; export the table as CSV and upload that"),
    (b"II*\x00", "a TIFF image; upload the load file that lists it"),
    (b"MM\x00*", "a TIFF image; upload the load file that lists it"),
    (b"\xff\xd8\xff", "a JPEG image; upload the load file that lists it"),
    (b"\x89PNG", "a PNG image; upload the load file that lists it"),
)
_FORMATS = (
    (re.compile(rb"\s*<"), "XML (EDRM XML is not supported); export a delimited load file (DAT or CSV)"),
    (re.compile(rb"\s*[{\[]\s*[\"{\[]"), "JSON; export a delimited load file (DAT or CSV)"),
    (re.compile(rb"(?:IM|PG|IS|OF|VN|FT),[^\r\n]*(?:,[^\r\n]*){2}"), "an LFP image file; upload the DAT beside it"),
    (re.compile(rb"(?:;[^\r\n]*\r?\n)*@(?:T|C|D|FULLTEXT|EATTACH|I)\b"), "a Summation DII file; export a DAT or CSV"),
    (
        re.compile(
            rb"[^,\r\n\x14|]+,[^,\r\n]*,[^,\r\n]+\.(?:tiff?|jpe?g|pdf|png),Y?,[^,\r\n]*(?:,[^,\r\n]*){0,4}\r?\n", re.I
        ),
        "an Opticon (OPT) image file, which lists pages and not documents; upload the DAT beside it",
    ),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x14\x1a\x1c\x1d\x1e\x1f"))
_BINARY_SHARE = 0.05


def refuse_foreign_formats(head: bytes, encoding: str | None) -> None:
    """Raise FileRefusedError for an empty or binary file and for formats that we know and do not read.

    `encoding` is the one that the uploader gave; UTF-16 without a byte order mark is read if it was given.
    """
    if not head.strip():
        raise FileRefusedError(FileFailure.EMPTY_FILE, "the file is empty")
    for magic, what in _MAGIC:
        if head.startswith(magic):
            raise FileRefusedError(FileFailure.UNSUPPORTED_FORMAT, f"the file is {what}")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or is_wide(encoding or ""):
        return
    text = head.removeprefix(codecs.BOM_UTF8)[:65536]
    for form, what in _FORMATS:
        if form.match(text):
            raise FileRefusedError(FileFailure.UNSUPPORTED_FORMAT, f"the file looks like {what}")
    _refuse_binary(text)


def _refuse_binary(text: bytes) -> None:
    if text.count(b"\0") > len(text) / 4 and min(len(set(text[::2])), len(set(text[1::2]))) < 8:
        raise FileRefusedError(
            FileFailure.UNSUPPORTED_ENCODING,
            "the file looks like UTF-16 without a byte order mark; save it with one, or give the encoding",
        )
    controls = len(text) - len(text.translate(None, _CONTROLS))
    if controls > len(text) * _BINARY_SHARE:
        raise FileRefusedError(FileFailure.BINARY_FILE, "the file is binary; upload a delimited load file (DAT or CSV)")
