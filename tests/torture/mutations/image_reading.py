"""Read an image load file as an import does, block by block and chunk by chunk, and compare it with the second reader.

Guaranteed: a document, page, line, byte, count or code that differs raises ViolationError.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from core.codes import WarningCode
from core.image_load_file.chunk_reader import read_image_chunk
from core.image_load_file.detection import detect_image_file
from core.image_load_file.documents import ImageDocument
from core.image_load_file.limits import Limits
from core.image_load_file.page_lines import ImageFileKind
from core.image_load_file.splitter import ImageSplitter, RejectedRange
from core.load_file.encoding import detect_byte_order_mark
from core.load_file.split_state import Chunk
from tests.support.imports.image_file_reference import Bounds, Document, WholeFile, read_whole
from tests.torture.mutations.image_files import ImageFile
from tests.torture.mutations.records import ViolationError

Item = Chunk | RejectedRange
ALL_BYTES = 10**9


@dataclass
class ImageReading:
    """What a pass over a file yielded, and the documents of its chunks, each chunk read on its own."""

    splitter: ImageSplitter
    items: list[Item]
    documents: list[list[ImageDocument]]
    keys: list[tuple[str, int]]

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks alone."""
        return [item for item in self.items if isinstance(item, Chunk)]

    @property
    def ranges(self) -> list[RejectedRange]:
        """The rejected ranges alone."""
        return [item for item in self.items if isinstance(item, RejectedRange)]

    @property
    def all_documents(self) -> list[ImageDocument]:
        """The documents of all chunks."""
        return [document for each in self.documents for document in each]


def read_in_chunks(
    data: bytes,
    kind: str,
    limits: Limits,
    blocks: Callable[[bytes], Iterator[bytes]] = lambda data: iter([data]),
    splitter: type[ImageSplitter] = ImageSplitter,
    reader: Callable[..., Iterator[ImageDocument]] = read_image_chunk,
) -> ImageReading:
    """Split a file that arrives in these blocks, and read its chunks."""
    encoding, mark = detect_byte_order_mark(data)
    splitting = splitter(ImageFileKind(kind), encoding, mark, limits)
    items: list[Item] = []
    keys: list[tuple[str, int]] = []
    for block in blocks(data):
        items += splitting.feed(block)
        keys += splitting.keys
        splitting.keys.clear()
    items += splitting.finish()
    keys += splitting.keys
    documents = [
        list(reader(data[each.byte_start : each.byte_end], ImageFileKind(kind), splitting.encoding, *_place(each)))
        for each in items
        if isinstance(each, Chunk)
    ]
    return ImageReading(splitting, items, documents, keys)


def _place(chunk: Chunk) -> tuple[int, int]:
    return chunk.first_line, chunk.byte_start


