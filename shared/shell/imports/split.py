"""The one pass over an upload: chunks, hashes, duplicates and what is decided for the whole file.

Guaranteed: memory does not grow with the file. Ids are spilled to the disk under /tmp in parts small enough to be
looked at one by one, and compared exactly.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType

from core.dates import DateOrder
from core.errors import FileRefusedError
from core.import_options import ImportOptions
from core.load_file.dialect import read_opening
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.layout import Layout
from core.load_file.splitting import Chunk, Splitter
from core.reasons import FileFailure, WarningCode
from shell.settings import settings
from shell.utils.object_store import ObjectVersion
from shell.utils.spilled_keys import SpilledKeys

SLICE_BYTES = 250_000
FileWarning = tuple[WarningCode, str | None, str]


class Split:
    """What the pass found; a context that removes the spilled ids."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.chunks: list[Chunk] = []
        self.rows_seen = 0
        self.sha256 = b""
        self.layout: Layout
        self.date_order: DateOrder | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="split-")
        self.keys = SpilledKeys(self._folder.name)

    def __enter__(self) -> Split:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.keys.close()
        self._folder.cleanup()

    def duplicates(self, at_most: int) -> Iterator[list[tuple[int, int]]]:
        """The (line, first line) of records whose id an earlier line has, in lists of at most that many."""
        yield from self.keys.repeats(at_most)

    def warnings(self) -> Iterator[tuple[int, FileWarning]]:
        """What was decided for the file on weak evidence, numbered from 0."""
        yield from enumerate(self._warnings())

    def _warnings(self) -> Iterator[FileWarning]:
        if self.rows_seen == 0:
            yield WarningCode.NO_ROWS, None, "the file has a header and no rows"
        columns = self.layout.columns_of("document_date")
        column = self.layout.names[columns[0]] if columns else None
        if self.date_order is DateOrder.AMBIGUOUS:
            message = "no date shows whether day or month comes first; they are read month first"
            yield WarningCode.AMBIGUOUS_DATE_ORDER, column, message
        if self.date_order is DateOrder.MIXED:
            message = "some dates can only be day first and some only month first; they are read month first"
            yield WarningCode.MIXED_DATE_ORDER, column, message


def split_file(source: ObjectVersion, options: ImportOptions) -> Split:
    """Go over the file once; raises FileRefusedError if it cannot be imported at all."""
    size = source.size()
    if size > settings().max_file_bytes:
        limit = settings().max_file_bytes
        raise FileRefusedError(FileFailure.FILE_TOO_LARGE, f"the file has {size} bytes; the most is {limit}")
    split = Split(size)
    try:
        _go_over(split, source, options)
    except BaseException:
        split.__exit__(None, None, None)
        raise
    return split


def _go_over(split: Split, source: ObjectVersion, options: ImportOptions) -> None:
    blocks = source.blocks(split.size)
    head = next(blocks, b"")
    while len(head) < min(split.size, MAX_RECORD_BYTES) and b"\n" not in head:
        head += next(blocks, b"")
    splitter = Splitter(read_opening(head, options, whole=len(head) == split.size), settings().chunk_rows)
    for block in _slices(head, blocks):
        split.chunks += splitter.feed(block)
        split.keys.add(splitter.ids)
        splitter.ids.clear()
    split.chunks += splitter.finish()
    split.keys.add(splitter.ids)
    split.rows_seen, split.sha256 = splitter.rows_seen, splitter.sha256
    split.layout = splitter.layout(options.date_order)
    split.date_order = None if options.date_order else splitter.date_order


def _slices(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Smaller pieces than are fetched: what is read of one takes several times its bytes, and fits the cache."""
    block: bytes | None = head
    while block is not None:
        for start in range(0, len(block), SLICE_BYTES):
            yield block[start : start + SLICE_BYTES]
        block = next(blocks, None)
