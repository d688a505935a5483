"""`python -m benchmarks.chunk_profile`: where the time of a chunk goes, by its stages.

Exit codes: 0 measured, 1 nothing could be measured, 2 the command was called wrongly, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.arguments import add_server, count, number
from benchmarks.database import own_database
from benchmarks.imports.application import Application, own_application
from benchmarks.imports.load_file import Shape
from benchmarks.telling import DONE, ending, run, table
from shell import chunk_ops, chunk_reading_ops, chunk_writing_ops
from shell.chunk_writing_ops import ChunkWriter
from shell.utils import bulk_insert, db_session

_DESCRIPTION = """\
Imports a load file as python -m benchmarks.import_rate does, with a clock around the stages of a chunk: microseconds a
row, on the wall and of the processor of the importing process. What is on the wall and not of the processor was waited
for: the database, S3. A stage that is indented is a part of the one above it. The same file is then imported again."""
_EPILOG = """\
examples:
  python -m benchmarks.chunk_profile
      on a private server; the table can be pasted into docs/performance.md
  python -m benchmarks.chunk_profile --rows 50000 --database-url "mysql+pymysql://user:password@host:3306/?charset=utf8mb4"
      more rows, on another MySQL 8+ or MariaDB 10.6+, in a schema that is made and dropped

exit status: 0 measured; 1 nothing could be measured; 2 wrong usage; 130 interrupted"""
# What is said of a stage, and the function that is it.
STAGES: Sequence[tuple[str, Any, str]] = (
    ("find the import and the chunk", chunk_ops, "_load"),
    ("read, parse and fit the rows", chunk_ops, "read"),
    ("  fetch, check, decode, csv", chunk_reading_ops, "_records"),
    ("  by column: what is plain, names, dates, hashes", chunk_reading_ops, "plain_rows"),
    ("  look up what the case holds", chunk_reading_ops, "_held"),
    ("write", chunk_ops, "_write"),
    ("  find custodians and tags", ChunkWriter, "lacks_names"),
    ("  insert exhibits", chunk_writing_ops, "insert_exhibits"),
    ("  insert links to custodians", chunk_writing_ops, "link_custodians"),
    ("  insert links to tags", chunk_writing_ops, "link_tags"),
    ("  compare links of unchanged rows", ChunkWriter, "_sort_out_links"),
    ("  rejections, warnings, sightings, events", chunk_writing_ops, "write_findings"),
    ("  settle the chunk", chunk_ops, "settle_chunk"),
    ("of which values to literals", bulk_insert, "row_literals"),
    ("of which COMMIT", db_session, "_commit"),
)


@dataclass
class Spent:
    """Seconds of one stage, in all chunks of an import."""

    wall: float = 0.0
    processor: float = 0.0


Profile = dict[str, Spent]


@contextmanager
def clocked(profile: Profile) -> Iterator[None]:
    """For the block, what the stages take is added to the profile."""
    with ExitStack() as stack:
        for said, owner, name in STAGES:
            plain = getattr(owner, name)
            setattr(owner, name, _clocked(plain, profile.setdefault(said, Spent())))
            stack.callback(setattr, owner, name, plain)
        yield


def _clocked(function: Callable[..., Any], spent: Spent) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        wall, processor = time.perf_counter(), time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            spent.wall += time.perf_counter() - wall
            spent.processor += time.process_time() - processor

    return timed


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; gives the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder, own_database(options.database_url) as database:
            path = Path(folder) / "load.dat"
            Shape(rows=options.rows).write(path)
            with own_application(database) as application:
                runs = [_run(application, path, each) for each in range(options.runs)]
            server = database.server()
        said = {stage: _figures(runs, stage, options.rows) for stage in runs[0][0]}
        print(json.dumps({"server": server, "stages": said}, indent=2) if options.json else _shown(server, said))
        return DONE

    return ending(measure, "what was made on the server is removed")


def _run(application: Application, path: Path, number: int) -> tuple[Profile, Profile]:
    """A first import and the same again."""
    profiles: list[Profile] = []
    for said in ("first", "again"):
        profile: Profile = {"all handlers of chunks": Spent()}
        with clocked(profile):
            import_id, start_s = application.start(application.upload(path, f"run {number}"))
            processor = time.process_time()
            done = application.finish(import_id, start_s)
        profile["all handlers of chunks"] = Spent(sum(done.chunks_s), time.process_time() - processor)
        profiles.append(profile)
        print(f"run {number + 1}, {said}: {done.seconds:.2f} s", file=sys.stderr)
    return profiles[0], profiles[1]


def _figures(runs: Sequence[tuple[Profile, Profile]], stage: str, rows: int) -> list[float]:
    """Of the first import and of the second: wall and processor, medians of the runs."""
    spent = [[run[which][stage] for run in runs] for which in (0, 1)]
    seconds = [median(getattr(each, clock) for each in side) for side in spent for clock in ("wall", "processor")]
    return [round(each * 1e6 / rows, 1) for each in seconds]


def _shown(server: str, said: dict[str, list[float]]) -> str:
    head = ["microseconds a row", "first: wall", "processor", "again: wall", "processor"]
    rows = [[stage.replace("  ", "- "), *(f"{each:.1f}" for each in figures)] for stage, figures in said.items()]
    return f"{server}\n\n{table(head, rows)}"


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.chunk_profile", None, _DESCRIPTION, _EPILOG, formatter_class=keep
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    made.add_argument(
        "--rows", type=number(1, 1_000_000), default=20_000, metavar="N", help="of the file (default: %(default)s)"
    )
    made.add_argument("--runs", type=count, default=3, metavar="N", help="how often (default: %(default)s)")
    add_server(made)
    return made


if __name__ == "__main__":
    run(main)
