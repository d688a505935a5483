"""Split an upload in one pass: chunks, hashes, duplicate ids, and the layout of the whole file.

Guaranteed: memory does not grow with the file. Ids are compared exactly; they are spilled to files under /tmp in
partitions that are small enough to be read one at a time. With `Checkpoints`, chunks and ids are handed over at each
checkpoint, and another worker can go on from there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy.orm import Session

from core.codes import FileFailure, WarningCode
from core.dates.written_dates import DateOrder
from core.errors import FileRefusedError
from core.imports.error_file_encoding import describe_error_file_encoding
from core.load_file.dialect import Opening, read_head, read_opening
from core.load_file.encoding import CP1252
from core.load_file.file_signatures import build_unread_rest
from core.load_file.layout import Layout
from core.load_file.options import ImportOptions
from core.load_file.split_state import Chunk, LineCount, SplitState, describe_order_lines
from core.load_file.splitter import Splitter
from shell.aws.s3 import ObjectVersion
from shell.imports.splitting.duplicate_ids import SpilledIds
from shell.settings import settings
from shell.tables.imports import Imports

SLICE_BYTES = 250_000
FileWarning = tuple[WarningCode, str | None, str]
_ORDER_ADVICE = "If that is wrong, set option 'date_order' or 'date_format'."


class Checkpoints:
    """What stores the state of a split; this one stores nothing: the file is split in one pass."""

    def load(self, opening: Opening) -> SplitState | None:
        """Return the state to go on from, if there is one."""
        return None

    def after_block(self, splitter: Splitter, split: Split) -> None:
        """Store the state, if it is time to; may raise SplitPausedError."""

    def after_file(self, splitter: Splitter, split: Split) -> None:
        """Store the state after the end of the file."""

    @property
    def is_file_read(self) -> bool:
        """Whether the state to go on from is that after the end of the file."""
        return False


class Split:
    """The result of the splitting pass; a context manager that deletes the spilled ids."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.chunks: list[Chunk] = []
        self.chunk_count = 0
        self.rows_seen = 0
        self.sha256 = b""
        self.layout: Layout
        self.date_orders: dict[str, DateOrder | None] = {}
        self.date_lines: dict[str, dict[str, list[int]]] = {}
        self.repeated_headers = self.byte_order_marks = self.blank_rows = LineCount()
        self.nul_count = 0
        self.first_utf8_line = 0
        self.saved_encoding: str | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="split-")
        self.keys = SpilledIds(self._folder.name)
        self._documents: SpilledIds | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.keys.close()
        if self._documents:
            self._documents.close()
        self._folder.cleanup()

    @property
    def documents(self) -> SpilledIds:
        """The documents that keys name, by their ids, once these were looked up."""
        if self._documents is None:
            folder = Path(self._folder.name) / "documents"
            folder.mkdir()
            self._documents = SpilledIds(str(folder))
        return self._documents

    def decode_key(self, key: str) -> str:
        """Return a key of `keys` as the case has it."""
        return key

    def duplicates(self, at_most: int) -> Iterator[list[tuple[int, int]]]:
        """Yield lists of at most `at_most` pairs (line, first line) of records whose id occurred on an earlier line.

        Also of records whose id is another one of a document that an earlier line names.
        """
        yield from self.keys.find_repeats(at_most)
        if self._documents:
            yield from self._documents.find_unordered_repeats(at_most)

    def store(self, transaction: Session, import_record: Imports) -> None:
        """Write what else belongs to the chunks, in the transaction that registers them; nothing for a whole file."""

    def list_warnings(self) -> Iterator[FileWarning]:
        """Yield the warnings about the whole file: decisions on weak evidence, and a file without rows."""
        if self.rows_seen == 0:
            yield WarningCode.NO_ROWS, None, "the file has a header and no rows"
        yield from self._list_joins()
        yield from self._list_skipped()
        yield from self._list_date_orders()
        if self.saved_encoding:
            yield WarningCode.ERROR_FILE_ENCODING, None, self.saved_encoding
        if self.layout.encoding == CP1252 and self.first_utf8_line:
            message = "the file is read as cp1252, but some of its characters are valid UTF-8"
            yield WarningCode.MIXED_ENCODING, None, f"{message}, the first of them in line {self.first_utf8_line}"

    def _list_date_orders(self) -> Iterator[FileWarning]:
        """Yield the warnings about columns of dates of which the dates do not show one order."""
        for column in self.layout.date_columns:
            name, order = self.layout.names[column.index], self.date_orders.get(column.field)
            if order is DateOrder.AMBIGUOUS:
                message = "no date shows whether day or month comes first; dates are read month first"
                yield WarningCode.AMBIGUOUS_DATE_ORDER, name, f"{message}. {_ORDER_ADVICE}"
            if order is DateOrder.MIXED:
                lines = describe_order_lines(self.date_lines.get(column.field, {}))
                message = f"the dates show different orders of day, month and year{lines}"
                message += "; those with the year last are read month first"
                yield WarningCode.MIXED_DATE_ORDER, name, f"{message}. {_ORDER_ADVICE}"

    def _list_skipped(self) -> Iterator[FileWarning]:
        """Yield the warnings about what is not a row."""
        if self.blank_rows.count:
            message = f"{self.blank_rows.count} rows have no value in any cell and were skipped"
            lines = f"{message}: {self.blank_rows.list_lines()}"
            yield WarningCode.BLANK_ROWS, None, f"{lines}. If documents are missing, export the file again."
        if self.nul_count:
            message = f"The file ends with {self.nul_count} NUL characters, which were not read as a row"
            yield WarningCode.NUL_PADDING, None, f"{message}. Check that its last rows are the last ones of the export."

    def _list_joins(self) -> Iterator[FileWarning]:
        """Yield the warnings about a file that was put together from several ones."""
        if self.repeated_headers.count:
            message = f"The header is repeated: {self.repeated_headers.list_lines()}. These lines were not imported."
            yield WarningCode.REPEATED_HEADER, None, f"{message} Check that none of them is a document."
        if self.byte_order_marks.count:
            message = f"A byte order mark before a record was removed: {self.byte_order_marks.list_lines()}."
            if self.layout.encoding == CP1252:
                message += " From there on the text may be UTF-8; it is read as cp1252. Compare some names."
            yield WarningCode.BYTE_ORDER_MARK, None, message


