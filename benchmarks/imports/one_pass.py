"""Read one file once and print the time and memory, in a process that does nothing else.

`python -m benchmarks.imports.one_pass split` splits the object of the S3 server at AWS_ENDPOINT_URL, as start_import
does; `... csv PATH` reads a UTF-8 Concordance DAT with csv.reader and drops the records. Prints a JSON object: rows,
seconds, and the peak memory of the process in bytes, before and after.
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
from core.load_file.options import ImportOptions
from shell.aws.s3 import ObjectVersion
from shell.imports.splitting.split import split_file

DELIMITER, QUALIFIER = "\x14", "\xfe"
# Small enough for the processor's cache, where csv.reader is fastest.
BLOCK_BYTES = 500_000


def split() -> Callable[[], dict[str, float]]:
    """Return the splitting pass, with an open connection."""
    source = ObjectVersion("bucket", "imports/tenant/case/upload/large.dat", "1", None)
    source.get_size()

    def run_pass() -> dict[str, float]:
        began = perf_counter()
        with split_file(source, ImportOptions()) as found:
            seconds = perf_counter() - began
            return {"seconds": seconds, "rows_seen": found.rows_seen, "chunks": len(found.chunks)}

    return run_pass


def read(path: Path) -> dict[str, float]:
    """Return the times of csv.reader: `reading_s` without and `seconds` with reading and decoding the file."""
    began, reading, rows = perf_counter(), 0.0, 0
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        while lines := file.readlines(BLOCK_BYTES):
            started = perf_counter()
            reader = csv.reader(lines, delimiter=DELIMITER, quotechar=QUALIFIER, strict=True)
            deque(reader, maxlen=0)
            reading += perf_counter() - started
            rows += reader.line_num
    return {"seconds": perf_counter() - began, "reading_s": reading, "rows_seen": rows - 1}


def main() -> None:
    """Run the pass of the command line and print its result."""
    run_pass = split() if sys.argv[1] == "split" else lambda: read(Path(sys.argv[2]))
    before = peak_bytes()
    result = run_pass()
    print(json.dumps({**result, "before": before, "peak": peak_bytes()}))


if __name__ == "__main__":
    main()
