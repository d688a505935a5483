"""What the checks of a whole file need of each row, and its form as bytes.

Guaranteed: `unpack_facts` returns the rows that `pack_facts` was given, whatever Unicode text they hold, and the same
rows give the same bytes. Bytes that are damaged or of an unknown version are refused, never read as other rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from core.errors import UnavailableError

VERSION, _CHECKSUM_BYTES = b"facts 2\n", 4
# Ends of cells and of columns in packed facts, and of fields and lines in files to be sorted.
CELL_END, COLUMN_END, LINE_END = "\x1f", "\x1e", "\n"
_ESCAPES = {"\x01": "\x01a", LINE_END: "\x01b", CELL_END: "\x01c", COLUMN_END: "\x01d"}
_SPECIAL = re.compile(r"[\x01\n\x1e\x1f]")
_ESCAPED = re.compile(r"\x01[abcd]")
_ORIGINALS = {escape: character for character, escape in _ESCAPES.items()}


class RowFacts(NamedTuple):
    """The facts of a row that the import would accept; a blank text stands for a value that the row lacks.

    `line` is the first physical line of the record. `parent_control_number` is blank for a row that names itself.
    `native_hash` is lower-case hexadecimal: MD5, SHA-1 or SHA-256. `page_count` is positive, or None.
    """

    line: int
    control_number: str
    bates_begin: str = ""
    bates_end: str = ""
    parent_control_number: str = ""
    native_hash: str = ""
    page_count: int | None = None
    family_begin: str = ""
    family_end: str = ""


def pack_facts(rows: Iterable[RowFacts]) -> bytes:
    """Return the rows as bytes for `unpack_facts`: a version line, a checksum and the columns, not compressed."""
    columns = [_write_column(column) for column in zip(*rows, strict=True)]
    raw = COLUMN_END.join(columns).encode("utf-8", "surrogatepass")
    return VERSION + crc32(raw).to_bytes(_CHECKSUM_BYTES, "big") + raw


def _write_column(cells: Sequence[str | int | None]) -> str:
    texts = ["" if cell is None else str(cell) for cell in cells]
    # Few columns have a character to be escaped.
    return CELL_END.join(map(escape, texts) if _SPECIAL.search("".join(texts)) else texts)


def unpack_facts(packed: bytes, *, escaped: bool = False) -> list[RowFacts]:
    """Return the rows that were packed, with their texts as in the file or as `escape` returns them.

    Raises UnavailableError if the bytes are damaged, or of a version that this program does not know: another one does.
    """
    if not packed.startswith(VERSION):
        raise UnavailableError("The facts of a chunk have an unknown version. Finish the deployment, or check again.")
    start = len(VERSION) + _CHECKSUM_BYTES
    checksum, raw = packed[len(VERSION) : start], packed[start:]
    try:
        if crc32(raw).to_bytes(_CHECKSUM_BYTES, "big") != checksum:
            raise ValueError("the checksum differs")
        text = raw.decode("utf-8", "surrogatepass")
        columns = [column.split(CELL_END) for column in text.split(COLUMN_END)] if text else []
        return _build_rows(columns, restores=not escaped and "\x01" in text)
    except ValueError as exc:
        raise UnavailableError("The facts of a chunk are damaged. Check the file again.") from exc


def _build_rows(columns: list[list[str]], *, restores: bool) -> list[RowFacts]:
    if not columns:
        return []
    if len(columns) != len(RowFacts._fields):
        raise ValueError(f"{len(columns)} columns instead of {len(RowFacts._fields)}")
    if restores:
        columns = [list(map(unescape, column)) for column in columns]
    lines, pages = map(int, columns[0]), [int(cell) if cell else None for cell in columns[6]]
    return list(map(RowFacts, lines, *columns[1:6], pages, *columns[7:]))


def escape(text: str) -> str:
    """Return the text without line breaks and separators; equal texts alone have equal results."""
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text) if _SPECIAL.search(text) else text


def unescape(text: str) -> str:
    """Return the text that was escaped."""
    return _ESCAPED.sub(lambda found: _ORIGINALS[found[0]], text) if "\x01" in text else text
