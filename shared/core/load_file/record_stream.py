"""Read blocks of bytes into records with their positions in the file, in memory that does not grow with the file.

Guaranteed: the tile of a record is its bytes and the blank lines before it (long runs of blank lines belong to no
tile); a record over 16 MB is skipped while it is read, and is returned as its range and digest, without cells.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from core.cells.end_marks import cut_end_marks
from core.load_file import encoding as enc
from core.load_file.grammar import MAX_RECORD_BYTES, Grammar, LineCursor
from core.load_file.record_batches import LocatedBatch, read_batch
from core.load_file.record_reader import ends_in_open_cell, find_large_cell_end, find_record_start, read_records
from core.load_file.repeated_header import RepeatedHeader
from core.load_file.split_state import StreamPosition

# A list of lines takes many times their bytes: at most this many bytes of empty lines are listed at once.
MAX_BLANK_BYTES = 65_536


class LocatedRecord(NamedTuple):
    """A record at bytes [byte_start, byte_end) and physical lines [first_line, last_line].

    `tile` is the bytes [tile_start, byte_end), which begin with the line `tile_line`: the record and the blank lines
    before it. It is None for a record over 16 MB, which has `sha256` instead. `cells` is None if the record cannot be
    read.
    """

    tile_start: int
    tile_line: int
    first_line: int
    last_line: int
    byte_start: int
    byte_end: int
    cells: list[str] | None
    tile: bytes | None
    sha256: bytes | None = None


@dataclass
class _SkippedRecord:
    """A record whose end has not been found yet, and the bytes of it that were skipped so far."""

    byte_start: int
    first_line: int
    last_line: int
    max_bytes: int
    inside_cell: bool = False
    size: int = 0
    pieces: list[bytes] = field(default_factory=list)
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def add(self, raw: bytes) -> None:
        self.digest.update(raw)
        self.size += len(raw)
        self.pieces = [*self.pieces, raw] if self.size <= self.max_bytes else []

    def build_record(self) -> LocatedRecord:
        return LocatedRecord(
            self.byte_start,
            self.first_line,
            self.first_line,
            self.last_line,
            self.byte_start,
            self.byte_start + self.size,
            None,
            b"".join(self.pieces) if self.size <= self.max_bytes else None,
            self.digest.digest(),
        )


def _compile_blank_lines(view: str, cr_ends: bool) -> re.Pattern[bytes]:
    """Return the pattern of lines without a record, which the byte order mark of a joined file may begin."""
    cr, lf = re.escape("\r".encode(view)), re.escape("\n".encode(view))
    marks = b"(?:" + re.escape(enc.get_byte_order_mark(view).encode(view)) + b")*+"
    line_end = b"(?:" + cr + b")?" + lf
    # A CR ends a line if a whole character follows: the LF of a CRLF may be in the next block.
    bare = b"|" + cr + b"(?!" + lf + b")(?=" + b"." * (2 if enc.is_wide(view) else 1) + b")"
    return re.compile(b"(?:" + marks + b"(?:" + line_end + (bare if cr_ends else b"") + b"))*+", re.DOTALL)


class RecordStream:
    """The records of a file's body, fed from its first byte on in blocks of any size.

    Sound records are returned in batches with the cells of `columns`, the id column and the date columns; all other
    records are returned one by one, and so are blank ones and those of a `repeated` header. Without `batches`, all of
    them are. `nul_count` is the number of NUL characters that the file ends with; they belong to no record.
    """

    def __init__(
        self,
        grammar: Grammar,
        view: str,
        body_start: int,
        body_line: int,
        columns: tuple[int, ...],
        max_record_bytes: int = MAX_RECORD_BYTES,
        repeated: RepeatedHeader | None = None,
        *,
        batches: bool = True,
    ) -> None:
        self._grammar, self._view, self._columns, self._repeated = grammar, view, columns, repeated
        self._batches = batches
        self._max_record_bytes = max_record_bytes
        self._position, self._line = body_start, body_line
        self._pending = b""
        self._skipped: _SkippedRecord | None = None
        self._mid_line = False
        self._min_bytes_to_read = 0
        self.nul_count = 0
        self.evidence = enc.Utf8Evidence()
        self._blank = _compile_blank_lines(view, grammar.cr_ends)

    def feed(self, block: bytes, *, at_end: bool = False) -> Iterator[LocatedRecord | LocatedBatch]:
        """Yield the records that the next bytes complete; with `at_end`, these bytes are the last."""
        self._pending += block
        if at_end and self._skipped is None:
            self._drop_end_marks()
        if len(self._pending) < self._min_bytes_to_read and not at_end:
            return
        while True:
            if self._skipped:
                yield from self._skip_to_next_record(self._skipped, at_end)
            if self._skipped is None:
                self._drop_blank_lines(MAX_BLANK_BYTES)
                yield from self._read(at_end)
            if self._skipped or len(self._pending) <= self._max_record_bytes:
                # To read an unfinished record again with every block would be quadratic.
                self._min_bytes_to_read = min(2 * len(self._pending), self._max_record_bytes + 1)
                return
            if not self._drop_blank_lines():
                self._start_skipping()

    def export_position(self) -> StreamPosition | None:
        """Return the position between two calls, for `resume`; None inside of a record over 16 MB."""
        return None if self._skipped else StreamPosition(self._position, self._line, self._min_bytes_to_read)

    def resume(self, position: StreamPosition, pending: bytes, evidence: enc.Utf8Evidence) -> None:
        """Go on at a position; `pending` is what was fed after it."""
        self._position, self._line, self._min_bytes_to_read = position.byte, position.line, position.min_bytes_to_read
        self._pending, self.evidence = pending, evidence

    def _read(self, at_end: bool) -> Iterator[LocatedRecord | LocatedBatch]:
        end = len(self._pending) if at_end else self._find_last_line_end()
        if not at_end:
            # What may be the marks of the file's end is read when more of the file follows.
            end, _ = self._cut_end_marks(self._pending[:end])
        if not end:
            return
        raw = self._pending[:end]
        lines = self._split_lines(raw)
        if self._batches:
            lines = yield from self._read_batch(lines, raw)
        if lines.texts:
            yield from self._read_one_by_one(lines, self._pending[: sum(lines.sizes)], at_end)

    def _read_batch(self, lines: enc.Lines, raw: bytes) -> Generator[LocatedBatch, None, enc.Lines]:
        """Yield the sound records at the beginning of the lines, if any; return the lines after them."""
        batch = read_batch(lines, self._grammar, self._columns, self._repeated)
        if len(batch.bounds) == 1:
            return lines
        offsets = [0, *accumulate(lines.sizes)]
        yield LocatedBatch(batch, offsets, self._position, self._line, raw)
        self._advance(batch.bounds[-1], offsets, raw)
        return lines.slice_from(batch.bounds[-1])

    def _read_one_by_one(self, lines: enc.Lines, raw: bytes, at_end: bool) -> Iterator[LocatedRecord]:
        offsets = [0, *accumulate(lines.sizes)]
        cursor, tile_line = LineCursor(), 0
        for record in read_records(lines, self._grammar, at_end=at_end, cursor=cursor):
            end_line = record.first + record.lines
            start, end = offsets[tile_line], offsets[end_line]
            yield LocatedRecord(
                self._position + start,
                self._line + tile_line,
                self._line + record.first,
                self._line + end_line - 1,
                self._position + offsets[record.first],
                self._position + end,
                record.cells,
                raw[start:end],
            )
            tile_line = end_line
        self._advance(len(lines.texts) if at_end else tile_line, offsets, raw)

    def _skip_to_next_record(self, skipped: _SkippedRecord, at_end: bool) -> Iterator[LocatedRecord]:
        """Skip the bytes that belong to the skipped record; yield it when the next record or the end is found."""
        end = len(self._pending) if at_end else self._find_last_line_end()
        if not end and self._is_next_record_too_long(skipped, at_end):
            yield self._finish_skipping(skipped)
            return
        if not end:
            # Part of a line does not show how an open cell continues, and the beginning of a line does not show
            # whether a record starts there: wait for the rest of the line.
            too_long = len(self._pending) > self._max_record_bytes
            if (self._mid_line and not skipped.inside_cell) or at_end or too_long:
                yield from self._skip_partial_line(skipped, at_end)
            return
        lines = self._split_lines(self._pending[:end])
        start, found = self._find_skipped_end(skipped, lines, at_end)
        offsets = [0, *accumulate(lines.sizes)]
        skipped.add(self._pending[: offsets[start]])
        skipped.last_line = max(skipped.last_line, self._line + start - 1)
        self._mid_line = False
        self._advance(start, offsets, self._pending[:end])
        if found or at_end:
            yield self._finish_skipping(skipped)

    def _finish_skipping(self, skipped: _SkippedRecord) -> LocatedRecord:
        self._skipped = None
        return skipped.build_record()

    def _is_next_record_too_long(self, skipped: _SkippedRecord, at_end: bool) -> bool:
        """Return whether the pending bytes, too long and without a line end, begin the record after the skipped one."""
        too_long = len(self._pending) > self._max_record_bytes
        if at_end or self._mid_line or skipped.inside_cell or not too_long:
            return False
        lines = self._split_lines(self._pending[: len(self._pending) - self._count_undecided_bytes()])
        return find_record_start(lines, self._grammar, at_end=True, first=0)[0] == 0

    def _start_skipping(self) -> None:
        """Skip the pending record, which is longer than the limit, up to its end or the next record."""
        self._skipped = _SkippedRecord(self._position, self._line, self._line, self._max_record_bytes)
        self._mid_line = True
        end = self._find_last_line_end()
        lines = self._split_lines(self._pending[:end])
        if end and ends_in_open_cell(lines, self._grammar):
            self._skipped.inside_cell, self._mid_line = True, False
            self._skipped.add(self._pending[:end])
            self._skipped.last_line = self._line + len(lines.texts) - 1
            self._advance(len(lines.texts), [0, *accumulate(lines.sizes)], self._pending[:end])

    def _find_skipped_end(self, skipped: _SkippedRecord, lines: enc.Lines, at_end: bool) -> tuple[int, bool]:
        """Return the line up to which the skipped record extends, and whether it ends there."""
        if skipped.inside_cell:
            end, skipped.inside_cell = find_large_cell_end(lines, self._grammar)
            if end is not None:
                return end, True
            if skipped.inside_cell:
                return len(lines.texts), False
        no_more_lines = at_end or len(self._pending) > self._max_record_bytes
        start, certain = find_record_start(lines, self._grammar, at_end=no_more_lines, first=int(self._mid_line))
        return start, certain and start < len(lines.texts)

    def _skip_partial_line(self, skipped: _SkippedRecord, at_end: bool) -> Iterator[LocatedRecord]:
        # Half of a code unit stays pending: line ends are searched at every second byte from the start of `_pending`.
        size = len(self._pending) - (0 if at_end else self._count_undecided_bytes())
        part, self._pending = self._pending[:size], self._pending[size:]
        if part:
            skipped.last_line = self._line
        skipped.add(part)
        self._position += len(part)
        self._mid_line, skipped.inside_cell = bool(part) or self._mid_line, False
        if at_end:
            yield self._finish_skipping(skipped)

    def _drop_blank_lines(self, more_than: int = 0) -> bool:
        """Drop the blank lines at the beginning of the pending bytes if they have more than this many bytes.

        Return whether any were dropped.
        """
        blank = self._blank.match(self._pending)
        size = blank.end() if blank else 0
        if size <= more_than:
            return False
        ends = enc.decode(self._pending[:size], self._view)
        self._line += ends.count("\n") + ends.count("\r") - ends.count("\r\n")
        self._position, self._pending = self._position + size, self._pending[size:]
        return True

    def _drop_end_marks(self) -> None:
        """Drop the lines after the last record that consist of end-of-file marks and NUL characters."""
        rest, self.nul_count = self._cut_end_marks(self._pending)
        self._pending = self._pending[:rest]

    def _cut_end_marks(self, raw: bytes) -> tuple[int, int]:
        return cut_end_marks(raw, self._view, cr_ends=self._grammar.cr_ends)

    def _split_lines(self, raw: bytes) -> enc.Lines:
        return enc.split_lines(raw, self._view, self._grammar.cr_ends)

    def _find_last_line_end(self) -> int:
        return enc.find_last_line_end(self._pending, self._view, self._grammar.cr_ends)

    def _count_undecided_bytes(self) -> int:
        return enc.count_undecided_bytes(self._pending, self._view, self._grammar.cr_ends)

    def _advance(self, lines: int, offsets: list[int], raw: bytes) -> None:
        if self._view in (enc.BYTEWISE, enc.CP1252):
            self.evidence.add(raw[: offsets[lines]], self._line)
        self._pending = self._pending[offsets[lines] :]
        self._position += offsets[lines]
        self._line += lines
