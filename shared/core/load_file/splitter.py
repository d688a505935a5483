"""Read a file once, block by block: chunks, hashes, counts, and the evidence for decisions made at the end of the file.

Guaranteed: the chunks tile the file after its header, except for blank lines and rows before the first row of a chunk
and at the end of the file, long runs of blank lines, repeated headers with the blank lines before them, and marks of
the file's end; a chunk ends where a record ends; memory does not grow with the file. The records of all chunks are
those of the file read at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from core.cells.keys import unwrap_formula, unwrap_formulas
from core.dates.written_dates import DateOrder
from core.exhibit_dates import DATE_FIELDS
from core.load_file import encoding as enc
from core.load_file.date_columns import find_hashed_date
from core.load_file.dialect import Opening, refuse_utf8
from core.load_file.grammar import ASCII_WHITESPACE, MAX_RECORD_BYTES
from core.load_file.layout import Layout
from core.load_file.options import ImportOptions
from core.load_file.original_lines import has_line_column, is_one_row
from core.load_file.record_batches import LocatedBatch, RecordBatch
from core.load_file.record_stream import LocatedRecord, RecordStream
from core.load_file.repeated_header import RepeatedHeader, build_too_many
from core.load_file.resumable_sha256 import ResumableSha256
from core.load_file.split_state import Chunk, DatePrefixes, LineCount, OpenChunk, SplitState

MAX_CHUNK_BYTES = 4_000_000
# Each one begins a chunk; the chunks of a file are kept in memory.
MAX_REPEATED_HEADERS = 10_000
JUDGES_KEYS = True


class Splitter:
    """A pass over a file: call `feed` with the bytes in order from the first one on, then `finish`.

    `ids` holds (id, line) of every record that has an id and the expected number of cells, and in an error file the
    cell of its line, since the caller last cleared the list. Lines of a header belong to no chunk and count in
    `repeated_headers`; records that begin with a byte order mark count in `byte_order_marks`. Records without a value
    are not rows: they count in `blank_rows`, and may lie in a chunk between its rows and after them. `dates` is what
    the cells of its date columns show.
    """

    def __init__(
        self,
        opening: Opening,
        chunk_rows: int,
        max_record_bytes: int = MAX_RECORD_BYTES,
        max_chunk_bytes: int = MAX_CHUNK_BYTES,
    ) -> None:
        self.opening = opening
        self.chunk_rows = chunk_rows
        self._max_chunk_bytes = max_chunk_bytes
        self.rows_seen = 0
        self.chunk_count = 0
        self.ids: list[tuple[str, int]] = []
        self._id_column = opening.id_column
        self._date_columns = {date: opening.fields.index(date) for date in DATE_FIELDS if date in opening.fields}
        # Without a date column, a batch has the ids twice and its dates are not read.
        columns = (self._id_column, *(self._date_columns.values() or [self._id_column]))
        view = opening.dialect.view
        self._repeated = RepeatedHeader(opening.grammar, opening.header, self._id_column)
        # Batches do not have the cells of the lines, and error files are small.
        self._has_lines = has_line_column(opening)
        place = (opening.grammar, view, opening.body_start, opening.body_line)
        limits = (columns, max_record_bytes, self._repeated)
        self._stream = RecordStream(*place, *limits, batches=not self._has_lines)
        self._byte_order_mark = enc.get_byte_order_mark(view).encode(view)
        self.repeated_headers, self.byte_order_marks, self.blank_rows = LineCount(), LineCount(), LineCount()
        self._header = b""
        self.bytes_read = 0
        self._digest = ResumableSha256()
        self.dates = DatePrefixes(self._date_columns)
        self._open = OpenChunk.start(opening.body_start, opening.body_line)

    def feed(self, block: bytes) -> Iterator[Chunk]:
        """Yield the chunks that the next bytes of the file complete.

        Raises FileRefusedError if the header is repeated too often.
        """
        self._digest.update(block)
        self.bytes_read += len(block)
        yield from self._add_records(self._stream.feed(self._strip_header(block)))

    def finish(self) -> Iterator[Chunk]:
        """Yield the chunks that remain at the end of the file."""
        yield from self._add_records(self._stream.feed(b"", at_end=True))
        yield from self._close()

    def list_open_chunk(self) -> Iterator[Chunk]:
        """Yield the chunk that is being filled, if it has rows: all complete records of a file that is not read on."""
        yield from self._close()

    def export_state(self) -> SplitState | None:
        """Return the state between two calls, for `resume`; None inside of the header or of a record over 16 MB."""
        position = self._stream.export_position() if len(self._header) == self.opening.body_start else None
        if position is None:
            return None
        sha256 = self._digest.export_state()
        opened = replace(self._open, raw_parts=[])
        counts = (self.repeated_headers, self.byte_order_marks, self.blank_rows, self.nul_count)
        return SplitState(
            *(self.bytes_read, position, opened, self.chunk_count, self.rows_seen, self.dates.export(), self.evidence),
            *(*counts, sha256.hex() if sha256 else None),
            self.dates.shown,
        )

    def resume(
        self, state: SplitState, read: Callable[[int, int], bytes], read_before: Callable[[], Iterable[bytes]]
    ) -> None:
        """Go on, in a new instance for the same file and limits, where `export_state` was called.

        Fed with the same blocks, it yields the same chunks as if it had not been interrupted. `read` returns the bytes
        [start, end) of the file; `read_before` yields those before `state.bytes_read`, for the digest where its state
        cannot be used.
        """
        self.bytes_read, self._header = state.bytes_read, bytes(self.opening.body_start)
        self._digest = ResumableSha256(bytes.fromhex(state.sha256) if state.sha256 else None, read_before)
        self._stream.resume(state.position, read(state.position.byte, state.bytes_read), state.evidence)
        self._open = replace(state.open_chunk, raw_parts=[read(state.open_chunk.byte_start, state.open_chunk.byte_end)])
        self.chunk_count, self.rows_seen = state.chunk_count, state.rows_seen
        self.dates.resume(state.date_prefixes, state.date_lines)
        self.repeated_headers, self.byte_order_marks = state.repeated_headers, state.byte_order_marks
        self.blank_rows, self._stream.nul_count = state.blank_rows, state.nul_count

    @property
    def nul_count(self) -> int:
        """How many NUL characters the file ends with."""
        return self._stream.nul_count

    @property
    def sha256(self) -> bytes:
        """The digest of all bytes fed."""
        return self._digest.digest()

    @property
    def evidence(self) -> enc.Utf8Evidence:
        """What the bytes fed show of the encoding, unless the view is UTF-8 or UTF-16."""
        return self._stream.evidence

    @property
    def date_orders(self) -> dict[str, DateOrder | None]:
        """The order of day and month that the dates of each field show; None if no date needs an order."""
        return self.dates.detect_orders()

    def build_layout(self, options: ImportOptions, *, whole: bool = True) -> Layout:
        """Return the layout of the whole file, after `finish`; the options override what the dates show.

        Unless `whole`, it is that of the bytes fed. Raises FileRefusedError (BAD_OPTIONS) if the encoding is given as
        cp1252 and the whole file is UTF-8.
        """
        opening = self.opening
        encoding = opening.dialect.encoding or self.evidence.choose_encoding()
        if whole and encoding == enc.CP1252 and self.evidence.is_utf8:
            refuse_utf8()
        orders = self._choose_orders(options)
        hashed = find_hashed_date(opening.names, opening.fields, opening.reasons)
        # Where versions that know one order take it: the order of what was the document date.
        main = orders.get(str(opening.fields[hashed])) if hashed is not None else None
        order = main or options.get_date_order("document_date") or "MDY"
        return Layout(
            encoding=encoding,
            grammar=opening.grammar,
            newline=opening.dialect.newline,
            names=opening.names,
            fields=opening.fields,
            date_order=order,
            body_start=opening.body_start,
            body_line=opening.body_line,
            reasons=opening.reasons,
            has_header=opening.header is not None,
            date_orders={date: own for date, own in orders.items() if own != order},
            hashed_date=hashed,
            judges_keys=JUDGES_KEYS,
            earlier_fields=opening.earlier_fields,
            header_line=options.header_line,
            **options.as_layout(),
        )

    def _choose_orders(self, options: ImportOptions) -> dict[str, str]:
        return {
            date: options.get_date_order(date) or (found.order if found else "MDY")
            for date, found in self.date_orders.items()
        }

    def _strip_header(self, block: bytes) -> bytes:
        """Return the bytes of the block after the header; the header counts as evidence for the encoding."""
        missing = self.opening.body_start - len(self._header)
        if not missing:
            return block
        self._header += block[:missing]
        if len(self._header) == self.opening.body_start:
            self.evidence.add(self._header)
        return block[missing:]

    def _add_records(self, found: Iterator[LocatedRecord | LocatedBatch]) -> Iterator[Chunk]:
        for each in found:
            if isinstance(each, LocatedBatch):
                yield from self._add_batch(each)
                continue
            self._count_mark(each)
            if each.cells is not None and self.opening.grammar.is_blank(each.cells):
                yield from self._skip_blank(each)
            elif not self._is_repeated_header(each):
                yield from self._add_record(each)

    def _count_mark(self, record: LocatedRecord) -> None:
        if record.tile and record.tile.startswith(self._byte_order_mark, record.byte_start - record.tile_start):
            self.byte_order_marks.add(record.first_line)

    def _skip_blank(self, record: LocatedRecord) -> Iterator[Chunk]:
        """Count a blank record; an open chunk goes on after it if it has room for its bytes."""
        self.blank_rows.add(record.first_line)
        chunk = self._open
        if record.tile_start != chunk.byte_end or record.byte_end - chunk.byte_start > self._max_chunk_bytes:
            yield from self._close()
        elif chunk.row_count:
            chunk.append(record.byte_end, record.last_line, record.tile)

    def _is_repeated_header(self, record: LocatedRecord) -> bool:
        if record.cells is None or not self._repeated.matches(record.cells):
            return False
        self.repeated_headers.add(record.first_line)
        if self.repeated_headers.count > MAX_REPEATED_HEADERS:
            raise build_too_many(MAX_REPEATED_HEADERS)
        return True

    def _add_record(self, record: LocatedRecord) -> Iterator[Chunk]:
        starts_chunk = record.tile is None or record.tile_start != self._open.byte_end
        is_full = self._open.row_count >= self.chunk_rows
        if starts_chunk or is_full or record.byte_end - self._open.byte_start > self._max_chunk_bytes:
            yield from self._close()
        if not self._open.row_count:
            self._open = OpenChunk.start(record.tile_start, record.tile_line)
        self._append_record(record)
        if record.tile is None:
            yield self._build_chunk(record.sha256 or b"")

    def _add_batch(self, located: LocatedBatch) -> Iterator[Chunk]:
        start = 0
        while start < located.record_count:
            follows = located.get_byte(start) == self._open.byte_end
            end = self._find_chunk_end(located, start) if follows else start
            if end == start:
                yield from self._close()
                self._open = OpenChunk.start(located.get_byte(start), located.get_line(start))
                end = max(start + 1, self._find_chunk_end(located, start))
            self._append_batch(located, start, end)
            start = end
        self._note_batch(located.batch, located.line)

    def _find_chunk_end(self, located: LocatedBatch, start: int) -> int:
        """Return the end of the records [start, end) of the batch for which the open chunk has room."""
        by_bytes = located.find_end(self._open.byte_start + self._max_chunk_bytes, start)
        return min(by_bytes, start + self.chunk_rows - self._open.row_count)

    def _append_batch(self, located: LocatedBatch, start: int, end: int) -> None:
        place = (located.get_byte(end), located.get_line(end) - 1)
        self._open.append(*place, located.get_bytes(start, end), rows=end - start)
        self.rows_seen += end - start

    def _append_record(self, record: LocatedRecord) -> None:
        self._open.append(record.byte_end, record.last_line, record.tile, rows=1)
        self.rows_seen += 1
        cells = record.cells
        if cells is None or not self.opening.grammar.has_expected_cells(cells):
            return
        if not self._has_lines or is_one_row(
            (record.tile or b"")[record.byte_start - record.tile_start :], cells, self.opening
        ):
            self._note_cells(cells, record.first_line)

    def _note_cells(self, cells: list[str], line: int) -> None:
        """Keep the id of a record and the beginnings of its dates."""
        control_number = unwrap_formula(cells[self._id_column].strip(ASCII_WHITESPACE))
        if control_number:
            self.ids.append((control_number, line))
        self.dates.add([(cells[column],) for column in self._date_columns.values()], [line])

    def _note_batch(self, batch: RecordBatch, line: int) -> None:
        """Keep what `_note_cells` keeps of each record, column by column."""
        keys = unwrap_formulas([cell.strip(ASCII_WHITESPACE) for cell in batch.ids])
        ids = zip(keys, [line + first for first in batch.first_lines], strict=True)
        self.ids += ids if all(keys) else [each for each in ids if each[0]]
        if self._date_columns:
            self.dates.add(batch.list_dates(len(self._date_columns)), batch.first_lines, line)

    def _close(self) -> Iterator[Chunk]:
        if self._open.row_count:
            yield self._build_chunk(self._open.hash_bytes())

    def _build_chunk(self, digest: bytes) -> Chunk:
        done = self._open
        self.chunk_count += 1
        self._open = OpenChunk.start(done.byte_end, done.last_line + 1)
        return done.build(self.chunk_count, digest)
