"""`python -m benchmarks.file_checks`: time, memory and disk of the checks of a whole file.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.arguments import count, number
from benchmarks.errors import BenchmarkError
from benchmarks.output import DONE, run_command, run_measurement, table
from core.checks.facts import RowFacts, pack_facts

ROOT = Path(__file__).parents[1]
CHUNK_ROWS = 2_000
FAMILY, PAGES = 4, 3
# A planted fault of each kind in so many rows.
FAULTS_EVERY = 1_000
_TIMEOUT_S = 3_600
_DESCRIPTION = """\
Measures the reduction that finds what is wrong in a whole load file: gaps and overlaps of Bates numbers, families,
cycles of parents, equal natives and similar ids. The facts of the rows are packed before, as the chunks of an import
pack them, and come in a shuffled order. Every row has Bates numbers, a page count and a hash; three of four have a
parent and all a family range; each fault is planted once in a thousand rows. Every run is a new process. seconds
includes unpacking, sorting and reading all findings; peak_mb is the peak memory of the process above that of the
imported modules, disk_mb the size of the temporary files."""


def build_rows(first: int, rows: int) -> list[RowFacts]:
    """Return consecutive rows of the file, from position `first`."""
    return [_build_row(position) for position in range(first, first + rows)]


def _build_row(position: int) -> RowFacts:
    head = position - position % FAMILY
    begin = position * PAGES + 1
    # The file lacks a page, and a hash and an id come twice, once in FAULTS_EVERY rows.
    end = begin + PAGES - 1 - (position % FAULTS_EVERY == 500)
    digest = hashlib.md5(str(position - (position % FAULTS_EVERY == 600)).encode(), usedforsecurity=False).hexdigest()
    return RowFacts(
        2 + position,
        _format(begin) if position % FAULTS_EVERY != 700 else _format(begin - PAGES).lower(),
        _format(begin),
        _format(end),
        _format(head * PAGES + 1) if position != head else "",
        digest,
        PAGES,
        _format(head * PAGES + 1),
        _format((head + FAMILY) * PAGES),
    )


def _format(value: int) -> str:
    return f"ABC{value:08d}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)
    if options.chunks:
        print(json.dumps(measure_pass(options.chunks, options.case_rows)))
        return DONE

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            chunks = Path(folder) / "chunks"
            sizes = _write_chunks(chunks, options.rows)
            runs = [_run_pass(chunks, options.case_rows) for _ in range(options.runs)]
        fastest = min(runs, key=lambda run: run["seconds"])
        result = {**fastest, "rows": options.rows, "case_rows": options.case_rows, "facts_mb": round(sizes / 1e6, 1)}
        print(json.dumps(result) if options.json else table([*result], [[*map(str, result.values())]]))
        return DONE

    return run_measurement(measure)


def _write_chunks(path: Path, rows: int) -> int:
    """Write the packed chunks, each after its length, the last half before the first one."""
    starts = range(0, rows, CHUNK_ROWS)
    half = len(starts) // 2
    with path.open("wb") as file:
        for start in [*starts[half:], *starts[:half]]:
            packed = pack_facts(build_rows(start, min(CHUNK_ROWS, rows - start)))
            file.write(len(packed).to_bytes(4, "big") + packed)
    return path.stat().st_size


def _run_pass(chunks: Path, case_rows: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.file_checks", "--pass", str(chunks), "--case-rows", str(case_rows)]
    done = subprocess.run(  # noqa: S603 - our own module and file
        command, cwd=ROOT, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"a pass failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure_pass(chunks: Path, case_rows: int) -> dict[str, float]:
    """Reduce the chunks once in this process, and return the figures."""
    from shell.imports.checks.file_findings import find_file_findings
    from shell.imports.checks.id_groups import CaseRow

    before = _peak()
    # Beside the numbers of the file, but for the first one, which is in its last document.
    case = (CaseRow(f"OLD{n:08d}", _format(10**7 + n), _format(10**7 + n)) for n in range(case_rows))
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        start, processor = time.perf_counter(), time.process_time()
        found = disk = 0
        for _ in find_file_findings(_read_chunks(chunks), case, lambda numbers: (), folder):
            found += 1
            if found % FAULTS_EVERY == 1:
                disk = max(disk, sum(each.stat().st_size for each in Path(folder).iterdir()))
        seconds, used = time.perf_counter() - start, time.process_time() - processor
    return {
        "seconds": round(seconds, 1),
        "processor_s": round(used, 1),
        "peak_mb": round((_peak() - before) / 1e6, 1),
        "disk_mb": round(disk / 1e6, 1),
        "findings": found,
    }


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _read_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while size := file.read(4):
            yield file.read(int.from_bytes(size, "big"))


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.file_checks", None, _DESCRIPTION, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    for name, most, default, meaning in (
        ("rows", 100_000_000, 1_000_000, "rows of the file"),
        ("case-rows", 100_000_000, 0, "documents that the case has, none of them in the file"),
    ):
        description = f"{meaning} (default: {default})"
        made.add_argument(f"--{name}", type=number(0, most), default=default, metavar="N", help=description)
    made.add_argument("--runs", type=count, default=1, metavar="N", help="runs; the fastest counts (default: 1)")
    made.add_argument("--pass", dest="chunks", type=Path, help=argparse.SUPPRESS)
    return made


if __name__ == "__main__":
    run_command(main)
