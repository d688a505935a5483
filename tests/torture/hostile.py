"""Lines that never seem to end, streamed: a gigabyte of them costs one record, some time, and no memory to speak of.

`python -m tests.torture.hostile --megabytes 1024` splits a file of each kind that is never in memory as a whole, and
says what it took. The exit code is 1 where a neighbour of the large record was lost, or too much memory was taken.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.arguments import number
from benchmarks.imports.peak import peak_bytes
from benchmarks.output import run_command
from core.errors import FileRefusedError
from core.load_file.dialect import read_opening
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.options import ImportOptions
from core.load_file.splitter import Splitter
from shell.imports.splitting.split import SLICE_BYTES

MEGABYTE = 1_000_000
# What is held of a record before it is given up: as bytes, as text, as lines. A line takes some hundred bytes more than
# its own, so that sixteen megabytes of the shortest lines take what nothing else does.
MEMORY, MEMORY_OF_LINES = 20 * MAX_RECORD_BYTES, 120 * MAX_RECORD_BYTES
HEADER = b"Control Number,Title,Note\n"
BEFORE, BEHIND = b"1,a,b\n", b"3,d,e\n4,f,g\n"
REFUSED = "NOT_DELIMITED"


@dataclass(frozen=True)
class Kind:
    """A large record: what it begins and ends with, and the piece that fills it.

    `rows` of the file there are then, the large one among them (0: the file is refused); `ids` are seen beside it.
    """

    name: str
    begins: bytes
    piece: bytes
    ends: bytes = b"\n"
    rows: int = 4
    ids: tuple[str, ...] = ("1", "3", "4")
    memory: int = MEMORY


KINDS = (
    Kind("a line of one letter", b"2,", b"x"),
    Kind("a line of delimiters", b"2", b","),
    Kind("a line of NULs", b"2,", b"\0"),
    Kind("a line of carriage returns", b"2,", b"\r"),
    Kind("a line of bytes that are no text", b"2,", b"\xff\xfe\x80"),
    Kind("a line of accents", b"2,", "é".encode()),
    Kind("a line of quotation marks", b"2,", b'"', b'"",\n'),
    Kind("a line of closed cells", b"2", b',"a"'),
    Kind("a cell of words over many lines", b'2,"', b"nothing but words of prose\n", b'",x\n'),
    Kind("a cell of one letter a line", b'2,"', b"x\n", b'",x\n', memory=MEMORY_OF_LINES),
    Kind("a cell of blank lines", b'2,"', b"\n", b'",x\n', memory=MEMORY_OF_LINES),
    Kind("blank lines", b"2,x,y\n", b"\n", b"\n", ids=("1", "2", "3", "4")),
    Kind("blank lines of CR and LF", b"2,x,y\n", b"\r\n", b"\n", ids=("1", "2", "3", "4")),
    Kind("prose that a stray quote opens and nothing closes", b'2,"', b"only words\n", b"", rows=2, ids=("1",)),
)


class Went(NamedTuple):
    """Result of a file: rows, ids, the most memory beyond what there was before, and seconds."""

    rows: int
    ids: tuple[str, ...]
    memory: int
    seconds: float


def split(kind: Kind, size: int) -> Went:
    """Go over a file with a record of so many bytes, in the pieces in which the application does."""
    splitter = Splitter(read_opening(HEADER, ImportOptions(), whole=True), 1_000)
    memory, began = peak_bytes(), time.monotonic()
    rows = 0
    for block in blocks(kind, size):
        rows += sum(chunk.row_count for chunk in splitter.feed(block))
    rows += sum(chunk.row_count for chunk in splitter.finish())
    ids = tuple(control_number for control_number, _ in splitter.ids)
    return Went(rows, ids, peak_bytes() - memory, time.monotonic() - began)


def blocks(kind: Kind, size: int) -> Iterator[bytes]:
    """The file, as it is fetched."""
    filling = kind.piece * (SLICE_BYTES // len(kind.piece))
    yield HEADER + BEFORE + kind.begins
    for _ in range(size // len(filling)):
        yield filling
    yield kind.ends + BEHIND


def without_a_line_end(size: int) -> str:
    """The code with which a file that has no line end at all is refused, once its first 16 MB are there."""
    head = b"Control Number," + b"x" * min(size, MAX_RECORD_BYTES)
    try:
        read_opening(head, ImportOptions(), whole=False)
    except FileRefusedError as refused:
        return refused.code
    return ""


def wrong(kind: Kind, went: Went) -> str:
    """What is not as it has to be; nothing where all is."""
    problems = []
    if (went.rows, went.ids) != (kind.rows, kind.ids):
        problems.append(f"{went.rows} rows and the ids {went.ids}, not {kind.rows} and {kind.ids}")
    if went.memory > kind.memory:
        problems.append(f"{went.memory:,} bytes of memory")
    return "; ".join(problems)


def _in_a_process(job: tuple[Kind, int]) -> Went:
    return split(*job)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.hostile", description=__doc__, allow_abbrev=False)
    parser.add_argument("--megabytes", type=number(20, 10_000), default=1_024, help="of a record (default: 1024)")
    size = parser.parse_args(arguments).megabytes * MEGABYTE
    bad = without_a_line_end(size) != REFUSED
    # A process of its own for each, since the most memory that one ever had never falls.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for kind, went in zip(KINDS, pool.imap(_in_a_process, [(kind, size) for kind in KINDS]), strict=True):
            problems = wrong(kind, went)
            bad = bad or bool(problems)
            print(f"{kind.name}: {went.seconds:.1f} s, {went.memory // MEGABYTE} MB; {problems or 'as it has to be'}")
    print(f"{len(KINDS)} files with a record of {size // MEGABYTE:,} MB: {'violations' if bad else 'no violation'}")
    return int(bad)


if __name__ == "__main__":
    run_command(main)
