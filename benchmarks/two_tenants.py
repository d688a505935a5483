"""`python -m benchmarks.two_tenants`: how long a small import waits behind a large one, of its own and another tenant.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Engine, create_engine, text

from benchmarks.arguments import count, number
from benchmarks.errors import BenchmarkError
from benchmarks.imports.load_file import Shape
from benchmarks.output import DONE, run_command, run_measurement, table
from local.stack import LocalStack, StackOptions

_DESCRIPTION = """\
Imports a large load file in the local stack and, while its chunks are in the queue, a small one twice: for the same
tenant, whose chunks wait in the same message group as those of the large file, as all chunks would without groups; and
for another tenant. Prints the seconds from the upload to the end of each small import. The local queues deliver as
"Amazon SQS fair queues" describes: a message of a group with fewer messages in flight first."""
_EPILOG = """\
examples:
  python -m benchmarks.two_tenants
      2,000,000 rows against 1,000, two workers; ten minutes or more
  python -m benchmarks.two_tenants --rows 100000 --json
      a smaller file; one JSON object

exit status: 0 measured; 1 failed; 2 wrong usage; 130 interrupted"""
_IMPORT = text("SELECT id, status, chunk_count - chunks_left FROM imports WHERE object_key = :key")
_ENDED = frozenset({"completed", "completed_with_rejections", "failed", "cancelled"})
_LONGEST_S = 7_200


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            seconds = _measure(Path(folder), options.rows, options.small_rows, options.workers)
        print(json.dumps({"seconds": seconds}) if options.json else _format(seconds))
        return DONE

    return run_measurement(measure, "the local stack and its data are removed")


def _measure(folder: Path, rows: int, small_rows: int, workers: int) -> dict[str, float]:
    """Return the seconds of the large import, and of the small one for the same and for another tenant."""
    large, small = folder / "large.dat", folder / "small.dat"
    Shape(rows=rows, prefix="LARGE").write(large)
    Shape(rows=small_rows, prefix="SMALL").write(small)
    with LocalStack(folder / "state", StackOptions(workers=workers, minimal=True)) as stack:
        engine = create_engine(stack.database_url, isolation_level="AUTOCOMMIT")
        began = {"large": time.monotonic()}
        keys = {"large": upload(stack, large, "big")}
        while read(engine, keys["large"])[1] < workers:
            time.sleep(0.05)
        for name, tenant in (("other", "little"), ("same", "big")):
            began[name] = time.monotonic()
            keys[name] = upload(stack, small, tenant)
        return await_ends(engine, keys, began)


def upload(stack: LocalStack, path: Path, tenant: str) -> str:
    """Upload a file to a case of its own and return its key."""
    key = f"imports/{tenant}/case {path.stem}/{time.monotonic_ns()}/{path.name}"
    stack.s3.put_object(Bucket=stack.bucket, Key=key, Body=path.read_bytes())
    return key


def await_ends(engine: Engine, keys: dict[str, str], began: dict[str, float]) -> dict[str, float]:
    """Return the seconds from the beginning to the end of each import. Raises BenchmarkError if one fails."""
    seconds: dict[str, float] = {}
    while len(seconds) < len(keys):
        time.sleep(0.05)
        note_ends(engine, keys, began, seconds)
        if time.monotonic() - min(began.values()) > _LONGEST_S:
            raise BenchmarkError(f"the imports did not end in {_LONGEST_S} s")
    return seconds


def note_ends(engine: Engine, keys: dict[str, str], began: dict[str, float], seconds: dict[str, float]) -> None:
    """Add to `seconds` those of each import that has ended by now. Raises BenchmarkError if one has failed."""
    for name in keys.keys() - seconds.keys():
        status, _ = read(engine, keys[name])
        if status in _ENDED:
            seconds[name] = round(time.monotonic() - began[name], 2)
            print(f"{name}: {status} after {seconds[name]:.1f} s", file=sys.stderr)
            if status != "completed":
                raise BenchmarkError(f"the import of {keys[name]} ended with status {status}")


def read(engine: Engine, key: str) -> tuple[str, int]:
    """Return the status of the import of an upload and the number of its finished chunks."""
    with engine.connect() as connection:
        row = connection.execute(_IMPORT, {"key": key}).one_or_none()
    return ("", 0) if row is None else (row[1], int(row[2] or 0))


def _format(seconds: dict[str, float]) -> str:
    rows = [
        ["the large file", f"{seconds['large']:.1f}"],
        ["the small file, same tenant (as without message groups)", f"{seconds['same']:.1f}"],
        ["the small file, another tenant", f"{seconds['other']:.1f}"],
    ]
    return table(["import", "seconds from upload to end"], rows)


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.two_tenants", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    rows = number(1, 100_000_000)
    made.add_argument(
        "--rows", type=rows, default=2_000_000, metavar="N", help="rows of the large file (default: %(default)s)"
    )
    made.add_argument(
        "--small-rows", type=rows, default=1_000, metavar="N", help="rows of the small file (default: %(default)s)"
    )
    made.add_argument("--workers", type=count, default=2, metavar="N", help="chunk workers (default: %(default)s)")
    return made


if __name__ == "__main__":
    run_command(main)
