"""`python -m benchmarks.purge`: how long the purge of a large case takes, and what an import of another case loses.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, make_url

from benchmarks.arguments import number
from benchmarks.database import Database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.load_file import Shape
from benchmarks.large_case import CASE, TENANT, write_case
from benchmarks.output import DONE, run_command, run_measurement
from local.stack import LocalStack, StackOptions
from shell.purges.plan import list_purged

_DESCRIPTION = """\
Fills a case in the local stack with documents and objects, imports a file into a case of another tenant, purges the
first case and imports another such file meanwhile. Prints the seconds of both imports, their ratio, and those of the
purge, without its pauses and leases; fails unless the certificate has the counts of rows and objects that were made
before, and no row and no object of the case is left. With --kills N, its worker is killed N times while it works."""
_EPILOG = """\
examples:
  python -m benchmarks.purge
      100,000 documents and 2,000 objects, beside an import of 20,000 rows
  python -m benchmarks.purge --documents 1000000 --object-bytes 1000000 --rows 100000 --kills 10

exit status: 0 measured; 1 failed; 2 wrong usage; 130 interrupted"""
_FUNCTION = "PurgeCasesFunction"
_OBJECTS = f"files/{TENANT}/{CASE}/"
_LONGEST_S = 7_200
# A kill comes at a moment of so many seconds of a worker's work.
_WORK_S = 5
_REQUEST = "UPDATE cases SET status = 'closed', purge_after = UTC_DATE(), purge_requested_at = NOW(6) WHERE id = 1"
_PURGE = "SELECT phase, ended_at IS NOT NULL AS ended, next_at > NOW(6) AS pauses FROM case_purges"
_BEFORE_ROWS = frozenset({"fence", "productions", "prefixes", "objects"})
_CERTIFICATE = "SELECT details FROM case_changes WHERE kind = 'purged'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            print(json.dumps(_measure(Path(folder), options)))
        return DONE

    return run_measurement(measure, "the local stack and its data are removed")


def _measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    file = folder / "other.dat"
    Shape(rows=options.rows, prefix="OTHER").write(file)
    with LocalStack(folder / "state", StackOptions(minimal=True)) as stack:
        url = make_url(stack.database_url)
        database = Database(url, create_engine(url, isolation_level="AUTOCOMMIT"))
        write_case(database, options.documents)
        _put_objects(stack, options.objects, bytes(options.object_bytes))
        counts = _count_rows(database)
        # Its functions start with this one.
        _import(stack, database, file, "warm up")
        alone = _import(stack, database, file, "alone")
        purge = _Purge(stack, database)
        purge.begin()
        purge.wait_for("rows")
        beside = _import(stack, database, file, "beside")
        still = not purge.has_ended()
        kills = sum(purge.kill() for _ in range(options.kills))
        seconds = purge.finish()
        _check(database, counts, options.objects)
        _check_nothing_is_left(stack, database)
    return {
        "documents": options.documents,
        "rows_destroyed": sum(counts.values()),
        "objects": options.objects,
        "object_bytes": options.objects * options.object_bytes,
        "kills": kills,
        "purge_s": round(seconds, 1),
        "import_rows": options.rows,
        "import_alone_s": round(alone, 1),
        "import_beside_s": round(beside, 1),
        "ratio": round(beside / alone, 2),
        "beside_all_the_time": still,
    }


def _put_objects(stack: LocalStack, objects: int, body: bytes) -> None:
    def put(position: int) -> None:
        stack.s3.put_object(Bucket=stack.bucket, Key=f"{_OBJECTS}{position:08d}.txt", Body=body)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(objects)))


def _count_rows(database: Database) -> dict[str, int]:
    """Return the rows of each table that is purged: all are of the case, the only one so far."""
    counts = {name: database.query(f"SELECT COUNT(*) FROM {name}")[0][0] for name in set(list_purged())}  # noqa: S608
    return {name: count for name, count in counts.items() if count}


def _import(stack: LocalStack, database: Database, path: Path, case: str) -> float:
    """Import the file into a case of another tenant; return the seconds from the upload to the end."""
    began, key = time.monotonic(), f"imports/other/{case}/1/{path.name}"
    stack.s3.put_object(Bucket=stack.bucket, Key=key, Body=path.read_bytes())
    while time.monotonic() - began < _LONGEST_S:
        found = database.query("SELECT status FROM imports WHERE object_key = :key", key=key)
        if found and found[0][0] == "completed":
            return time.monotonic() - began
        if found and found[0][0] not in ("splitting", "running"):
            raise BenchmarkError(f"the import ended with status {found[0][0]}")
        time.sleep(0.05)
    raise BenchmarkError(f"the import did not end in {_LONGEST_S} s")


class _Purge:
    """A purge whose pauses are left out."""

    def __init__(self, stack: LocalStack, database: Database) -> None:
        self._stack, self._database, self._began = stack, database, 0.0

    def begin(self) -> None:
        """Request the purge, and wake its function."""
        self._database.query(_REQUEST)
        self._began = time.monotonic()
        self._wake()

    def _wake(self) -> None:
        self._stack.sqs.send_message(QueueUrl=self._stack.queue_url("CasePurgesQueue"), MessageBody="{}")

    def _read(self) -> Any:
        found = self._database.query(_PURGE)
        return found[0] if found else None

    def wait_for(self, phase: str) -> None:
        """Wait until the purge is in a phase, or after it."""
        while (state := self._read()) is None or state.phase in {"fence", "productions", "prefixes", "objects"} - {
            phase
        }:
            self._require_time()
            time.sleep(0.05)

    def has_ended(self) -> bool:
        """Return whether the purge has ended, or pauses."""
        state = self._read()
        return bool(state.ended) or state.phase not in ("objects", "rows")

    def kill(self) -> bool:
        """Kill the worker of the purge at work, and let another one begin; return whether there was one to kill."""
        while not (pids := self._stack.runtime.busy_pids(_FUNCTION)):
            if self._read().ended:
                return False
            self._require_time()
            time.sleep(0.01)
        time.sleep(_WORK_S * random.random())
        killed = [pid for pid in pids if _kill(pid)]
        self._end_pause()
        return bool(killed)

    def _end_pause(self) -> None:
        """End a pause, or the lease of a worker that was killed."""
        self._database.query("UPDATE case_purges SET next_at = NOW(6)")
        self._wake()

    def finish(self) -> float:
        """Let the purge go on to its end; return its seconds since the beginning."""
        while not (state := self._read()).ended:
            if state.pauses and not self._stack.runtime.busy_pids(_FUNCTION):
                self._end_pause()
            self._require_time()
            time.sleep(0.2)
        return time.monotonic() - self._began

    def _require_time(self) -> None:
        if time.monotonic() - self._began > _LONGEST_S:
            raise BenchmarkError(f"the purge did not end in {_LONGEST_S} s")


def _kill(pid: int) -> bool:
    """Kill a process; return whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _check(database: Database, counts: dict[str, int], objects: int) -> None:
    """Raise BenchmarkError unless the certificate has the counts."""
    certificate = json.loads(database.query(_CERTIFICATE)[0][0])
    rows = {each["table"]: each["rows"] for each in certificate["rows"]}
    versions = sum(each["versions"] for each in certificate["objects"])
    if rows != counts or versions != objects:
        print(rows, counts, versions, file=sys.stderr)
        raise BenchmarkError("the certificate does not have the counts that were made before")


