"""What becomes of a damaged file without a database: refused with a reason, or every byte of it accounted for.

The file is read as `start_import` and `import_chunk` read it, in small chunks and blocks, sometimes with records over a
limit of a few bytes. Line numbers, blank lines and the places of records are found from the bytes alone.
"""

from __future__ import annotations

import hashlib
import random
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.load_file.chunk_reader import read_chunk
from core.load_file.dialect import Opening, read_opening
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.layout import Layout
from core.load_file.options import ImportOptions, parse_options
from core.load_file.record_reader import SourceRecord
from core.load_file.split_state import Chunk
from core.load_file.splitter import Splitter
from samples.words import build_random
from tests.torture.mutations.load_files import Mutated
from tests.torture.mutations.records import check_ids, check_reload, check_rows, demand

Reader = Callable[[bytes, Layout, int, int], Iterable[SourceRecord]]


@dataclass(frozen=True)
class Outcome:
    """What a file came to: a code, or records as the splitter counted them, and how many chunks gave back.

    `rejected` of these have a reason not to be imported.
    """

    refused: str | None = None
    rows: int = 0
    accounted: int = 0
    rejected: int = 0


@dataclass(frozen=True)
class Manner:
    """How a file is read: rows and bytes of a chunk, bytes of a record, sizes of blocks, and how much is the head."""

    chunk_rows: int
    chunk_bytes: int
    record_bytes: int
    block_bytes: int
    head_bytes: int | None

    @classmethod
    def drawn(cls, rng: random.Random) -> Manner:
        """Mostly without records over the limit."""
        record_bytes = rng.choice((MAX_RECORD_BYTES,) * 4 + (60, 400))
        return cls(
            chunk_rows=rng.choice((1, 2, 3, 7, 1_000)),
            chunk_bytes=min(record_bytes, rng.choice((30, 300, 3_000, 4_000_000))),
            record_bytes=record_bytes,
            block_bytes=rng.choice((7, 61, 500, 4_000, 10**6)),
            head_bytes=rng.choice((None,) * 7 + (rng.randint(1, 4_000),)),
        )


class Places:
    """The physical lines of a file whose characters begin behind a byte order mark of so many bytes."""

    def __init__(self, data: bytes, mark_bytes: int, encoding: str, cr_ends: bool, signs: str = "") -> None:
        self._data = data
        lf, cr = (re.escape(character.encode(encoding)) for character in "\n\r")
        mark = "\ufeff".encode("utf-8" if encoding == "cp1252" else encoding)
        width = len("\n".encode(encoding))
        line_end = b"(?:" + cr + b")?+" + lf + (b"|" + cr if cr_ends else b"")
        units = re.compile(b"(" + line_end + b")|" + b"." * width, re.DOTALL)
        self._starts = [0, *(match.end() for match in units.finditer(data, mark_bytes) if match[1])]
        marks = b"(?:" + re.escape(mark) + b")*+"
        # Delimiters, qualifiers, white space, and what old programs write at the end.
        blank = b"|".join(re.escape(sign.encode(encoding)) for sign in f"{signs} \t\r\x0b\x0c\x1a\0")
        self._blank = re.compile(b"(?:" + marks + b"(?:" + line_end + b"|" + blank + b"))*+" + marks)

    def line_of(self, place: int) -> int:
        """The line, from 1, that a byte stands on."""
        return bisect_right(self._starts, place)

    def is_blank(self, start: int, end: int) -> bool:
        """Whether nothing but empty lines and blank rows is there; `start` begins a character."""
        return self._blank.fullmatch(self._data, start, end) is not None

    def digest(self, start: int, end: int) -> bytes:
        """SHA-256 of the bytes."""
        return hashlib.sha256(self._data[start:end]).digest()


@dataclass(frozen=True)
class Pass:
    """What one pass over a file found."""

    data: bytes
    manner: Manner
    opening: Opening
    splitter: Splitter
    chunks: Sequence[Chunk]
    layout: Layout


def parse(mutated: Mutated, splitter: type[Splitter] = Splitter, reader: Reader = read_chunk) -> Outcome:
    """What becomes of the file; raises ViolationError where that is not what is promised."""
    manner = Manner.drawn(build_random(mutated.number, "manner"))
    try:
        options = parse_options(mutated.options)
        found = run_pass(mutated.data, options, manner, splitter)
    except FileRefusedError as refused:
        demand(refused.code in set(FileFailure) and len(str(refused)) > 10, f"refused without a reason: {refused}")
        return Outcome(refused=refused.code)
    grammar = found.layout.grammar
    places = Places(mutated.data, found.opening.dialect.mark_bytes, found.layout.encoding, grammar.cr_ends)
    _check_chunks(found, places, reader)
    records = [list(_records(found, chunk, places, reader)) for chunk in found.chunks]
    _check_at_once(found, records, reader)
    read = [record for each in records for record in each]
    check_ids(read, found.layout, _seen(found, read))
    rejected = check_rows(read, found.layout)
    if manner.head_bytes is None:
        # What the beginning and the whole say of the encoding may differ, and with it the names of columns.
        check_reload(mutated.data, found.layout, rejected)
    return Outcome(None, found.splitter.rows_seen, len(read), len(rejected))


def run_pass(data: bytes, options: ImportOptions, manner: Manner, kind: type[Splitter]) -> Pass:
    """Split the file as the manner says."""
    head = data if manner.head_bytes is None else data[: manner.head_bytes]
    opening = read_opening(head, options, whole=head == data)
    splitter = kind(opening, manner.chunk_rows, manner.record_bytes, manner.chunk_bytes)
    blocks = (data[at : at + manner.block_bytes] for at in range(0, len(data), manner.block_bytes))
    chunks = [chunk for block in blocks for chunk in splitter.feed(block)]
    chunks += splitter.finish()
    layout = splitter.build_layout(options)
    stored = layout.to_json().encode()
    demand(Layout.from_json(stored.decode()) == layout, "the layout is not what was stored of it")
    return Pass(data, manner, opening, splitter, chunks, layout)


