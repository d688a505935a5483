"""A process that goes over one file once and tells what that took: its time and memory are nobody else's.

`python -m benchmarks.imports.one_pass split` splits the object that the S3 at AWS_ENDPOINT_URL has, as start_import
does; `... csv PATH` has csv.reader read a UTF-8 Concordance DAT, and does nothing with its records. Prints a JSON
object: rows, seconds, and the most memory (in bytes) that the process ever held, before and after.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from benchmarks.imports.peak import peak_bytes
from core.import_options import ImportOptions
from shell.splitting_ops import split_file
from shell.utils.object_store import ObjectVersion

DELIMITER, QUALIFIER = "\x14", "\xfe"
# Text of which the processor's cache holds what it can: the reader is at its fastest.
BLOCK_BYTES = 500_000


def split() -> Callable[[], dict[str, float]]:
    """The splitting pass, on a connection that is open."""
    source = ObjectVersion("bucket", "imports/tenant/case/upload/large.dat", "1", None)
    source.size()

    def passed() -> dict[str, float]:
        began = perf_counter()
        with split_file(source, ImportOptions()) as found:
            seconds = perf_counter() - began
            return {"seconds": seconds, "rows_seen": found.rows_seen, "chunks": len(found.chunks)}

    return passed


def read(path: Path) -> dict[str, float]:
    """`reading_s` is csv.reader alone, on lines of text; `seconds` is with reading and decoding the file."""
    began, reading, rows = perf_counter(), 0.0, 0
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        while lines := file.readlines(BLOCK_BYTES):
            at = perf_counter()
            reader = csv.reader(lines, delimiter=DELIMITER, quotechar=QUALIFIER, strict=True)
            deque(reader, maxlen=0)
            reading += perf_counter() - at
            rows += reader.line_num
    return {"seconds": perf_counter() - began, "reading_s": reading, "rows_seen": rows - 1}


def main() -> None:
    """Go over it and tell."""
    passed = split() if sys.argv[1] == "split" else lambda: read(Path(sys.argv[2]))
    before = peak_bytes()
    told = passed()
    print(json.dumps({**told, "before": before, "peak": peak_bytes()}))


if __name__ == "__main__":
    main()
