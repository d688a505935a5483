"""What the reconciliation of pages needs of each row and of each document of an image load file, and its form as bytes.

Guaranteed: what is packed is unpacked equal, whatever Unicode text it holds. Bytes of an unknown version are refused,
never read as something else. A run of pages takes the place of one page, however many pages it has.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from core.checks.bates import BatesRange, format_number, read_range
from core.errors import UnavailableError

VERSION = b"pages 1\n"


class PageRow(NamedTuple):
    """What a row of the data file states of the pages of its document; `page_count` is None if it states none.

    `seq` is 0 for the range of the fields; each other pair of columns with a range has a number of its own.
    """

    line: int
    control_number: str
    bates_begin: str
    bates_end: str
    page_count: int | None
    seq: int = 0


class PageRun(NamedTuple):
    """Pages on consecutive lines from `line` on, whose keys are consecutive numbers from `key` on."""

    key: str
    length: int
    line: int


class Numbered(NamedTuple):
    """A run of pages as numbers of a series; None for keys without a number."""

    numbers: BatesRange | None
    run: PageRun


class DocumentPages(NamedTuple):
    """The pages of a document of an image load file.

    `pages` is their number by the lines; None for one line without a page count whose file can have more than one.
    `frames` is their number in the image files, None if it is not known. `is_one_file`: one line stands for all pages,
    so that only the first of them has a key. `is_by_page`: its file has a format whose pages are often a file each
    (TIFF), so that it counts as one page if other documents of the file are listed page by page.
    """

    line: int
    key: str
    pages: int | None
    frames: int | None
    is_one_file: bool
    is_by_page: bool
    runs: Sequence[PageRun]


def build_runs(keys: Iterable[tuple[str, int]]) -> list[PageRun]:
    """Return the runs of pages, which are given as keys with their lines, in order."""
    runs: list[PageRun] = []
    expected, numbers = None, None
    for key, line in keys:
        if (key, line) != expected or numbers is None:
            runs.append(PageRun(key, 0, line))
            numbers = read_range(key, "")[0]
        run = runs[-1]
        runs[-1] = run._replace(length=run.length + 1)
        if numbers is not None:
            following = numbers.first + run.length + 1
            expected = (format_number(numbers.prefix, following, numbers.width, numbers.suffix), line + 1)
    return runs


def pack_rows(rows: Iterable[PageRow]) -> bytes:
    """Return the rows for `unpack_rows`, compressed."""
    return _pack(list(rows))


def unpack_rows(packed: bytes) -> list[PageRow]:
    """Return the rows that were packed; raise UnavailableError if their version is not known."""
    return [PageRow(*each) for each in _unpack(packed)]


def pack_documents(documents: Iterable[DocumentPages]) -> bytes:
    """Return the documents for `unpack_documents`, compressed."""
    return _pack(list(documents))


def unpack_documents(packed: bytes) -> list[DocumentPages]:
    """Return the documents that were packed; raise UnavailableError if their version is not known."""
    return [read_document(each) for each in _unpack(packed)]


def read_document(values: Sequence[Any]) -> DocumentPages:
    """Return the document whose fields these are, as JSON holds them."""
    return DocumentPages._make([*values[:-1], [PageRun(*run) for run in values[-1]]])


def _pack(values: list[Any]) -> bytes:
    return VERSION + zlib.compress(json.dumps(values, separators=(",", ":")).encode(), 1)


def _unpack(packed: bytes) -> list[Any]:
    if not packed.startswith(VERSION):
        raise UnavailableError("The page facts of a chunk have an unknown version. Finish the deployment, then retry.")
    values: list[Any] = json.loads(zlib.decompress(packed[len(VERSION) :]))
    return values
