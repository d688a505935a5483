"""Read one rejected record for its correction: its cells, its text as it is in the file, and a value that may be meant.

Guaranteed: cells are those that the import read. Not guaranteed: that a record has any.
"""

from __future__ import annotations

from typing import NamedTuple

from core.codes import Rejection
from core.load_file.chunk_reader import read_chunk
from core.load_file.encoding import CP1252, UTF_8, decode, replace_surrogates
from core.load_file.layout import Layout

MAX_CELL_BYTES, MAX_RAW_BYTES = 500_000, 10_000


class RejectedRecord(NamedTuple):
    """The cells of a record, with surrogates for bytes that cannot be decoded, None if it has none; its text."""

    cells: list[str] | None
    raw: str
    is_truncated: bool


def read_record(raw: bytes, size: int, layout: Layout, line_no: int) -> RejectedRecord:
    """Return the record of `size` bytes, of which `raw` are all, or the first ones."""
    encoding = UTF_8 if layout.json_cells else layout.encoding
    shown = raw[:MAX_RAW_BYTES]
    text = replace_surrogates(decode(shown, encoding))
    return RejectedRecord(
        _read_cells(raw, layout, line_no) if len(raw) == size and not layout.image_format else None,
        text,
        is_truncated=size > len(shown),
    )


def _read_cells(raw: bytes, layout: Layout, line_no: int) -> list[str] | None:
    records = list(read_chunk(raw, layout, line_no, 0))
    cells = records[0].cells if len(records) == 1 else None
    # A spare delimiter at the end is not a cell of the row.
    return cells[:-1] if cells is not None and layout.grammar.spare_cell and cells[-1:] == [""] else cells


def suggest_value(code: str, cell: str, layout: Layout) -> str | None:
    """Return what may be meant by a cell that rejects its row; None if that is not known.

    Bytes in a file of UTF-8 that are none are most often of the encoding that Windows writes. A control character in an
    id is most often what a spreadsheet or a mail client left there.
    """
    if code == Rejection.UNDECODABLE_BYTES and layout.encoding == UTF_8:
        try:
            return cell.encode(UTF_8, "surrogateescape").decode(CP1252)
        except UnicodeError:
            return None
    if code == Rejection.KEY_NOT_STORABLE:
        kept = "".join(character for character in cell if character.isprintable()).strip()
        return kept if kept and kept != cell else None
    return None