def _check_nothing_is_left(stack: LocalStack, database: Database) -> None:
    """Raise BenchmarkError if a table has a row of the case, or the bucket a version of an object."""
    left = [name for name in ("exhibits", "imports", "custodians", "tags") if _count_of_case(database, name)]
    found = stack.s3.list_object_versions(Bucket=stack.bucket, Prefix=_OBJECTS, MaxKeys=1)
    if left or "Versions" in found or "DeleteMarkers" in found:
        raise BenchmarkError(f"the purge left rows of {left}, or objects")


def _count_of_case(database: Database, table: str) -> int:
    return int(database.query(f"SELECT COUNT(*) FROM {table} WHERE case_id = 1")[0][0])  # noqa: S608


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.purge", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    many = number(100, 10_000_000)
    made.add_argument("--documents", type=many, default=100_000, metavar="N", help="documents (default: %(default)s)")
    made.add_argument("--objects", type=many, default=2_000, metavar="N", help="objects (default: %(default)s)")
    made.add_argument("--object-bytes", type=many, default=1_000, metavar="N", help="of each (default: %(default)s)")
    made.add_argument("--kills", type=number(0, 1_000), default=0, metavar="N", help="kills (default: %(default)s)")
    made.add_argument("--rows", type=many, default=20_000, metavar="N", help="rows of a file (default: %(default)s)")
    return made


if __name__ == "__main__":
    run_command(main)
