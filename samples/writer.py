"""Write rows to bytes and record the position of every record.

Guarantees: records follow the header without gaps, except for the blank lines that the spec requests; the span of a
record includes its newline.
Does not guarantee: anything about the meaning of the bytes.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from samples.columns import Column
from samples.dialects import BOMS, encode, header_quoting, render
from samples.faults import BAD_MARK
from samples.rows import Row
from samples.spec import Spec


@dataclass(frozen=True)
class RecordSpan:
    """The position of a record: physical lines from 1, bytes from 0."""

    first_line: int
    line_count: int
    byte_start: int
    byte_len: int


@dataclass(frozen=True)
class WrittenFile:
    """A file, the number of bytes before its first record, and the span of each record."""

    data: bytes
    header_len: int
    spans: tuple[RecordSpan, ...]


def write_rows(spec: Spec, columns: Sequence[Column], rows: Sequence[Row], rng: random.Random) -> WrittenFile:
    """Return the whole file, in memory."""
    parts = [BOMS[spec.encoding], _header(spec, columns, bool(rows))]
    start = header_len = sum(map(len, parts))
    line = 2 if spec.header else 1
    spans = []
    for row in rows:
        is_last = row.index == len(rows) - 1
        text = _text(spec, row) + ("" if is_last and not spec.final_newline else spec.newline)
        data = _bytes(spec, row, text)
        lines = count_lines(text, spec.newline)
        spans.append(RecordSpan(line, lines, start, len(data)))
        blank = b"" if is_last or row.unclosed is not None else _blank(spec, rng)
        parts += [data, blank]
        start += len(data) + len(blank)
        line += lines + bool(blank)
    return WrittenFile(b"".join(parts), header_len, tuple(spans))


def count_lines(text: str, newline: str) -> int:
    """Return the number of physical lines of a record; where records end in CR, a CR in a cell ends a line too."""
    ends = text.count("\n") + (text.count("\r") - text.count("\r\n") if newline == "\r" else 0)
    return ends + (not text.endswith(("\n", newline)))


def _header(spec: Spec, columns: Sequence[Column], has_rows: bool) -> bytes:
    if not spec.header:
        return b""
    quoting = header_quoting(spec.dialect, spec.quoting)
    text = render([column.header for column in columns], spec.dialect, quoting) + _trailing(spec)
    return encode(text + (spec.newline if has_rows or spec.final_newline else ""), spec.encoding)


def _trailing(spec: Spec) -> str:
    return spec.dialect.delimiter if spec.trailing_delimiter else ""


def _text(spec: Spec, row: Row) -> str:
    return render(row.cells, spec.dialect, spec.quoting, row.unclosed) + _trailing(spec)


def _bytes(spec: Spec, row: Row, text: str) -> bytes:
    pieces = [encode(piece, spec.encoding) for piece in text.split(BAD_MARK)]
    return row.bad_bytes.join(pieces)


def _blank(spec: Spec, rng: random.Random) -> bytes:
    add_line = spec.blank_lines and rng.random() < 0.2
    return encode(spec.newline, spec.encoding) if add_line else b""
