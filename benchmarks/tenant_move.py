"""`python -m benchmarks.tenant_move`: a tenant moves between two local stacks while other tenants import in both.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import create_engine, make_url

from benchmarks.arguments import number
from benchmarks.database import Database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.load_file import Shape
from benchmarks.output import DONE, run_command, run_measurement
from local.stack import LocalStack, StackOptions
from local.stack.places import find_storage
from local.template.account import REGION
from shell.db.ids import INCREMENT

_DESCRIPTION = """\
Imports documents of a tenant in one local stack, and moves the tenant to a second one by `python -m tools.tenant`,
while another tenant imports in each of them. Export and load are killed again and again, after 1, 2, 4 ... seconds,
until they end by themselves; the first move is rolled back, and the tenant works at the source again before the second.
Fails unless a late notification of S3 changes nothing, the API's lists are equal on both sides, ids are kept, the
target goes on with ids of its own, the source refuses the tenant, and no row of the others is missing."""
_EPILOG = """\
examples:
  python -m benchmarks.tenant_move
      20,000 documents
  python -m benchmarks.tenant_move --documents 200000

exit status: 0 measured; 1 failed; 2 wrong usage; 130 interrupted"""
MOVED, STAYS = "moved", "stays"
_CELLS = {"source": 0, "target": 3}
_CASE = "Smith v. Jones"
_ROWS = 1_000
_LONGEST_S, _KNOWN_S = 3_600, 60
_REFUSED = 403
_ENDED = ("completed", "completed_with_rejections", "failed", "cancelled")
_LIST = f"/exhibits?case={quote(_CASE)}&limit=100"
# Of the local S3, which takes any.
_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION}
_NEW_CASE = {"name": "New"}


@dataclass
class Cell:
    """A stack as its tenants, and as the tool that moves one of them, have it."""

    name: str
    stack: LocalStack
    folder: Path
    others: int = 0
    others_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        ids = f"SET SESSION auto_increment_increment = {INCREMENT}, auto_increment_offset = {_CELLS[self.name] + 1}"
        self.url = make_url(self.stack.database_url)
        self.database = Database(self.url, create_engine(self.url, isolation_level="AUTOCOMMIT"))
        described = {
            "database": self.url.update_query_dict({"init_command": ids}).render_as_string(hide_password=False),
            "bucket": self.stack.bucket,
            "endpoint": self.stack.aws.endpoint,
            "storage": str(find_storage(self.stack.state_dir, None)),
        }
        self.file = self.folder / f"{self.name}.json"
        self.file.write_text(json.dumps(described), encoding="utf-8")

    def import_rows(self, tenant: str, rows: int, prefix: str) -> float:
        """Import a file to its end; return the seconds. Raises BenchmarkError unless every row is imported."""
        path = self.folder / f"{self.name} {prefix}.dat"
        Shape(rows=rows, prefix=prefix).write(path)
        began, key = time.monotonic(), f"imports/{tenant}/{_CASE}/{prefix}/{prefix}.dat"
        self.stack.s3.put_object(Bucket=self.stack.bucket, Key=key, Body=path.read_bytes())
        path.unlink()
        while time.monotonic() - began < _LONGEST_S:
            found = self.database.query("SELECT status, imported FROM imports WHERE object_key = :key", key=key)
            if found and found[0][0] in _ENDED:
                if tuple(found[0]) != ("completed", rows):
                    raise BenchmarkError(f"{self.name}: the import of {key} ended as {found[0]}")
                return time.monotonic() - began
            time.sleep(0.05)
        raise BenchmarkError(f"{self.name}: the import of {key} did not end in {_LONGEST_S} s")

    def import_for_others(self, stop: threading.Event) -> None:
        """Import for another tenant, file after file, until it must stop."""
        while not stop.is_set():
            self.others_s.append(self.import_rows(STAYS, _ROWS, f"OTHER{self.others}"))
            self.others += 1

    def request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Send a request of the tenant that moves."""
        status, answer = self.stack.request_api(MOVED, "ada", method, path, body)
        return status, json.loads(answer)

    def request_when_active(self, method: str, path: str) -> tuple[int, Any]:
        """Send a request once the functions know that the tenant is active, within 30 seconds."""
        ends = time.monotonic() + _KNOWN_S
        while (answer := self.request(method, path))[0] == _REFUSED and time.monotonic() < ends:
            time.sleep(0.5)
        return answer

    def count(self, statement: str) -> int:
        """Return the number that a statement counts."""
        return int(self.database.query(statement, tenant=MOVED)[0][0])

    def send_late_event(self) -> None:
        """Send what S3 sends about an object of the tenant once more, and wait until nothing is in progress."""
        found = self.stack.s3.list_object_versions(Bucket=self.stack.bucket, Prefix=f"imports/{MOVED}/", MaxKeys=1)
        each = found["Versions"][0]
        stored = {"key": quote(each["Key"]), "versionId": each["VersionId"], "eTag": each["ETag"].strip('"')}
        place = {"bucket": {"name": self.stack.bucket}, "object": {**stored, "size": each["Size"], "sequencer": "1"}}
        body = json.dumps({"Records": [{"eventName": "ObjectCreated:Put", "s3": place}]})
        self.stack.sqs.send_message(QueueUrl=self.stack.queue_url("ImportRequestsQueue"), MessageBody=body)


