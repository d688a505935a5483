"""`python -m benchmarks.overlay`: overlays and the undo of an import, compared with the import of the same file.

Exit codes: 0 measured, 1 a ratio is over its limit, or there were deadlocks, or the benchmark failed, 2 wrong usage,
130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import complete_import
import import_chunk
import start_import
from benchmarks.arguments import add_server, count, number
from benchmarks.database import Database, temporary_database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, apply_environment, temporary_application
from benchmarks.imports.contention_worker import deliver
from benchmarks.imports.invocation import batched, time_handler
from benchmarks.imports.load_file import Shape
from benchmarks.output import DONE, FAILED, run_command, run_measurement, table
from benchmarks.processes import Workers
from core.caller import Caller
from core.contracts.exhibits import ExhibitChange
from core.contracts.imports.undos import UndoRequest
from core.contracts.taggings import TaggingRequest
from core.errors import StaleVersionError
from shell.db.session import session
from shell.exhibits.commands import add_taggings, patch_exhibit
from shell.imports.undo.commands import undo_import
from shell.tables.undos import ImportUndos
from shell.utils.db_helpers import retry_on_db_conflict
from shell.work.messages import UndoCompletionMessage, UndoMessage, UndoPartMessage

# By name: what it is compared with, and the highest ratio.
LIMITS = {
    "equal hashes": ("import parsed again", 1.1),
    "every row changes": ("import", 2.0),
    "nothing changes, other hashes": ("import", None),
    "undo of the import": ("import", 1.0),
}
CALLER = Caller(tenant_id="benchmark", user_id="benchmark@example.com")
_WORKERS = _CLIENTS = 4
_EDITED = 50
_DESCRIPTION = """\
Imports a file, imports it again (each chunk has a twin), once more with its lines moved (none has), overlays it with
itself (equal hashes), overlays it with a file that changes every row in every column, overlays that again (nothing
changes, but no hash says so), and undoes an import into another case. One worker does it; only the handlers are timed.
Ratios are medians of the runs. Then four workers overlay one file while four clients tag and patch documents of it,
until the overlay has ended: deadlocks of the server are counted."""
_EPILOG = """\
examples:
  python -m benchmarks.overlay
      50,000 rows, three runs
  python -m benchmarks.overlay --rows 10000 --runs 5 --json
      smaller files; one JSON object

Run it on an otherwise idle server and machine.
exit status: 0 measured; 1 over a limit, deadlocks, or failed; 2 wrong usage; 130 interrupted"""
_CHANGED = "SELECT updated, unchanged, rejected FROM imports WHERE id = :import_id"
_PARTS = "SELECT chunk_no FROM import_undo_parts WHERE import_id = :import_id ORDER BY chunk_no"
_IDS = "SELECT id FROM exhibits WHERE case_id = (SELECT case_id FROM imports WHERE id = :import_id) ORDER BY id"

_GAPS = """
    SELECT COUNT(*) FROM exhibits AS e
    WHERE version <> 1 + (SELECT COUNT(*) FROM exhibit_changes AS h WHERE h.exhibit_id = e.id)
