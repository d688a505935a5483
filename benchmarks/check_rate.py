"""`python -m benchmarks.check_rate`: the time of a check compared with that of the import of the same file.

Exit codes: 0 measured, 1 a check takes too long or failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.arguments import add_server, count, number
from benchmarks.database import temporary_database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, temporary_application
from benchmarks.imports.complete_once import complete_once
from benchmarks.imports.load_file import Shape
from benchmarks.imports.memory import peak_mb
from benchmarks.imports.server import buffer_pool
from benchmarks.output import DONE, FAILED, run_command, run_measurement, table

# The time of a check as a share of the import's.
LIMIT = 0.8
_POOL_MB = 2_048
_PARTS = ("start_s", "chunks_s", "complete_s")
_MEMORY = ("chunks_peak_mb", "complete_peak_mb")
FIGURES = {*_PARTS, *_MEMORY}
_DESCRIPTION = f"""\
Checks a load file and imports it, each into an empty case of its own, in turns. Only the handlers are timed: the one
that splits the file, those of the chunks, one after another, and the one that completes; this one runs in a new
process, whose peak memory is measured. So is that of a process that checks the first chunks. The ratio is the median of
the runs; it fails above {LIMIT}."""
_EPILOG = """\
examples:
  python -m benchmarks.check_rate
      a million rows, once; about ten minutes, 2 GB of disk
  python -m benchmarks.check_rate --rows 100000 --runs 3 --json
      smaller files; one JSON object

Run it on an otherwise idle machine.
exit status: 0 measured; 1 over the limit or failed; 2 wrong usage; 130 interrupted"""
_RESULT = """
    SELECT i.status, i.rows_seen, SUM(k.imported), SUM(k.rejected)
    FROM imports AS i JOIN import_chunks AS k ON k.import_id = i.id WHERE i.id = :import_id GROUP BY i.id
"""
_WEIGHED = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        pool = _POOL_MB if options.database_url is None else None
        with (
            tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
            temporary_database(options.database_url) as database,
            buffer_pool(database, pool),
            temporary_application(database) as application,
        ):
            path = Path(folder) / "load.dat"
            Shape(options.rows).write(path)
            runs = [_run(application, path, number) for number in range(options.runs)]
            result = {"server": database.server(), "rows": options.rows, **_summarize(runs)}
        print(json.dumps(result, indent=2) if options.json else _format(result))
        return DONE if result["ratio"] <= LIMIT else FAILED

    return run_measurement(measure, "the schemas on the server are removed")


def _run(application: Application, path: Path, run: int) -> dict[str, dict[str, Any]]:
    figures = {
        name: _measure(application, path, f"{name} {run}", is_check=name == "check") for name in ("check", "import")
    }
    times = ", ".join(f"{name} {_add_up(each):.1f} s" for name, each in figures.items())
    print(f"run {run + 1}: {times}", file=sys.stderr)
    return figures


def _measure(application: Application, path: Path, case: str, *, is_check: bool) -> dict[str, Any]:
    request = application.upload(path, case, {"dry_run": True} if is_check else None)
    import_id, start_s = application.start(request)
    pending = application.pending(import_id)
    # Measured in another process, and not timed.
    memory = peak_mb(application.environment, import_id, pending[: min(_WEIGHED, len(pending) // 2)])
    timed = application.pending(import_id)
    chunks_s = application.import_chunks(import_id, timed) * len(pending) / len(timed)
    completed = complete_once(application.environment, import_id)
    found = application.database.query(_RESULT, import_id=import_id)[0]
    rows = found[1]
    if tuple(found) != ("checked" if is_check else "completed", rows, rows, 0):
        raise BenchmarkError(f"it ended as {tuple(found)}")
    return {
        "start_s": round(start_s, 2),
        "chunks_s": round(chunks_s, 2),
        "complete_s": completed["seconds"],
        "chunks_peak_mb": memory,
        "complete_peak_mb": completed["peak_mb"],
    }


def _add_up(figures: dict[str, Any]) -> float:
    return float(sum(figures[part] for part in _PARTS))


def _summarize(runs: Sequence[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    ratio = median(_add_up(run["check"]) / _add_up(run["import"]) for run in runs)
    names = (*_PARTS, *_MEMORY)
    figures = {kind: {name: median(run[kind][name] or 0 for run in runs) for name in names} for kind in runs[0]}
    return {"ratio": round(ratio, 3), **figures}


def _format(result: dict[str, Any]) -> str:
    names = (*_PARTS, *_MEMORY)
    rows = [[kind, *(str(result[kind][name]) for name in names)] for kind in ("check", "import")]
    head = ["", "split, s", "chunks, s", "completion, s", "chunks, MB", "completion, MB"]
    note = f"check : import {result['ratio']:.2f} (at most {LIMIT})"
    return f"{result['server']}; {result['rows']} rows\n\n{table(head, rows)}\n{note}"


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.check_rate", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    rows = number(10_000, 20_000_000)
    made.add_argument("--rows", type=rows, default=1_000_000, metavar="N", help="rows of the file (default: 1000000)")
    made.add_argument("--runs", type=count, default=1, metavar="N", help="number of runs (default: 1)")
    add_server(made)
    return made


if __name__ == "__main__":
    run_command(main)
