"""`python -m tests.integration.imports.images.split_once MEGABYTES [lfp]`: split a file that is made as it is read.

It is an Opticon file, or an IPRO file whose documents are ranges (BR) at its end.

Prints documents, chunks, and the peak memory before and after, in bytes, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

from core.image_load_file.detection import Detection
from core.image_load_file.page_lines import ImageFileKind
from shell.aws.s3 import ObjectVersion
from shell.imports.splitting.image_split import _list_keys, _read_documents

DOCUMENTS_PER_BLOCK = 50_000


class MadeFile:
    """A file of documents with three pages each, every key a new one."""

    def __init__(self, size: int, write: Callable[[int], str]) -> None:
        self._size, self._write, self.documents = size, write, 0

    def read_blocks(self, _: int) -> Iterator[bytes]:
        """Yield blocks of about 8 MB."""
        last = made = 0
        while made < self._size:
            last += DOCUMENTS_PER_BLOCK
            lines = [self._write(number) for number in range(last - DOCUMENTS_PER_BLOCK, last)]
            block = "".join(lines).encode()
            made += len(block)
            yield block
        self.documents = last


class RangedFile(MadeFile):
    """Pages without flags, and the ranges of the documents after all of them."""

    def read_blocks(self, _: int) -> Iterator[bytes]:
        """Yield blocks of about 8 MB."""
        yield from super().read_blocks(_)
        for first in range(0, self.documents, DOCUMENTS_PER_BLOCK):
            numbers = range(first, first + DOCUMENTS_PER_BLOCK)
            yield "".join(f"BR,ABC{number:09}1,ABC{number:09}3,D\r\n" for number in numbers).encode()


def _write_pages(number: int) -> str:
    keys = [f"ABC{number:09}{page}" for page in (1, 2, 3)]
    return "".join(f"IM,{key},,0,@VOL001;IMAGES\\{number % 1000:04};{key}.tif;2,0\r\n" for key in keys)


def _write_document(number: int) -> str:
    image = f"VOL001,IMAGES\\{number % 1000:04}\\ABC{number:09}"
    pages = "".join(f"ABC{number:09}_{page},{image}_{page}.tif,,,,\r\n" for page in (2, 3))
    return f"ABC{number:09},{image}.tif,Y,,,3\r\n{pages}"


def _read_peak() -> int:
    # That of getrusage begins with the memory of the process that started this one.
    status = Path("/proc/self/status").read_text("ascii")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def main() -> None:
    """Split the file and print what it took."""
    size = int(sys.argv[1]) * 1_000_000
    before, began = _read_peak(), time.monotonic()
    kind = ImageFileKind(sys.argv[2]) if len(sys.argv) > 2 else ImageFileKind.OPT
    file = MadeFile(size, _write_document) if kind is ImageFileKind.OPT else RangedFile(size, _write_pages)
    with _read_documents(size, cast("ObjectVersion", file), kind, Detection(kind, "")) as split:
        keys = sum(map(len, _list_keys(split.keys)))
        duplicates = sum(map(len, split.duplicates(5_000)))
        counts = {"documents": split.rows_seen, "chunks": split.chunk_count, "keys": keys, "duplicates": duplicates}
    seconds = round(time.monotonic() - began, 1)
    print(json.dumps({**counts, "before": before, "peak": _read_peak(), "seconds": seconds}))


if __name__ == "__main__":
    main()
