"""Read blocks of bytes into the lines of an image load file, with their positions.

Guaranteed: LF, CRLF and CR alone end a line, whatever the blocks are; a line over the limit is counted and located, and
its text is never held; memory does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from core.codes import Rejection
from core.image_load_file.ipro import parse_lfp_line
from core.image_load_file.limits import LIMITS
from core.image_load_file.opticon import parse_opticon_line
from core.image_load_file.page_lines import WHITESPACE, ImageFileKind, LineError, PageLine, SkippedLine
from core.load_file import encoding as enc
from core.load_file.split_state import LineCount

# A list of lines takes many times their bytes: at most so many are listed at once.
SLICE_BYTES = 250_000
# 0x1A ended a file in CP/M and DOS.
_BLANK = WHITESPACE + "\x1a"


@dataclass(frozen=True)
class LineBatch:
    """Consecutive lines: their texts without line ends (None: longer than the limit), sizes and bytes.

    `raw` is empty for a line whose bytes were not held.
    """

    line_no: int
    byte_start: int
    texts: list[str | None]
    sizes: list[int]
    raw: bytes


_BLANK_LINE = SkippedLine()
_PARSERS: dict[ImageFileKind, Callable[[str], PageLine | LineError | SkippedLine]] = {
    ImageFileKind.OPT: parse_opticon_line,
    ImageFileKind.LFP: parse_lfp_line,
}


def parse_line(kind: ImageFileKind, text: str) -> PageLine | LineError | SkippedLine:
    """Return what a line without its line end says; bytes that cannot be decoded are text like any other."""
    if not text:
        return _BLANK_LINE
    line = _PARSERS[kind](text)
    return _BLANK_LINE if isinstance(line, LineError) and not text.strip(_BLANK) else line


def read_line(kind: ImageFileKind, text: str) -> PageLine | LineError | SkippedLine:
    """Return what `parse_line` returns, or an error for a line of a page with bytes that cannot be decoded."""
    line = parse_line(kind, text)
    if text.isascii() or isinstance(line, SkippedLine) or not enc.has_surrogates(text):
        return line
    message = f"The line has bytes that are not valid in the file's encoding ({enc.describe_undecoded_bytes(text)})."
    key = enc.replace_surrogates(line.image_key)
    return LineError(Rejection.UNDECODABLE_BYTES, None, f"{message} Re-encode it.", line.starts_document, key)


def describe_long_line(line_no: int, max_bytes: int) -> LineError:
    """Return the error of a line over the limit, whose text is not known."""
    message = f"Line {line_no} has more than {max_bytes:,} bytes. Look for a missing line end."
    return LineError(Rejection.RECORD_TOO_LARGE, None, message, line_no=line_no)


def split_texts(raw: bytes, encoding: str) -> tuple[list[str], list[int], list[int]]:
    """Return the texts of complete lines without line ends and byte order marks, their sizes, and which had a mark."""
    lines = enc.split_lines(raw, encoding, cr_ends=True)
    texts = [text.rstrip("\r\n") for text in lines.texts]
    if lines.mark is None:
        return texts, lines.sizes, []
    marked = [number for number, text in enumerate(texts) if text.startswith(lines.mark)]
    for number in marked:
        texts[number] = texts[number][enc.skip_marks(texts[number], lines.mark) :]
    return texts, lines.sizes, marked


class LineStream:
    """The lines of a file after its byte order mark, which has `byte_start` bytes, fed in blocks of any size.

    `evidence` shows the encoding, where the lines are read byte by byte; long lines do not count. `byte_order_marks`
    are the lines that began with one.
    """

    def __init__(self, encoding: str, byte_start: int, max_line_bytes: int = LIMITS.line_bytes) -> None:
        self._encoding, self._max_line_bytes = encoding, max_line_bytes
        self._byte, self._line_no = byte_start, 1
        self._pending = b""
        # The bytes of a long line that were dropped; the pending ones follow them.
        self._dropped = 0
        self.evidence = enc.Utf8Evidence()
        self.byte_order_marks = LineCount()

    @property
    def lines_seen(self) -> int:
        """The number of lines that were yielded."""
        return self._line_no - 1

    def feed(self, block: bytes) -> Iterator[LineBatch]:
        """Yield the lines that the next bytes complete."""
        for start in range(0, len(block), SLICE_BYTES):
            self._pending += block[start : start + SLICE_BYTES]
            end = enc.find_last_line_end(self._pending, self._encoding, cr_ends=True)
            if end:
                yield from self._take(end)
            self._drop_long_line()

    def finish(self) -> Iterator[LineBatch]:
        """Yield the last line, if it has no line end."""
        if self._pending or self._dropped:
            yield from self._take(len(self._pending))

    def _drop_long_line(self) -> None:
        undecided = enc.count_undecided_bytes(self._pending, self._encoding, cr_ends=True)
        size = len(self._pending) - undecided
        if self._dropped + size > self._max_line_bytes:
            self._dropped, self._pending = self._dropped + size, self._pending[size:]

    def _take(self, end: int) -> Iterator[LineBatch]:
        """Yield the lines of the pending bytes [0, end)."""
        raw, self._pending = self._pending[:end], self._pending[end:]
        texts, sizes, marked = split_texts(raw, self._encoding)
        first = 0
        if self._dropped:
            first = sizes[0] if sizes else 0
            yield self._advance([None], [self._dropped + first], b"")
            texts, sizes, marked = texts[1:], sizes[1:], [number - 1 for number in marked if number]
            self._dropped = 0
        if sizes:
            kept = [text if size <= self._max_line_bytes else None for text, size in zip(texts, sizes, strict=True)]
            self._note(kept, sizes, marked, raw[first:])
            yield self._advance(kept, sizes, raw[first:])

    def _note(self, texts: list[str | None], sizes: list[int], marked: list[int], raw: bytes) -> None:
        for number in marked:
            if texts[number] is not None:
                self.byte_order_marks.add(self._line_no + number)
        if self._encoding == enc.BYTEWISE and not raw.isascii():
            # Line by line: which bytes a long line has must not depend on the blocks.
            offsets = accumulate(sizes, initial=0)
            for number, (start, text) in enumerate(zip(offsets, texts, strict=False)):
                if text is not None and not text.isascii():
                    self.evidence.add(raw[start : start + sizes[number]], self._line_no + number)

    def _advance(self, texts: list[str | None], sizes: list[int], raw: bytes) -> LineBatch:
        batch = LineBatch(self._line_no, self._byte, texts, sizes, raw)
        self._line_no, self._byte = self._line_no + len(texts), self._byte + sum(sizes)
        return batch
