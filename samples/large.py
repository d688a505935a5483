"""Load files of any size, written at the speed of the disk, with the truth of every record at hand.

Guarantees: flat memory; one block of records is generated and repeated with a block number in its ids, so the truth of
any record follows from the block's by arithmetic. A spec's faults recur in every block.
Does not guarantee: text that differs between blocks.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from samples.dialects import encode
from samples.generator import Generated, generate
from samples.oracle import Record
from samples.spec import FaultKind, Spec, SpecError

BLOCK_ROWS = 1_000
_DIGITS = 7


@dataclass(frozen=True)
class LargeFile:
    """A file on disk: `block` is the header and the first block, repeated until there were `rows_seen` records."""

    path: Path
    block: Generated
    rows_seen: int
    size: int

    @property
    def rejected(self) -> int:
        """How many records come back."""
        whole, rest = divmod(self.rows_seen, self.block.spec.rows)
        records = self.block.truth.records
        return whole * len(self.block.truth.rejected) + sum(not record.imported for record in records[:rest])

    def records(self) -> Iterator[Record]:
        """The truth of all records in file order."""
        return (self.record(index) for index in range(self.rows_seen))

    def record(self, index: int) -> Record:
        """The truth of the record at `index`, from 0; raises IndexError."""
        if not 0 <= index < self.rows_seen:
            raise IndexError(index)
        number, at = divmod(index, self.block.spec.rows)
        return self._moved(self.block.truth.records[at], number)

    def _moved(self, record: Record, number: int) -> Record:
        first, last = self.block.truth.records[0], self.block.truth.records[-1]
        lines = number * (last.first_line + last.line_count - first.first_line)
        start = record.byte_start + number * len(_body(self.block))
        original = record.duplicate_of_line
        return replace(
            record,
            index=record.index + number * self.block.spec.rows,
            first_line=record.first_line + lines,
            byte_start=start,
            byte_len=min(record.byte_len, self.size - start),
            cells=tuple(self._renamed(cell, number) for cell in record.cells),
            control_number=record.control_number and self._renamed(record.control_number, number),
            duplicate_of_line=None if original is None else original + lines,
            parent=record.parent and self._renamed(record.parent, number),
            family_begin=record.family_begin and self._renamed(record.family_begin, number),
        )

    def _renamed(self, text: str, number: int) -> str:
        prefix = self.block.spec.id_prefix
        return text.replace(prefix, _numbered(prefix, number))


def write_large(
    path: Path, *, rows: int | None = None, size: int | None = None, seed: int = 0, spec: Spec | None = None
) -> LargeFile:
    """Write a file of exactly `rows` records, or of so many that it has at least `size` bytes.

    `spec` gives dialect, columns and faults; its `rows` is the length of a block. Raises SpecError.
    """
    wanted = spec or Spec(rows=BLOCK_ROWS, properties=6, property_length=(20, 80))
    block = generate(_block_spec(wanted, seed))
    if (rows is None) == (size is None) or not block.truth.records or _joins_badly(block):
        raise SpecError("a large file has a number of rows or a size, and blocks of rows that may follow each other")
    count = rows if rows is not None else _rows_for(block, size or 0)
    with path.open("wb") as file:
        file.write(block.data[: block.truth.header_len])
        _write_blocks(file, block, count)
        if count and not wanted.final_newline:
            file.truncate(file.tell() - len(encode(wanted.newline, wanted.encoding)))
    return LargeFile(path, block, count, path.stat().st_size)


def _block_spec(wanted: Spec, seed: int) -> Spec:
    return replace(
        wanted, seed=seed, id_prefix=_numbered(wanted.id_prefix + "0" * _DIGITS + "-", 0), final_newline=True
    )


def _numbered(prefix: str, number: int) -> str:
    return f"{prefix[: -_DIGITS - 1]}{number:0{_DIGITS}d}-"


def _body(block: Generated) -> memoryview:
    return memoryview(block.data)[block.truth.header_len :]


def _joins_badly(block: Generated) -> bool:
    """Whether a block ends in a damaged quote: what follows it is another block's first record."""
    return FaultKind.UNCLOSED_QUOTE in {fault.kind for fault in block.planted if fault.row == block.spec.rows - 1}


def _rows_for(block: Generated, size: int) -> int:
    body = len(_body(block))
    whole, rest = divmod(max(0, size - block.truth.header_len), body)
    ends = [record.byte_start + record.byte_len - block.truth.header_len for record in block.truth.records]
    return whole * len(ends) + (bisect_left(ends, rest) + 1 if rest else 0)


def _write_blocks(file: BinaryIO, block: Generated, rows: int) -> None:
    body, prefix = bytes(_body(block)), block.spec.id_prefix
    encoding, records = block.spec.encoding, block.truth.records
    whole, rest = divmod(rows, len(records))
    for number in range(whole + bool(rest)):
        data = body.replace(encode(prefix, encoding), encode(_numbered(prefix, number), encoding))
        partial = number == whole
        file.write(data[: records[rest].byte_start - block.truth.header_len] if partial else data)