def _check_chunks(found: Pass, places: Places, reader: Reader) -> None:
    """The chunks tile the file behind its header; only blank lines and headers are between and behind them."""
    at, headers = found.layout.body_start, 0
    begins = at == len(found.data) or places.line_of(at) == found.layout.body_line
    demand(begins, "the body does not begin on the line that it says")
    for number, chunk in enumerate(found.chunks, start=1):
        demand(at <= chunk.byte_start < chunk.byte_end <= len(found.data), f"chunk {number} is out of order")
        headers += _count_headers(found, places, (at, chunk.byte_start), reader)
        demand(chunk.chunk_no == number, f"chunk {number} has another number")
        demand(chunk.first_line == places.line_of(chunk.byte_start), f"chunk {number} has another first line")
        demand(chunk.last_line == places.line_of(chunk.byte_end - 1), f"chunk {number} has another last line")
        at = chunk.byte_end
    headers += _count_headers(found, places, (at, len(found.data)), reader)
    demand(headers == found.splitter.repeated_headers.count, f"{headers} headers are in no chunk")
    rows = sum(chunk.row_count for chunk in found.chunks)
    demand(rows == found.splitter.rows_seen, f"{found.splitter.rows_seen} rows seen, {rows} in chunks")


def _count_headers(found: Pass, places: Places, gap: tuple[int, int], reader: Reader) -> int:
    """How many times the header is in bytes that belong to no chunk; nothing else may be there."""
    if places.is_blank(*gap):
        return 0
    records = _drop_end(list(reader(found.data[slice(*gap)], found.layout, 1, gap[0])))
    headers = sum(_is_header(found, record) for record in records)
    demand(0 < headers == len(records), f"{gap}: bytes are of no chunk")
    return headers


def _drop_end(records: list[SourceRecord]) -> list[SourceRecord]:
    """The records without the marks of the end of a file."""
    while records and not "".join(records[-1].cells or ["x"]).strip("\x1a\0\r\n"):
        records = records[:-1]
    return records


def _is_header(found: Pass, record: SourceRecord) -> bool:
    """Whether the record is a line of a header, in the encoding in which the header was seen."""
    dialect, encoding = found.opening.dialect, found.layout.encoding
    cells = record.cells or []
    if dialect.encoding is None:
        cells = [cell.encode(encoding, "surrogateescape").decode(dialect.view) for cell in cells]
    delimiter, count = found.layout.grammar.delimiter, found.layout.grammar.cells
    if delimiter.join(cells).lower().strip('"') == f"sep={delimiter}" and len(cells) < 3:
        return True
    header = found.opening.header
    return (
        header is not None and _spell(cells[count:]) in ([], [""]) and _spell(cells[:count]) == _spell(header[:count])
    )


def _spell(cells: Sequence[str]) -> list[str]:
    return [cell.strip(" \t\n\r\x0b\x0c").casefold() for cell in cells]


def _records(found: Pass, chunk: Chunk, places: Places, reader: Reader) -> Iterator[SourceRecord]:
    """The records of a chunk that is read on its own, which tile it and have the lines that they begin on."""
    if chunk.byte_end - chunk.byte_start > found.manner.record_bytes:
        demand(chunk.row_count == 1, "a record over the limit shares its chunk")
        return
    raw = found.data[chunk.byte_start : chunk.byte_end]
    demand(places.digest(chunk.byte_start, chunk.byte_end) == chunk.sha256, "a chunk's digest is of other bytes")
    records = list(reader(raw, found.layout, chunk.first_line, chunk.byte_start))
    demand(len(records) == chunk.row_count, f"a chunk of {chunk.row_count} rows reads back as {len(records)}")
    at = chunk.byte_start
    for record in records:
        end = record.byte_start + record.byte_len
        demand(at <= record.byte_start < end <= chunk.byte_end, "a record is out of order")
        demand(places.is_blank(at, record.byte_start), f"{at}: bytes between records are of no record")
        demand(record.line_no == places.line_of(record.byte_start), "a record has another line")
        demand(record.line_count == places.line_of(end - 1) - record.line_no + 1, "a record has other lines")
        at = end
        yield record
    demand(places.is_blank(at, chunk.byte_end), f"{at}: bytes behind a chunk's records are of no record")


def _seen(found: Pass, read: Sequence[SourceRecord]) -> list[tuple[str, int]]:
    """The ids that the splitter saw; a record over the limit may have been read for it, or passed over."""
    if found.manner.record_bytes == MAX_RECORD_BYTES:
        return found.splitter.ids
    lines = {record.line_no for record in read}
    return [(control_number, line) for control_number, line in found.splitter.ids if line in lines]


def _check_at_once(found: Pass, by_chunk: Sequence[Sequence[SourceRecord]], reader: Reader) -> None:
    """Chunks and blocks change nothing: read at once, the body has the same records."""
    if found.manner.record_bytes < MAX_RECORD_BYTES:
        return
    layout = found.layout
    body = found.data[layout.body_start :]
    whole = [each for each in reader(body, layout, layout.body_line, layout.body_start) if not _is_header(found, each)]
    whole = _drop_end(whole) if found.chunks and found.chunks[-1].byte_end < len(found.data) else whole
    demand(whole == [record for each in by_chunk for record in each], "read at once the records are others")
