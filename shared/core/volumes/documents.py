"""The documents that a chunk of a volume's load file names, as chunks store them for the comparison of the load files.

Guaranteed: what is packed is unpacked equal, in the same order.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from core.bates_numbers import describe_shared_number
from core.volumes.errors import shorten_name


class NamedDocument(NamedTuple):
    """A document at a line of a load file; `exhibit_id` is 0 for one that the case does not hold.

    `key` is the control number of a row, and the image key of a document with pages. The latter has `counts`: what it
    adds to the counts of its chunk, with 1 for its result (imported, updated or unchanged). A rejected row has `code`,
    the first reason, and `files`, the numbers of the volume's files that it names. `numbers` are the begins of the
    other Bates ranges of a row; a document with pages has one that is equal for equal pages of a volume.
    """

    line_no: int
    exhibit_id: int
    key: str | None
    bates_begin: str | None = None
    counts: Mapping[str, int] | None = None
    code: str | None = None
    files: Sequence[int] = ()
    numbers: Sequence[str] = ()


def describe_ambiguous(numbers: Sequence[str], count: int) -> str:
    """Return why a begin Bates number cannot be an image key, as `describe_shared_number` does, and what to do."""
    return f"{describe_shared_number(numbers, count)} Write their control numbers as image keys."


class PageOrigin(NamedTuple):
    """Where the pages come from that a document has: a line of a file, and its import, which came after another one."""

    import_id: int
    file_name: str
    line_no: int
    after_import_id: int | None

    def __str__(self) -> str:
        return f"line {self.line_no} of {shorten_name(self.file_name)} (import {self.import_id})"


def describe_has_pages(line_no: int, origin: PageOrigin | None) -> str:
    """Return why a document does not get the pages at a line of an image load file, and what to do."""
    source = f", of {origin}" if origin else ""
    return f"Line {line_no}: the document has pages already{source}. Import the file with mode overlay to replace them."


def describe_replaced_pages(line_no: int, origin: PageOrigin) -> str:
    """Return what an overlay does to pages of another image load file of the same volume, and what to do."""
    return (
        f"Line {line_no}: the document had pages of {origin}, another image load file of the volume, and gets those of "
        "this line in their place. Ask the sender which file is right."
    )


def describe_rejected_row(line_no: int, code: str) -> str:
    """Return why a document of the image load file is rejected whose row in the data file was rejected."""
    return (
        f"Line {line_no} of the data file, the row of this document, was rejected: {code}. Correct the row, and import "
        "its error file, then that of the image load file."
    )


def pack_documents(documents: Iterable[NamedDocument]) -> bytes:
    """Return the documents for `unpack_documents`, compressed."""
    short = [each if each.code or each.numbers else each[:5] for each in documents]
    return zlib.compress(json.dumps(short, separators=(",", ":")).encode(), 1)


def unpack_documents(raw: bytes) -> list[NamedDocument]:
    """Return the documents that `pack_documents` packed."""
    return [NamedDocument(*each) for each in json.loads(zlib.decompress(raw))]
