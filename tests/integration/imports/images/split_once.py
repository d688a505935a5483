"""`python -m tests.integration.imports.images.split_once MEGABYTES`: split an Opticon file that is made as it is read.

Prints documents, chunks, and the peak memory before and after, in bytes, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from core.image_load_file.page_lines import ImageFileKind
from core.image_load_file.splitter import ImageSplitter
from shell.aws.s3 import ObjectVersion
from shell.imports.splitting.image_split import ImageSplit, _list_keys, _read_file

DOCUMENTS_PER_BLOCK = 50_000


class MadeFile:
    """A file of documents with three pages each, every key a new one."""

    def __init__(self, size: int) -> None:
        self._size = size

    def read_blocks(self, _: int) -> Iterator[bytes]:
        """Yield blocks of about 8 MB."""
        last = made = 0
        while made < self._size:
            last += DOCUMENTS_PER_BLOCK
            lines = [_write_document(number) for number in range(last - DOCUMENTS_PER_BLOCK, last)]
            block = "".join(lines).encode()
            made += len(block)
            yield block


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
    with ImageSplit(size, ImageSplitter(ImageFileKind.OPT, None)) as split:
        _read_file(split, cast("ObjectVersion", MadeFile(size)))
        keys = sum(map(len, _list_keys(split.keys)))
        duplicates = sum(map(len, split.duplicates(5_000)))
        counts = {"documents": split.rows_seen, "chunks": split.chunk_count, "keys": keys, "duplicates": duplicates}
    seconds = round(time.monotonic() - began, 1)
    print(json.dumps({**counts, "before": before, "peak": _read_peak(), "seconds": seconds}))


if __name__ == "__main__":
    main()
