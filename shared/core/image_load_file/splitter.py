"""Read an image load file once, block by block: chunks of documents, their keys, counts, and the encoding.

Guaranteed: chunks and rejected ranges come in the file's order and do not overlap; together they have every line that
is neither blank, a comment nor another command; a chunk begins with a document break and ends with the last page of a
document; memory does not grow with the file. What is between the documents of a chunk is part of it; what is between
two chunks is part of neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.codes import Rejection
from core.image_load_file.boundaries import BOUNDARY_COMMANDS, PAGE
from core.image_load_file.chunk_boundaries import hash_chunk, pack_boundaries
from core.image_load_file.document_stream import DocumentStream, ImageFileCounts, LocatedDocument
from core.image_load_file.limits import LIMITS, Limits
from core.image_load_file.lines import LineBatch, LineStream
from core.image_load_file.page_lines import ImageFileKind
from core.load_file import encoding as enc
from core.load_file.split_state import Chunk, LineCount, OpenChunk


@dataclass(frozen=True)
class RejectedRange:
    """Lines [first_line, last_line], bytes [byte_start, byte_end), that are rejected as one row and never read again.

    They are a document over a limit, with its key, or the lines before the first document break.
    """

    code: Rejection
    message: str
    key: str
    byte_start: int
    byte_end: int
    first_line: int
    last_line: int
    boundaries: bytes | None = None


class ImageSplitter:
    """A pass over a file: call `feed` with the bytes in order from the first one on, then `finish`.

    `encoding` and `mark_bytes` are those of a Detection. A chunk's `row_count` is its number of documents; `rows_seen`
    is the number of documents and rejected ranges so far. `keys` holds (key, line) of every document whose lines can be
    parsed, since the caller last cleared the list. Where only the whole file shows the encoding, keys are read byte by
    byte, also those of ranges, and `decode_key` decodes them.
    """

    def __init__(self, kind: ImageFileKind, encoding: str | None, mark_bytes: int = 0, limits: Limits = LIMITS) -> None:
        self._given_encoding, self._limits = encoding, limits
        self._mark_left = mark_bytes
        self._lines = LineStream(encoding or enc.BYTEWISE, mark_bytes, limits.line_bytes)
        self._documents = DocumentStream(kind, limits)
        self._open = OpenChunk(mark_bytes, 1, mark_bytes, 1)
        self._starts: list[tuple[int, int]] = []
        self._pages = 0
        self._gap: bytes | None = None
        self._digest = hashlib.sha256()
        self.keys: list[tuple[str, int]] = []
        self.rows_seen = self.chunk_count = self.bytes_read = 0

    def feed(self, block: bytes) -> Iterator[Chunk | RejectedRange]:
        """Yield the chunks and rejected ranges that the next bytes of the file complete."""
        self._digest.update(block)
        mark, self._mark_left = self._mark_left, max(0, self._mark_left - len(block))
        self.bytes_read += len(block)
        yield from self._add_lines(self._lines.feed(block[mark:]))

    def finish(self) -> Iterator[Chunk | RejectedRange]:
        """Yield the chunks and rejected ranges that remain at the end of the file."""
        yield from self._add_lines(self._lines.finish())
        for document in self._documents.finish():
            yield from self._add(document)
        yield from self._close()

    def apply_boundaries(self, levels: Iterator[int]) -> None:
        """Take the boundary levels of the file's pages, in order, instead of those that its lines state.

        Call it before `feed`. Chunks and rejected ranges then have `boundaries`, as `pack_boundaries` returns them.
        """
        self._documents.levels = levels

    @property
    def has_unread_boundaries(self) -> bool:
        """Whether a line so far is a boundary command that no levels were given for."""
        return self._documents.levels is None and not BOUNDARY_COMMANDS.isdisjoint(self.counts.other_commands)

    @property
    def sha256(self) -> bytes:
        """The digest of all bytes fed."""
        return self._digest.digest()

    @property
    def lines_seen(self) -> int:
        """The number of physical lines so far."""
        return self._lines.lines_seen

    @property
    def byte_order_marks(self) -> LineCount:
        """The lines after the first one that began with a byte order mark, as in files put together."""
        return self._lines.byte_order_marks

    @property
    def first_utf8_line(self) -> int:
        """The first line with characters that are valid UTF-8 and not ASCII, 0 for none or a known encoding."""
        return self._lines.evidence.first_line

    @property
    def counts(self) -> ImageFileCounts:
        """What the lines so far are."""
        return self._documents.counts

    @property
    def encoding(self) -> str:
        """The encoding that all bytes fed show; the whole file's after `finish`."""
        return self._given_encoding or self._lines.evidence.choose_encoding()

    def decode_key(self, key: str) -> str:
        """Return a key of `keys` in the encoding of the file, after `finish`."""
        return key if self._given_encoding else enc.decode(key.encode(enc.BYTEWISE), self.encoding)

    def _add_lines(self, batches: Iterator[LineBatch]) -> Iterator[Chunk | RejectedRange]:
        for batch in batches:
            for document in self._documents.feed(batch):
                yield from self._add(document)

    def _add(self, document: LocatedDocument) -> Iterator[Chunk | RejectedRange]:
        if document.error:
            yield from self._close()
            yield self._reject(document, document.error.code, document.error.message)
            return
        if self._gap is None or not self._has_room(document):
            yield from self._close()
        else:
            self._open.raw_parts.append(self._gap)
        self._append(document)

    def _has_room(self, document: LocatedDocument) -> bool:
        chunk, limits = self._open, self._limits
        return (
            chunk.row_count < limits.chunk_documents
            and self._pages + document.pages <= limits.chunk_pages
            and document.last_line - chunk.first_line < limits.chunk_lines
            and document.byte_end - chunk.byte_start <= limits.chunk_bytes
        )

    def _append(self, document: LocatedDocument) -> None:
        chunk = self._open
        if not chunk.row_count:
            chunk.byte_start, chunk.first_line = document.byte_start, document.first_line
        chunk.byte_end, chunk.last_line = document.byte_end, document.last_line
        chunk.row_count, self.rows_seen = chunk.row_count + 1, self.rows_seen + 1
        chunk.raw_parts.append(document.raw)
        self._starts.append((document.first_line, document.level))
        self._pages, self._gap = self._pages + document.pages, document.gap
        if document.is_sound:
            self.keys.append((document.key, document.first_line))

    def _reject(self, document: LocatedDocument, code: Rejection, message: str) -> RejectedRange:
        self.rows_seen += 1
        place = (document.byte_start, document.byte_end, document.first_line, document.last_line)
        starts = [(document.first_line, document.level)] if document.level > PAGE else []
        return RejectedRange(code, message, document.key, *place, self._pack(document.first_line, starts))

    def _pack(self, first_line: int, starts: Sequence[tuple[int, int]]) -> bytes | None:
        return None if self._documents.levels is None else pack_boundaries(first_line, starts)

    def _close(self) -> Iterator[Chunk]:
        chunk, self._open, self._pages, self._gap = self._open, OpenChunk(0, 0, 0, 0), 0, None
        starts, self._starts = self._starts, []
        if chunk.row_count:
            self.chunk_count += 1
            boundaries = self._pack(chunk.first_line, starts)
            place = (chunk.byte_start, chunk.byte_end, chunk.first_line, chunk.last_line)
            digest = hash_chunk(chunk.raw_parts, boundaries)
            yield Chunk(self.chunk_count, *place, chunk.row_count, digest, boundaries)
