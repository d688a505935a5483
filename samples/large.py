"""Load files of any size, with the truth of every record.

Guarantees: constant memory. One block of records is generated and repeated with a block number in its ids, so that the
truth of any record is calculated from the block's. The faults of a spec recur in every block.
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
    """A file on disk: `block` is the header and the first block, which is repeated up to `rows_seen` records."""

    path: Path
    block: Generated
    rows_seen: int
    size: int

    @property
    def rejected(self) -> int:
        """Return the number of rejected records."""
        whole, rest = divmod(self.rows_seen, self.block.spec.rows)
        records = self.block.truth.records
        return whole * len(self.block.truth.rejected) + sum(not record.imported for record in records[:rest])

    def records(self) -> Iterator[Record]:
        """Return the truth of all records in file order."""
        return (self.record(index) for index in range(self.rows_seen))

    def record(self, index: int) -> Record:
        """Return the truth of the record at `index`, from 0; raises IndexError."""
        if not 0 <= index < self.rows_seen:
            raise IndexError(index)
        number, at = divmod(index, self.block.spec.rows)
        return self._shift(self.block.truth.records[at], number)

    def _shift(self, record: Record, number: int) -> Record:
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
            cells=tuple(self._rename(cell, number) for cell in record.cells),
            control_number=record.control_number and self._rename(record.control_number, number),
            duplicate_of_line=None if original is None else original + lines,
            parent=record.parent and self._rename(record.parent, number),
            family_begin=record.family_begin and self._rename(record.family_begin, number),
        )

    def _rename(self, text: str, number: int) -> str:
        prefix = self.block.spec.id_prefix
        return text.replace(prefix, _add_block_number(prefix, number))


def write_large(
    path: Path, *, rows: int | None = None, size: int | None = None, seed: int = 0, spec: Spec | None = None
) -> LargeFile:
    """Write a file of exactly `rows` records, or of as many as make at least `size` bytes.

    `spec` gives dialect, columns and faults; its `rows` is the length of a block. Raises SpecError unless exactly one
    of `rows` and `size` is given and blocks can follow each other.
    """
    shape = spec or Spec(rows=BLOCK_ROWS, properties=6, property_length=(20, 80))
    block = generate(_block_spec(shape, seed))
    if (rows is None) == (size is None) or not block.truth.records or _ends_unclosed(block):
        raise SpecError(
            "give either rows or size, and a spec whose blocks have rows and do not end in an unclosed quote"
        )
    count = rows if rows is not None else _rows_for(block, size or 0)
    with path.open("wb") as file:
        file.write(block.data[: block.truth.header_len])
        _write_blocks(file, block, count)
        if count and not shape.final_newline:
            file.truncate(file.tell() - len(encode(shape.newline, shape.encoding)))
    return LargeFile(path, block, count, path.stat().st_size)


def _block_spec(shape: Spec, seed: int) -> Spec:
    return replace(
        shape, seed=seed, id_prefix=_add_block_number(shape.id_prefix + "0" * _DIGITS + "-", 0), final_newline=True
    )


def _add_block_number(prefix: str, number: int) -> str:
    return f"{prefix[: -_DIGITS - 1]}{number:0{_DIGITS}d}-"


def _body(block: Generated) -> memoryview:
    return memoryview(block.data)[block.truth.header_len :]


def _ends_unclosed(block: Generated) -> bool:
    """Return whether a block ends in an unclosed quote, which would run into the first record of the next block."""
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
        data = body.replace(encode(prefix, encoding), encode(_add_block_number(prefix, number), encoding))
        partial = number == whole
        file.write(data[: records[rest].byte_start - block.truth.header_len] if partial else data)