def split_file(source: ObjectVersion, options: ImportOptions, checkpoints: Checkpoints | None = None) -> Split:
    """Split the file, from the last checkpoint on.

    The chunks and ids of the result are those since the last checkpoint. Raises FileRefusedError if the file cannot be
    imported, SplitPausedError if it must be split further in another invocation.
    """
    size = source.get_size()
    refuse_large_file(size)
    split = Split(size)
    try:
        _run_pass(split, source, options, checkpoints or Checkpoints())
    except BaseException:
        split.__exit__(None, None, None)
        raise
    return split


def refuse_large_file(size: int) -> None:
    """Raise FileRefusedError (FILE_TOO_LARGE) for a file over MAX_FILE_BYTES."""
    limit = settings().max_file_bytes
    if size > limit:
        message = f"The file has {size} bytes; the maximum is {limit}. Split it into smaller files."
        raise FileRefusedError(FileFailure.FILE_TOO_LARGE, message)


def _run_pass(split: Split, source: ObjectVersion, options: ImportOptions, checkpoints: Checkpoints) -> None:
    blocks = source.read_blocks(split.size)
    head = read_head(blocks, split.size)
    opening = read_opening(head, options, whole=len(head) == split.size)
    splitter = Splitter(opening, settings().chunk_rows)
    state = checkpoints.load(opening)
    if state:
        blocks = source.read_blocks(split.size, state.bytes_read)
        head = b""
        splitter.resume(state, source.read, partial(source.read_blocks, state.bytes_read))
    if not checkpoints.is_file_read:
        _feed(split, splitter, _cut_blocks(head, blocks), checkpoints)
    _take_findings(split, splitter, options)


def _take_findings(split: Split, splitter: Splitter, options: ImportOptions) -> None:
    split.chunk_count, split.rows_seen, split.sha256 = splitter.chunk_count, splitter.rows_seen, splitter.sha256
    split.repeated_headers, split.byte_order_marks = splitter.repeated_headers, splitter.byte_order_marks
    split.blank_rows, split.nul_count = splitter.blank_rows, splitter.nul_count
    split.layout = splitter.build_layout(options)
    _refuse_unread_rest(split)
    orders = splitter.date_orders.items()
    stated = options.date_format
    split.date_orders = {
        date: order for date, order in orders if date not in stated and not options.get_date_order(date)
    }
    split.date_lines = splitter.dates.shown
    split.first_utf8_line = splitter.evidence.first_line
    found = (splitter.opening, split.layout.encoding, splitter.evidence)
    split.saved_encoding = describe_error_file_encoding(*found)


def _feed(split: Split, splitter: Splitter, blocks: Iterator[bytes], checkpoints: Checkpoints) -> None:
    for block in blocks:
        split.chunks += splitter.feed(block)
        _take_ids(split, splitter)
        checkpoints.after_block(splitter, split)
    split.chunks += splitter.finish()
    _take_ids(split, splitter)
    checkpoints.after_file(splitter, split)


def _take_ids(split: Split, splitter: Splitter) -> None:
    split.keys.add(splitter.ids)
    splitter.ids.clear()


def _refuse_unread_rest(split: Split) -> None:
    rest = split.size - split.layout.body_start
    if rest and not split.rows_seen:
        raise build_unread_rest(rest)


def _cut_blocks(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield slices of the fetched blocks: parsing takes several times a slice's bytes, which then fit the CPU cache."""
    block: bytes | None = head
    while block is not None:
        for start in range(0, len(block), SLICE_BYTES):
            yield block[start : start + SLICE_BYTES]
        block = next(blocks, None)
