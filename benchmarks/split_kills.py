"""`python -m benchmarks.split_kills`: a large file is split by workers that are killed, and undisturbed.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.arguments import add_server, number
from benchmarks.database import Database, temporary_database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.file_store import FileStore, serve_folder
from benchmarks.output import DONE, run_command, run_measurement, table

ROOT = Path(__file__).parents[1]
KEY, ROW_BYTES, ROWS_PER_WRITE = "bucket/load.csv", 100, 10_000
POLL_S = 0.02
_DESCRIPTION = f"""\
Writes a CSV file of rows of {ROW_BYTES} bytes, one of a thousand with the id of an earlier one, and splits it three
times, each worker in a new process: in one pass; with checkpoints; and with checkpoints by workers that are killed with
SIGKILL at points spread over the file. The file and the stored ids are served over HTTP from this machine. The results
of the three are compared. peak_mb is the largest resident memory of any worker, tmp_mb the largest size of its
temporary files; read_again_mb is what was read of the file more than once. Every worker reads 8 to 16 MB at the
beginning again."""
_IMPORT = """
    INSERT INTO imports (upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status)
    VALUES (UNHEX(SHA2(:name, 256)), 'benchmark', 1, 'bucket', 'load.csv', 0, 'load.csv', 'none', 'splitting')
