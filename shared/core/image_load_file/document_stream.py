"""Group the lines of an image load file into documents with their positions, in bounded memory.

Guaranteed: a document's bytes are held only up to the limits; of a document over a limit, and of the lines before the
first document break, only the range is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from core.codes import Rejection
from core.image_load_file.boundaries import PAGE
from core.image_load_file.documents import count_pages, describe_large_document, describe_missing_break
from core.image_load_file.ipro import COMMENT
from core.image_load_file.limits import LIMITS, Limits
from core.image_load_file.lines import LineBatch, describe_long_line, parse_line
from core.image_load_file.page_lines import ImageFileKind, LineError, PageLine, SkippedLine
from core.load_file.split_state import LineCount


class LocatedDocument(NamedTuple):
    """A document at bytes [byte_start, byte_end) and physical lines [first_line, last_line].

    `key` is its first image key; `is_sound`: all of its lines can be parsed; `pages`: how many they are then, 0
    otherwise. `raw` is its bytes and `gap` those up to the next document, None if they are over the limit. `error` says
    why the document is rejected without being read; it has neither then. `level` is the boundary level that commands of
    the file leave its first line, 0 if the lines alone decide.
    """

    key: str
    byte_start: int
    byte_end: int
    first_line: int
    last_line: int
    is_sound: bool
    pages: int
    raw: bytes
    gap: bytes | None
    error: LineError | None
    level: int = PAGE


@dataclass
class ImageFileCounts:
    """What a file has: document breaks, lines of pages, the sum of declared page counts, comments, other commands.

    `other_commands` has their lines by command, such as FT.
    """

    documents: int = 0
    page_lines: int = 0
    pages_declared: int = 0
    comments: int = 0
    other_commands: dict[str, LineCount] = field(default_factory=dict)

    def add_page(self, line: PageLine | LineError) -> None:
        """Count a line of a page."""
        self.page_lines += 1
        if line.starts_document:
            self.documents += 1
            self.pages_declared += (line.page_count or 0) if isinstance(line, PageLine) else 0

    def add_skipped(self, line: SkippedLine, line_no: int) -> None:
        """Count a line that is not a page."""
        if line.command == COMMENT:
            self.comments += 1
        elif line.command:
            self.other_commands.setdefault(line.command, LineCount()).add(line_no)


@dataclass
class _OpenDocument:
    """A document whose end is not known yet; `raw_parts` together are the bytes from `byte_start` on that were seen."""

    first: PageLine | LineError
    byte_start: int
    first_line: int
    error: LineError | None
    byte_end: int = 0
    last_line: int = 0
    lines: int = 0
    level: int = PAGE
    is_sound: bool = True
    is_gap_held: bool = True
    raw_parts: list[bytes] = field(default_factory=list)

    def add(self, line: PageLine | LineError, line_no: int, byte_end: int, limits: Limits) -> None:
        self.last_line, self.byte_end, self.lines = line_no, byte_end, self.lines + 1
        if isinstance(line, LineError):
            self.is_sound = False
            if line.code is Rejection.RECORD_TOO_LARGE:
                self.reject(line)
        if self.lines > limits.document_pages:
            self.reject(describe_large_document(self.first_line, f"more than {limits.document_pages:,} pages"))
        elif byte_end - self.byte_start > limits.document_bytes:
            self.reject(describe_large_document(self.first_line, f"more than {limits.document_bytes:,} bytes"))

    def reject(self, error: LineError) -> None:
        self.error, self.raw_parts = self.error or error, []

    def hold(self, raw: bytes, limits: Limits) -> None:
        if self.error or not self.is_gap_held:
            return
        self.raw_parts.append(raw)
        size = self.byte_end - self.byte_start
        if sum(map(len, self.raw_parts)) - size > limits.document_bytes:
            # A document that goes on after such a gap is over the limit.
            self.raw_parts, self.is_gap_held = [b"".join(self.raw_parts)[:size]], False

    def build(self, limits: Limits) -> LocatedDocument:
        pages = count_pages(self.first, self.lines) if isinstance(self.first, PageLine) else 0
        if pages > limits.document_pages:
            self.reject(describe_large_document(self.first_line, f"more than {limits.document_pages:,} pages"))
        raw, size = b"".join(self.raw_parts), self.byte_end - self.byte_start
        return LocatedDocument(
            *(self.first.image_key, self.byte_start, self.byte_end, self.first_line, self.last_line, self.is_sound),
            pages if self.is_sound else 0,
            raw[:size],
            raw[size:] if self.is_gap_held and not self.error else None,
            self.error,
            self.level,
        )


class DocumentStream:
    """The documents of a file, fed in batches of lines; a document is yielded when the next one begins.

    `levels` are the boundary levels of the pages in order, if commands of the file change those that its lines state.
    """

    def __init__(self, kind: ImageFileKind, limits: Limits = LIMITS) -> None:
        self._kind, self._limits = kind, limits
        self._open: _OpenDocument | None = None
        self.levels: Iterator[int] | None = None
        self.counts = ImageFileCounts()

    def feed(self, batch: LineBatch) -> Iterator[LocatedDocument]:
        """Yield the documents that end before a line of the batch."""
        start = offset = 0
        for line_no, (text, size) in enumerate(zip(batch.texts, batch.sizes, strict=True), start=batch.line_no):
            line = self._read(text, line_no)
            if isinstance(line, SkippedLine):
                self.counts.add_skipped(line, line_no)
            else:
                level = PAGE
                if self.levels is not None:
                    level = next(self.levels)
                    line = line._replace(starts_document=level > PAGE)
                self.counts.add_page(line)
                if line.starts_document or self._open is None:
                    yield from self._complete(batch.raw[start:offset])
                    missing = None if line.starts_document else describe_missing_break(line_no)
                    self._open = _OpenDocument(line, batch.byte_start + offset, line_no, missing, level=level)
                    start = offset
                self._open.add(line, line_no, batch.byte_start + offset + size, self._limits)
            offset += size
        if self._open:
            self._open.hold(batch.raw[start:], self._limits)

    def finish(self) -> Iterator[LocatedDocument]:
        """Yield the last document."""
        yield from self._complete(b"")

    def _read(self, text: str | None, line_no: int) -> PageLine | LineError | SkippedLine:
        return describe_long_line(line_no, self._limits.line_bytes) if text is None else parse_line(self._kind, text)

    def _complete(self, raw: bytes) -> Iterator[LocatedDocument]:
        if self._open:
            self._open.hold(raw, self._limits)
            yield self._open.build(self._limits)