def judge(
    file: ImageFile,
    seed: int = 0,
    splitter: type[ImageSplitter] = ImageSplitter,
    reader: Callable[..., Iterator[ImageDocument]] = read_image_chunk,
) -> Counter[str]:
    """Read a file in blocks and chunks of any size, compare it with the second reader, and return its figures."""
    rng = random.Random(f"{seed}:{file.number}")
    limits = Limits(
        chunk_documents=rng.choice((1, 2, 5, 1_000)),
        chunk_pages=rng.choice((4, 20, 20_000)),
        chunk_lines=rng.choice((3, 10, 5_000)),
        chunk_bytes=rng.choice((100, 1_000, 4_000_000)),
        document_pages=rng.choice((3, 8, *5 * [100_000])),
        document_bytes=rng.choice((400, 2_000, *5 * [16_000_000])),
        line_bytes=rng.choice((60, 200, *5 * [65_536])),
    )
    # A byte at a time, every byte of a long line is looked at again and again.
    step = max(rng.choice((1, 7, 100, 10_000, ALL_BYTES)), len(file.data) // 4_000)
    blocks = lambda data: (data[start : start + step] for start in range(0, len(data), step))  # noqa: E731
    reading = read_in_chunks(file.data, file.kind, limits, blocks, splitter, reader)
    whole = read_whole(file.data, file.kind, Bounds(limits.line_bytes, limits.document_bytes, limits.document_pages))
    _judge_documents(reading, whole)
    _judge_chunks(reading, file.data, limits)
    _judge_figures(reading, whole, file.data)
    detected = detect_image_file(file.data, whole=True).kind
    if not file.done:
        _same("the detected kind", detected, file.kind)
    return _count(reading) + Counter({f"detected as {detected or 'neither'}": 1})


def _same(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise ViolationError(f"{what}: {found!r} instead of {expected!r}")


def _judge_documents(reading: ImageReading, whole: WholeFile) -> None:
    _same(
        "documents",
        list(map(_describe_found, reading.all_documents)),
        [_describe(each) for each in whole.documents if not each.is_range],
    )
    ranges = [
        (each.code.value, _visible(reading.splitter.decode_key(each.key)), each.first_line, each.last_line)
        for each in reading.ranges
    ]
    expected = [(each.code, each.key, each.first, each.last) for each in whole.documents if each.is_range]
    _same("rejected ranges", ranges, expected)


def _describe_found(document: ImageDocument) -> tuple[object, ...]:
    error = (document.error.code.value, document.error.line_no) if document.error else (None, 0)
    place = (document.line_no, document.line_no + document.line_count - 1, document.byte_start, document.byte_len)
    warned = [warning.code for warning in document.warnings] == [WarningCode.OPT_PAGE_COUNT]
    pages = [(*page[:5], page.file_type and page.file_type.value, page.line_no) for page in document.pages]
    return document.key, *place, *error, document.declared_count, warned, pages


def _describe(document: Document) -> tuple[object, ...]:
    place = (document.first, document.last, document.start, document.end - document.start)
    pages = [tuple(page) for page in document.pages]
    error = (document.code, document.error_line)
    return document.key, *place, *error, document.declared, document.differs, pages


def _visible(key: str) -> str:
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in key)


def _judge_chunks(reading: ImageReading, data: bytes, limits: Limits) -> None:
    for chunk, documents in zip(reading.chunks, reading.documents, strict=True):
        raw = data[chunk.byte_start : chunk.byte_end]
        _same("the digest of a chunk", chunk.sha256, hashlib.sha256(raw).digest())
        first, last = documents[0], documents[-1]
        _same("the first byte and line", (chunk.byte_start, chunk.first_line), (first.byte_start, first.line_no))
        end = (last.byte_start + last.byte_len, last.line_no + last.line_count - 1)
        _same("the last byte and line", (chunk.byte_end, chunk.last_line), end)
        _same("the documents of a chunk", chunk.row_count, len(documents))
        if len(documents) > 1:
            _same("a chunk within the limits", _fits(chunk, documents, limits), True)
    _same("chunk numbers", [each.chunk_no for each in reading.chunks], list(range(1, len(reading.chunks) + 1)))
    for one, other in pairwise(reading.items):
        _same("the order", (one.byte_end <= other.byte_start, one.last_line < other.first_line), (True, True))
        if isinstance(one, Chunk) and isinstance(other, Chunk):
            documents = [*reading.documents[one.chunk_no - 1], reading.documents[other.chunk_no - 1][0]]
            gap = other.byte_start - one.byte_end
            room = one.row_count < limits.chunk_documents and _fits(one, documents, limits)
            # How many pages a rejected document would have had is not known here.
            is_known = not any(each.error for each in documents)
            _same("a full chunk", is_known and room and gap <= limits.document_bytes, False)


def _fits(chunk: Chunk, documents: list[ImageDocument], limits: Limits) -> bool:
    """Whether a chunk of these documents is within the limits of bytes, lines and pages, and of documents."""
    last, pages = documents[-1], sum(len(each.pages) for each in documents)
    lines = last.line_no + last.line_count - chunk.first_line
    size = last.byte_start + last.byte_len - chunk.byte_start
    is_small = lines <= limits.chunk_lines and size <= limits.chunk_bytes and pages <= limits.chunk_pages
    return is_small and chunk.row_count <= limits.chunk_documents


def _judge_figures(reading: ImageReading, whole: WholeFile, data: bytes) -> None:
    splitter, counts = reading.splitter, reading.splitter.counts
    _same("the encoding", splitter.encoding, whole.encoding)
    _same("the digest", (splitter.sha256, splitter.bytes_read), (hashlib.sha256(data).digest(), len(data)))
    found = (splitter.lines_seen, counts.documents, counts.page_lines, counts.pages_declared, counts.comments)
    _same("figures", found, (whole.lines, whole.breaks, whole.page_lines, whole.declared, whole.comments))
    commands = {command: lines.count for command, lines in counts.other_commands.items()}
    _same("other commands", commands, dict(whole.commands))
    _same("rows seen", splitter.rows_seen, len(whole.documents))
    keys = [(_visible(splitter.decode_key(key)), line) for key, line in reading.keys]
    _same("keys", keys, [(each.key, each.first) for each in whole.documents if each.has_key])


def _count(reading: ImageReading) -> Counter[str]:
    documents = reading.all_documents
    rejected = [each.error.code.value for each in documents if each.error] + [
        each.code.value for each in reading.ranges
    ]
    counts = Counter(rejected)
    counts["documents"] = len(documents) + len(reading.ranges)
    counts["rejected"], counts["pages"] = len(rejected), sum(len(each.pages) for each in documents)
    counts["lines"], counts["chunks"] = reading.splitter.lines_seen, len(reading.chunks)
    counts["warned"] = sum(bool(each.warnings) for each in documents)
    return counts
