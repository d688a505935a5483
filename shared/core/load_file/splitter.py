"""One pass over a file, block by block: chunks, hashes, counts, and the evidence for what is decided at its end.

Guaranteed: the chunks tile the file behind its header, but for blank lines at its end and long runs of them; a chunk
ends where a record ends; memory does not grow with the file. Reading all chunks gives the records that reading the file
at once would give.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.dates import EVIDENCE_CHARACTERS, DateOrder, order_of
from core.load_file.dialect import Opening
from core.load_file.grammar import ASCII_WHITESPACE, MAX_RECORD_BYTES
from core.load_file.layout import Layout
from core.load_file.runs import LocatedRun, Run
from core.load_file.streaming import Located, RecordStream

MAX_CHUNK_BYTES = 4_000_000
MAX_DATE_BEGINNINGS = 10_000


@dataclass(frozen=True)
class Chunk:
    """A run of records: bytes [byte_start, byte_end), physical lines [first_line, last_line], and how many records."""

    chunk_no: int
    byte_start: int
    byte_end: int
    first_line: int
    last_line: int
    row_count: int
    sha256: bytes


@dataclass
class _Open:
    """The records of the chunk that is being filled."""

    byte_start: int
    first_line: int
    byte_end: int
    last_line: int
    rows: int = 0
    tiles: list[bytes] = field(default_factory=list)


class Splitter:
    """Feed it the file's bytes in order, from the first one on, then `finish` it.

    `ids` holds (id, line) of every record with the right number of cells and an id, since the caller last emptied it.
    `in_runs`: sound records are taken many at a time; that is faster, and comes to the same.
    """

    def __init__(
        self,
        opening: Opening,
        chunk_rows: int,
        max_record_bytes: int = MAX_RECORD_BYTES,
        max_chunk_bytes: int = MAX_CHUNK_BYTES,
        *,
        in_runs: bool = True,
    ) -> None:
        self.opening = opening
        self.chunk_rows = chunk_rows
        self.max_chunk_bytes = max_chunk_bytes
        self.rows_seen = 0
        self.chunk_count = 0
        self.ids: list[tuple[str, int]] = []
        self._id_column = opening.id_column
        self._date_column = opening.fields.index("document_date") if "document_date" in opening.fields else None
        picked = (self._id_column, self._id_column if self._date_column is None else self._date_column)
        self._stream = RecordStream(
            opening.grammar,
            opening.dialect.view,
            opening.body_start,
            opening.body_line,
            max_record_bytes,
            picked=picked if in_runs else None,
        )
        self._header = b""
        self._digest = hashlib.sha256()
        self._dates: set[str] = set()
        self._open = self._empty(opening.body_start, opening.body_line)

    def feed(self, block: bytes) -> Iterator[Chunk]:
        """The chunks that the next bytes of the file complete."""
        self._digest.update(block)
        yield from self._gather(self._stream.feed(self._behind_header(block)))

    def finish(self) -> Iterator[Chunk]:
        """The chunks that are left when the file has ended."""
        yield from self._gather(self._stream.feed(b"", at_end=True))
        yield from self._close()

    @property
    def sha256(self) -> bytes:
        """The digest of all bytes fed."""
        return self._digest.digest()

    @property
    def date_order(self) -> DateOrder | None:
        """What the dates say about day and month; None if no date needs an order."""
        return order_of(self._dates)

    def layout(self, date_order: str | None) -> Layout:
        """What every chunk is read by, settled once the file was seen; `date_order` overrides what the dates say."""
        opening, seen = self.opening, self.date_order
        return Layout(
            encoding=opening.dialect.encoding or self._stream.evidence.verdict(),
            grammar=opening.grammar,
            newline=opening.dialect.newline,
            names=opening.names,
            fields=opening.fields,
            date_order=date_order or (seen.order if seen else "MDY"),
            body_start=opening.body_start,
            body_line=opening.body_line,
        )

    def _behind_header(self, block: bytes) -> bytes:
        """What of the block is not of the header, which says as much of the encoding as the records do."""
        missing = self.opening.body_start - len(self._header)
        if not missing:
            return block
        self._header += block[:missing]
        if len(self._header) == self.opening.body_start:
            self._stream.evidence.add(self._header)
        return block[missing:]

    def _gather(self, found: Iterator[Located | LocatedRun]) -> Iterator[Chunk]:
        for each in found:
            yield from self._take_run(each) if isinstance(each, LocatedRun) else self._take(each)

    def _take(self, record: Located) -> Iterator[Chunk]:
        apart = record.tile is None or record.tile_start != self._open.byte_end
        if apart or self._is_full(record):
            yield from self._close()
        if not self._open.rows:
            self._open = self._empty(record.tile_start, record.tile_line)
        self._add(record)
        if record.tile is None:
            yield self._closed(record.sha256 or b"")

    def _take_run(self, run: LocatedRun) -> Iterator[Chunk]:
        first, behind = 0, run.records
        while first < behind:
            until = first if run.place(first) != self._open.byte_end else self._room(run, first)
            if until == first:
                yield from self._close()
                self._open = self._empty(run.place(first), run.line_of(first))
                until = max(first + 1, self._room(run, first))
            self._extend(run, first, until)
            first = until
        self._note_run(run.run, run.line)

    def _room(self, run: LocatedRun, first: int) -> int:
        """The record of the run, from `first` on, that the open chunk has no room for."""
        by_bytes = run.within(self._open.byte_start + self.max_chunk_bytes, first)
        return min(by_bytes, first + self.chunk_rows - self._open.rows)

    def _extend(self, run: LocatedRun, first: int, until: int) -> None:
        chunk, rows = self._open, until - first
        chunk.byte_end, chunk.last_line = run.place(until), run.line_of(until) - 1
        chunk.rows, self.rows_seen = chunk.rows + rows, self.rows_seen + rows
        chunk.tiles.append(run.tile(first, until))

    def _is_full(self, record: Located) -> bool:
        return self._open.rows >= self.chunk_rows or record.byte_end - self._open.byte_start > self.max_chunk_bytes

    def _add(self, record: Located) -> None:
        chunk = self._open
        chunk.byte_end, chunk.last_line, chunk.rows = record.byte_end, record.last_line, chunk.rows + 1
        if record.tile is not None:
            chunk.tiles.append(record.tile)
        self.rows_seen += 1
        cells = record.cells
        if cells is not None and self.opening.grammar.fits(cells):
            self._note(cells, record.first_line)

    def _note(self, cells: list[str], line: int) -> None:
        control_number = cells[self._id_column].strip(ASCII_WHITESPACE)
        if control_number:
            self.ids.append((control_number, line))
        if self._date_column is not None and len(self._dates) < MAX_DATE_BEGINNINGS:
            self._dates.add(cells[self._date_column].lstrip()[:EVIDENCE_CHARACTERS])

    def _note_run(self, run: Run, line: int) -> None:
        """What `_note` takes from each record, column by column."""
        keys = [cell.strip(ASCII_WHITESPACE) for cell in run.ones]
        ids = zip(keys, [line + first for first in run.first_lines], strict=True)
        self.ids += ids if all(keys) else [each for each in ids if each[0]]
        if self._date_column is not None and len(self._dates) < MAX_DATE_BEGINNINGS:
            beginnings = dict.fromkeys([cell.lstrip()[:EVIDENCE_CHARACTERS] for cell in run.others])
            new = [beginning for beginning in beginnings if beginning not in self._dates]
            self._dates.update(new[: MAX_DATE_BEGINNINGS - len(self._dates)])

    def _close(self) -> Iterator[Chunk]:
        if self._open.rows:
            yield self._closed(hashlib.sha256(b"".join(self._open.tiles)).digest())

    def _closed(self, digest: bytes) -> Chunk:
        done = self._open
        self.chunk_count += 1
        self._open = self._empty(done.byte_end, done.last_line + 1)
        return Chunk(
            self.chunk_count, done.byte_start, done.byte_end, done.first_line, done.last_line, done.rows, digest
        )

    @staticmethod
    def _empty(byte_start: int, first_line: int) -> _Open:
        return _Open(byte_start, first_line, byte_start, first_line)