class _Tool:
    """`python -m tools.tenant`, and how long each of its commands took when it ended by itself."""

    def __init__(self, cells: Sequence[Cell], folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        self.kills = 0
        self._folder = folder
        self._files = {cell.name: str(cell.file) for cell in cells}

    def run(self, command: str, *arguments: str, sides: Sequence[str], kill: bool = False) -> None:
        """Run a command to its end; with `kill`, one that is killed after 1, 2, 4 ... seconds comes before it."""
        places = [part for side in sides for part in (f"--{side}", self._files[side])]
        line = [sys.executable, "-m", "tools.tenant", command, *arguments, *places]
        limit = 1.0 if kill else float(_LONGEST_S)
        while True:
            began = time.monotonic()
            pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            with subprocess.Popen(line, env=os.environ | _CREDENTIALS, **pipes) as process:  # noqa: S603
                try:
                    text, _ = process.communicate(timeout=limit)
                except subprocess.TimeoutExpired:
                    process.kill()
                    self.kills, limit = self.kills + 1, limit * 2
                    continue
            if process.returncode:
                raise BenchmarkError(f"{command} failed: {text[-2000:]}")
            self.seconds[command] = round(time.monotonic() - began, 1)
            return

    def move(self, *, again: bool = False) -> None:
        """Export, load and compare the tenant."""
        at_once = ("--unaware-seconds", "2")
        folder = str(self._folder)
        self.run("export", MOVED, folder, *at_once, sides=["source"], kill=True)
        self.run("load", folder, *at_once, *(["--replace"] if again else []), sides=["target"], kill=True)
        self.run("verify", folder, sides=["source", "target"])

    def switch(self, *, back: bool = False) -> None:
        """Have the target write for the tenant, or the source again."""
        self.run("switch", str(self._folder), *(["--back"] if back else []), sides=["source", "target"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            print(json.dumps(_measure(Path(folder), options.documents)))
        return DONE

    return run_measurement(measure, "the local stacks and their data are removed")


def _measure(folder: Path, documents: int) -> dict[str, Any]:
    there = {"CELL_NUMBER": str(_CELLS["target"])}
    with (
        LocalStack(folder / "source", StackOptions(minimal=True)) as first,
        LocalStack(folder / "target", StackOptions(minimal=True, environment=there)) as second,
    ):
        source, target = cells = (Cell("source", first, folder), Cell("target", second, folder))
        source.import_rows(MOVED, documents, "MOVED")
        tool, stop = _Tool(cells, folder / "export"), threading.Event()
        writers = [threading.Thread(target=cell.import_for_others, args=(stop,), daemon=True) for cell in cells]
        for writer in writers:
            writer.start()
        try:
            _move(source, target, tool, documents)
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        _check_others(cells)
        return {
            "documents": documents,
            "seconds": tool.seconds,
            "kills": tool.kills,
            "imports_of_others": {cell.name: cell.others for cell in cells},
        }


def _move(source: Cell, target: Cell, tool: _Tool, documents: int) -> None:
    tool.move()
    _require(_REFUSED, source.request("POST", "/cases", _NEW_CASE)[0], "the read-only source")
    _require(_REFUSED, target.request("GET", _LIST)[0], "the target before the switch")
    tool.switch()
    _require(_REFUSED, source.request("POST", "/cases", _NEW_CASE)[0], "the source after the switch")
    tool.switch(back=True)
    source.import_rows(MOVED, _ROWS, "BETWEEN")
    expected = source.request("GET", _LIST)
    highest = source.count("SELECT MAX(id) FROM exhibits")
    tool.move(again=True)
    target.send_late_event()
    tool.switch()
    target.send_late_event()
    _require(expected, target.request_when_active("GET", _LIST), "the list of the target")
    target.import_rows(MOVED, _ROWS, "AFTER")
    # The notification came before that file, in the same group of messages.
    _require(3, target.count("SELECT COUNT(*) FROM imports WHERE tenant_id = :tenant"), "imports at the target")
    own = "FROM exhibits e JOIN imports i ON i.id = e.import_id WHERE i.tenant_id = :tenant"
    _require(documents + 2 * _ROWS, target.count(f"SELECT COUNT(*) {own}"), "documents at the target")
    newer = f"SELECT COUNT(*) {own} AND e.id > {highest} AND e.id % {INCREMENT} = {_CELLS['target'] + 1}"
    _require(_ROWS, target.count(newer), "new ids at the target")


def _check_others(cells: Sequence[Cell]) -> None:
    for cell in cells:
        query = "SELECT COUNT(*) FROM exhibits e JOIN cases c ON c.id = e.case_id WHERE c.tenant_id <> :tenant"
        _require(cell.others * _ROWS, cell.count(query), f"documents of others at the {cell.name}")


def _require(expected: object, found: object, what: str) -> None:
    if found != expected:
        raise BenchmarkError(f"{what}: {str(found)[:500]} instead of {str(expected)[:500]}")


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.tenant_move", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    many = number(1_000, 10_000_000)
    made.add_argument("--documents", type=many, default=20_000, metavar="N", help="documents (default: %(default)s)")
    return made


if __name__ == "__main__":
    run_command(main)