"""
_DIFFERENT = (
    """
    SELECT COUNT(*) FROM import_chunks a JOIN import_chunks b ON b.import_id = :b AND b.chunk_no = a.chunk_no
      AND b.byte_start = a.byte_start AND b.byte_end = a.byte_end AND b.first_line = a.first_line
      AND b.last_line = a.last_line AND b.row_count = a.row_count AND b.sha256 = a.sha256
    WHERE a.import_id = :a
    """,
    """
    SELECT COUNT(*) FROM import_duplicates a JOIN import_duplicates b ON b.import_id = :b AND b.line_no = a.line_no
      AND b.first_line = a.first_line WHERE a.import_id = :a
    """,
)
_COUNTS = (
    "SELECT COUNT(*) FROM import_chunks WHERE import_id = :id",
    "SELECT COUNT(*) FROM import_duplicates WHERE import_id = :id",
)
_FILE = "SELECT status, HEX(sha256), rows_seen, chunk_count, layout FROM imports WHERE id = :id"


@dataclass
class Run:
    """One way to split the file: what its workers needed."""

    name: str
    import_id: int
    temporary: Path
    results: dict[str, float] = field(default_factory=dict)
    peak: int = 0
    tmp: int = 0
    bytes_read: int = 0

    def watch(self, process: subprocess.Popen[str]) -> None:
        """Note the peak memory of a worker and the size of its temporary files now."""
        with suppress(OSError, StopIteration):
            status = Path(f"/proc/{process.pid}/status").read_text()
            line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
            self.peak = max(self.peak, int(line.split()[1]) * 1024)
        with suppress(OSError):
            self.tmp = max(self.tmp, sum(path.stat().st_size for path in self.temporary.rglob("*") if path.is_file()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with (
            temporary_database(options.database_url) as database,
            tempfile.TemporaryDirectory() as folder,
            serve_folder(Path(folder), KEY) as store,
        ):
            rows = _write_file(store.find(KEY), options.megabytes * 1_000_000 // ROW_BYTES)
            result = _measure(database, store, rows, options)
        print(json.dumps(result, indent=2) if options.json else _format(result))
        return DONE

    return run_measurement(measure, "the schema on the server is removed")


def _write_file(path: Path, rows: int) -> int:
    print(f"writing {rows} rows", file=sys.stderr)
    head = "Control Number,Document Date,Title\r\n"
    with path.open("wb") as file:
        file.write(head.encode())
        for first in range(0, rows, ROWS_PER_WRITE):
            file.write("".join(map(_build_row, range(first, min(rows, first + ROWS_PER_WRITE)))).encode())
    return rows


def _build_row(number: int) -> str:
    # An id of a thousand is that of a row before, far away.
    unique = number // 2 if number % 1_000 == 999 else number
    return f"EXH-{unique:012d},{number % 12 + 1:02d}/{number % 28 + 1:02d}/2011,".ljust(ROW_BYTES - 2, "x") + "\r\n"


def _measure(database: Database, store: FileStore, rows: int, options: argparse.Namespace) -> dict[str, Any]:
    runs = []
    for name, kills in (("one pass", 0), ("checkpoints", 0), ("killed", options.kills)):
        database.query(_IMPORT, name=name)
        [(import_id,)] = database.query("SELECT MAX(id) FROM imports")
        with tempfile.TemporaryDirectory() as temporary:
            run = Run(name, import_id, Path(temporary))
            _split(database, store, run, kills, options.chunks)
        print(f"{name}: done", file=sys.stderr)
        runs.append(run)
    size = store.find(KEY).stat().st_size
    equal = all(_is_equal(database, runs[0].import_id, each.import_id) for each in runs[1:])
    if not equal or any(run.results["rows"] != rows for run in runs):
        raise BenchmarkError("the results differ")
    return {
        "rows": rows,
        "bytes": size,
        "kills": options.kills,
        "chunks_equal": equal,
        "server": database.server(),
        "runs": {run.name: _describe(run, rows, size) for run in runs},
    }


def _describe(run: Run, rows: int, size: int) -> dict[str, float]:
    return {
        "rows_per_s": round(rows / run.results["seconds"]),
        "seconds": round(run.results["seconds"], 1),
        "read_again_mb": round((run.bytes_read - size) / 1e6, 1),
        "peak_mb": round(run.peak / 1e6, 1),
        "tmp_mb": round(run.tmp / 1e6, 1),
    }


def _split(database: Database, store: FileStore, run: Run, kills: int, chunks: int) -> None:
    size, began = store.find(KEY).stat().st_size, time.monotonic()
    store.bytes_read = store.furthest = 0
    points = [size * number // (kills + 1) for number in range(1, kills + 1)]
    environment = {
        **os.environ,
        **database.environment,
        **dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "none"),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": store.url,
        "BUCKET": "bucket",
        "SPLIT_CHECKPOINT_CHUNKS": str(chunks),
        "TMPDIR": str(run.temporary),
    }
    way = "once" if run.name == "one pass" else "checkpoints"
    command = [sys.executable, "-m", "benchmarks.imports.split_once", str(run.import_id), way]
    while "rows" not in run.results:
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
            _watch(process, store, run, points)
            output = process.stdout.read() if process.stdout else ""
        for leftover in run.temporary.iterdir():
            subprocess.run(["rm", "-rf", str(leftover)], check=True)  # noqa: S603, S607 - files of the killed worker
        if process.returncode == 0:
            run.results = json.loads(output.splitlines()[-1])
        elif process.returncode > 0:
            raise BenchmarkError(f"a worker failed: {run.name}")
    run.results["seconds"] = time.monotonic() - began if kills else run.results["seconds"]
    run.bytes_read = store.bytes_read


def _watch(process: subprocess.Popen[str], store: FileStore, run: Run, points: list[int]) -> None:
    """Wait for the worker, and kill it when it has read up to the next point."""
    while process.poll() is None:
        run.watch(process)
        if points and store.furthest >= points[0]:
            points.pop(0)
            process.kill()
        time.sleep(POLL_S)


def _is_equal(database: Database, a: int, b: int) -> bool:
    files = [[tuple(row) for row in database.query(_FILE, id=each)] for each in (a, b)]
    counts = [[int(database.query(query, id=each)[0][0]) for query in _COUNTS] for each in (a, b)]
    same = [int(database.query(query, a=a, b=b)[0][0]) for query in _DIFFERENT]
    return files[0] == files[1] and counts[0] == counts[1] == same


def _format(result: dict[str, Any]) -> str:
    columns = next(iter(result["runs"].values()))
    rows = [[name, *map(str, values.values())] for name, values in result["runs"].items()]
    about = f"{result['rows']} rows, {result['bytes']} bytes, {result['kills']} kills, {result['server']}"
    return f"{about}; the results are equal\n\n{table(['', *columns], rows)}"


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("python -m benchmarks.split_kills", description=_DESCRIPTION, allow_abbrev=False)
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    for name, least, most, default, meaning in (
        ("megabytes", 1, 200_000, 3_000, "size of the file"),
        ("kills", 0, 100, 5, "how many workers are killed"),
        ("chunks", 1, 1_000_000, 1_000, "chunks from one checkpoint to the next"),
    ):
        text = f"{meaning} (default: {default})"
        made.add_argument(f"--{name}", type=number(least, most), default=default, metavar="N", help=text)
    add_server(made)
    return made


if __name__ == "__main__":
    run_command(main)
