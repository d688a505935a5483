"""`python -m benchmarks.full_case`: an import into a case of a million documents, compared with one into a new case.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import create_engine, make_url

from benchmarks.arguments import count, number
from benchmarks.database import Database
from benchmarks.imports.load_file import Shape
from benchmarks.large_case import CASE, TENANT, write_case
from benchmarks.output import DONE, run_command, run_measurement
from benchmarks.two_tenants import await_ends
from local.stack import LocalStack, StackOptions

# So many rows have each custodian and each tag.
_NAMED = 1_000
_DESCRIPTION = """\
Writes a large case into the local stack; then imports files of equal shape in turns into it and into new cases of the
same tenant which have its custodians and tags. Prints the medians of their seconds, from the upload to the end, and the
median of the turns' ratios."""
_EPILOG = """\
examples:
  python -m benchmarks.full_case
      20,000 rows into a case of 1,000,000 documents, five turns; five minutes

Run it on an otherwise idle machine.
exit status: 0 measured; 1 failed; 2 wrong usage; 130 interrupted"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            print(json.dumps(_measure(Path(folder), options)))
        return DONE

    return run_measurement(measure, "the local stack and its data are removed")


def _measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    with LocalStack(folder / "state", StackOptions(workers=2, minimal=True)) as stack:
        url = make_url(stack.database_url)
        database = Database(url, create_engine(url, isolation_level="AUTOCOMMIT"))
        write_case(database, options.documents)
        for case in ("warm up", CASE):
            _import(stack, folder, options.rows, case)
        turns = [_run_turn(stack, folder, options.rows, turn) for turn in range(options.runs)]
        server = database.server()
    full, new = zip(*turns, strict=True)
    return {
        "server": server,
        "documents": options.documents,
        "rows": options.rows,
        "full_case_s": median(full),
        "new_case_s": median(new),
        "ratio": round(median(one / other for one, other in turns), 2),
    }


def _run_turn(stack: LocalStack, folder: Path, rows: int, turn: int) -> tuple[float, float]:
    """Return the seconds of an import into the large case and into a new one, which begins every other turn."""
    # The new case gets its custodians and tags before it is measured; the large one has them.
    _import(stack, folder, _NAMED, f"new {turn}")
    seconds = {case: _import(stack, folder, rows, case) for case in (CASE, f"new {turn}")[:: 1 - turn % 2 * 2]}
    return seconds[CASE], seconds[f"new {turn}"]


def _import(stack: LocalStack, folder: Path, rows: int, case: str) -> float:
    """Import new documents into the case; return the seconds from the upload to the end."""
    stamp = str(time.monotonic_ns())
    path, key = folder / f"{stamp}.dat", f"imports/{TENANT}/{case}/{stamp}/load.dat"
    # Among the documents of a case of a million, so that they are compared with its control numbers.
    Shape(rows=rows, prefix=f"DOC-0005-{stamp}").write(path)
    began = time.monotonic()
    stack.s3.put_object(Bucket=stack.bucket, Key=key, Body=path.read_bytes())
    engine = create_engine(stack.database_url, isolation_level="AUTOCOMMIT")
    return await_ends(engine, {case: key}, {case: began})[case]


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.full_case", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    size = number(1, 100_000_000)
    made.add_argument("--documents", type=size, default=1_000_000, metavar="N", help="(default: %(default)s)")
    made.add_argument("--rows", type=size, default=20_000, metavar="N", help="rows of a file (default: %(default)s)")
    made.add_argument("--runs", type=count, default=5, metavar="N", help="turns (default: %(default)s)")
    return made


if __name__ == "__main__":
    run_command(main)
