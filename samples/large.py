"""Load files of any size.

Guarantees: constant memory. One block of records is generated and repeated with a block number in its ids. The faults
of a spec recur in every block.
Does not guarantee: text that differs between blocks.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from samples.dialects import encode
from samples.generator import Generated, generate
from samples.spec import FaultKind, Spec, SpecError

BLOCK_ROWS = 1_000
_DIGITS = 7


@dataclass(frozen=True)
class LargeFile:
    """A file on disk, and the number of its records and bytes."""

    path: Path
    rows_seen: int
    size: int


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
    return LargeFile(path, count, path.stat().st_size)


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