"""


@dataclass(frozen=True)
class OverlayJob:
    """A job: overlay chunks of an import, or, with `exhibits`, edit these until the import has no chunk left."""

    environment: Mapping[str, str]
    import_id: int
    chunks: Sequence[int] = ()
    exhibits: Sequence[int] = ()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        # Forked before any connection.
        workers = Workers(_WORKERS + _CLIENTS, prepare)
        with (
            tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
            temporary_database(options.database_url) as database,
            temporary_application(database) as application,
            closing(workers),
        ):
            files = _write_files(Path(folder), options.rows)
            runs = [_run(application, files, run) for run in range(options.runs)]
            result = {"server": database.server(), "rows": options.rows, "runs": options.runs, **_summarize(runs)}
            result |= _contend(application, workers, files)
        print(json.dumps(result, indent=2) if options.json else _format(result))
        return DONE if _is_within_limits(result) else FAILED

    return run_measurement(measure, "the schemas on the server are removed")


def _write_files(folder: Path, rows: int) -> list[Path]:
    """Write a file, one with its ids and other values, and the first with a blank line: it has no twins."""
    files = [folder / name for name in ("first.dat", "second.dat", "moved.dat")]
    for seed, path in enumerate(files[:2], start=1):
        replace(Shape(rows), seed=seed).write(path)
    head, line_break, lines = files[0].read_bytes().partition(b"\r\n")
    files[2].write_bytes(head + line_break * 2 + lines)
    return files


def _run(application: Application, files: Sequence[Path], run: int) -> dict[str, float]:
    first, second, moved = files
    case, other = f"run {run}", f"undo {run}"
    timed = {
        "import": _import(application, first, case),
        "import again": _import(application, first, case),
        "import parsed again": _import(application, moved, case),
        "equal hashes": _import(application, first, case, mode="overlay"),
        "every row changes": _import(application, second, case, mode="overlay"),
        "nothing changes, other hashes": _import(application, second, case, mode="overlay"),
        "undo of the import": _undo(application, first, other),
    }
    print(f"run {run + 1}: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in timed.items()), file=sys.stderr)
    return timed


def _import(application: Application, path: Path, case: str, **options: str) -> float:
    import_id, start_s = application.start(application.upload(path, case, options))
    chunks_s = application.import_chunks(import_id, application.pending(import_id))
    return start_s + chunks_s + application.complete(import_id)


def _undo(application: Application, path: Path, case: str) -> float:
    import_id = application.run(path, case).import_id
    with session() as transaction:
        undo_import(transaction, CALLER, import_id, UndoRequest())
        undo = transaction.get_one(ImportUndos, (import_id, 1))
    key = (undo.import_id, undo.undo_no, undo.generation)
    seconds = time_handler(start_import.lambda_handler, UndoMessage(*key).as_dict())
    parts = [row[0] for row in application.database.query(_PARTS, import_id=import_id)]
    for batch in batched(parts):
        messages = (UndoPartMessage(*key, each).as_dict() for each in batch)
        seconds += time_handler(import_chunk.lambda_handler, *messages)
    seconds += time_handler(complete_import.lambda_handler, UndoCompletionMessage(*key).as_dict())
    if application.database.query(_IDS, import_id=import_id):
        raise BenchmarkError("the undo left documents behind")
    return seconds


def _contend(application: Application, workers: Workers[Any, Any], files: Sequence[Path]) -> dict[str, Any]:
    """Overlay a file with four workers while four clients edit its documents; return the counts."""
    database, first, second = application.database, *files[:2]
    before_id = application.run(first, "contended").import_id
    exhibits = [row[0] for row in database.query(_IDS, import_id=before_id)]
    import_id, _ = application.start(application.upload(second, "contended", {"mode": "overlay"}))
    chunks, environment = application.pending(import_id), application.environment
    jobs = [OverlayJob(environment, import_id, chunks=chunks[each::_WORKERS]) for each in range(_WORKERS)]
    jobs += [OverlayJob(environment, import_id, exhibits=exhibits) for _ in range(_CLIENTS)]
    deadlocks = database.deadlocks()
    results = workers.work(jobs)
    deadlocks = database.deadlocks() - deadlocks
    application.complete(import_id)
    _check_histories(database)
    [(updated, unchanged, rejected)] = database.query(_CHANGED, import_id=import_id)
    if updated + unchanged != len(exhibits) or rejected:
        raise BenchmarkError(f"the overlay changed {updated} and left {unchanged} of {len(exhibits)} documents")
    return {"deadlocks": deadlocks, "edits": sum(results[_WORKERS:])}


def _check_histories(database: Database) -> None:
    [(found,)] = database.query(_GAPS)
    if found:
        raise BenchmarkError(f"{found} documents have a version without a row of history")


def prepare(job: OverlayJob) -> Callable[[], int]:
    """Prepare a job; the function that runs it returns the number of chunks or of edits."""
    apply_environment(job.environment)
    return lambda: _edit(job) if job.exhibits else _overlay(job)


def _overlay(job: OverlayJob) -> int:
    for chunk_no in job.chunks:
        while not deliver(job.import_id, chunk_no):
            time.sleep(0.01)
    return len(job.chunks)


def _edit(job: OverlayJob) -> int:
    edits, choose = 0, random.Random(time.monotonic_ns())
    while _is_running(job.import_id):
        chosen = choose.sample(job.exhibits, min(_EDITED, len(job.exhibits)))
        _tag(chosen, f"edit {edits % 5}")
        _patch(chosen[0], f"edit {edits}")
        edits += 2
    return edits


@retry_on_db_conflict
def _is_running(import_id: int) -> bool:
    with session() as reading:
        connection = reading.connection()
        found = connection.exec_driver_sql("SELECT chunks_left FROM imports WHERE id = %s", (import_id,)).scalar()
    return bool(found)


@retry_on_db_conflict
def _tag(exhibits: Sequence[int], tag: str) -> None:
    with session() as transaction:
        request = TaggingRequest.model_validate({"exhibitIds": list(exhibits), "tags": [tag]})
        add_taggings(transaction, CALLER, request)


@retry_on_db_conflict
def _patch(exhibit: int, title: str) -> None:
    with session() as transaction:
        change = ExhibitChange.model_validate({"title": title})
        try:
            patch_exhibit(transaction, CALLER, exhibit, {1}, change)
        except StaleVersionError as stale:
            patch_exhibit(transaction, CALLER, exhibit, {stale.current_version}, change)


def _summarize(runs: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    ratios = {name: round(median(run[name] / run[base] for run in runs), 2) for name, (base, _) in LIMITS.items()}
    return {"seconds": {name: round(median(run[name] for run in runs), 2) for name in runs[0]}, "ratios": ratios}


def _is_within_limits(result: Mapping[str, Any]) -> bool:
    ratios = result["ratios"]
    return not result["deadlocks"] and all(
        limit is None or ratios[name] <= limit for name, (_, limit) in LIMITS.items()
    )


def _format(result: Mapping[str, Any]) -> str:
    seconds = result["seconds"]
    rows = [[name, str(seconds[name]), "", "", ""] for name in seconds if name not in LIMITS]
    for name, (base, limit) in LIMITS.items():
        rows.append([name, str(seconds[name]), base, str(result["ratios"][name]), str(limit or "none")])
    note = (
        f"{_WORKERS} workers overlay, {_CLIENTS} clients edit: {result['deadlocks']} deadlocks, {result['edits']} edits"
    )
    head = ["", "s", "compared with", "ratio", "limit"]
    return f"{result['server']}; {result['rows']} rows, {result['runs']} runs\n\n{table(head, rows)}\n{note}"


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.overlay", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    rows = number(1_000, 2_000_000)
    made.add_argument("--rows", type=rows, default=50_000, metavar="N", help="rows of the file (default: 50000)")
    made.add_argument("--runs", type=count, default=3, metavar="N", help="number of runs (default: 3)")
    add_server(made)
    return made


if __name__ == "__main__":
    run_command(main)
