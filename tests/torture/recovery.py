"""How long an import stands still when its database goes away, and that it ends complete and exact after all.

`python -m tests.torture.recovery --rounds 30`. The whole application runs on the local stack with two workers, on the
demo's time scale: what the template says takes a twentieth of its time, the pauses between attempts their own. In each
round the server is killed, ended in good order, and turned read-only for a while; what is measured is the time to the
next committed chunk, from the fault on and from when the server takes writes again. The last line says how the imports
ended; the exit code is 1 where one is not exact.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.output import DONE, FAILED, percentile_ms, run_command, run_measurement, table
from local.stack import LocalStack, StackOptions
from local.time_scale import TimeScale
from samples.generator import Generated, generate
from samples.spec import Fault, FaultKind, Spec
from tests.support.imports.accounting import assert_accounted
from tests.torture.findings import MISPLACED, UNFINISHED, Finding, asserted
from tests.torture.stack.database_server import TorturedDatabase

SCALE = TimeScale(0.05, shortest_timeout=60)
ROWS, CHUNK_ROWS, FEWEST_CHUNKS = 600, 2, 100
READ_ONLY_S, PATIENCE_S, LOOK_S = 2.0, 120.0, 0.005
KILLED, ENDED, READ_ONLY = FAULTS = ("SIGKILL", "SIGTERM", f"read-only for {READ_ONLY_S:.0f} s")
FAULTY = (FaultKind.MISSING_ID, FaultKind.DUPLICATE_ID, FaultKind.INVALID_DATE)
COUNT_DONE = "SELECT COUNT(*) FROM import_chunks WHERE status = 'done'"
CHUNKS = "SELECT COUNT(*) FROM import_chunks"
PENDING = (
    "SELECT COUNT(*) FROM import_chunks c JOIN imports i ON i.id = c.import_id "
    "WHERE c.status = 'pending' AND i.status = 'running'"
)
IMPORTS = "SELECT i.id, i.status FROM imports i JOIN cases c ON c.id = i.case_id WHERE c.name = :case"


@dataclass(frozen=True)
class Recovered:
    """Seconds to the next committed chunk."""

    fault: str
    after_fault: float
    after_writable: float


@dataclass
class Ordeal:
    """One stack, its database, and the imports that are under way meanwhile."""

    stack: LocalStack
    database: TorturedDatabase
    seed: int
    rows: int = ROWS
    made: dict[str, Generated] = field(default_factory=dict)
    recovered: list[Recovered] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._draw = random.Random(f"recovery {self.seed}")
        self._pause = threading.Event()

    def round(self) -> None:
        """Each fault once, while an import is under way."""
        for fault in FAULTS:
            self._feed()
            self._pause.wait(self._draw.uniform(0.2, 1.0))
            began = time.monotonic()
            done, writable = self._strike(fault)
            if self._until(partial(self._more_than, done), f"a chunk after {fault}"):
                now = time.monotonic()
                self.recovered.append(Recovered(fault, now - began, now - writable))

    def end(self) -> None:
        """Wait for all imports, and judge them."""
        for case, made in self.made.items():
            self._until(partial(self._ended, case), f"{case} to end")
            rows = self.database.query(IMPORTS, case=case)
            if len(rows) != 1:
                self.findings.append(Finding(MISPLACED, f"{case} has imports {rows}"))
            for row in rows:
                check = partial(assert_accounted, self.database, row.id, made.truth)
                self.findings += asserted(MISPLACED, case, check)

    def _strike(self, fault: str) -> tuple[int, float]:
        """How many chunks had been committed when the server took writes again, and when that was."""
        if fault == READ_ONLY:
            self.database.read_only(True)
            self._pause.wait(READ_ONLY_S)
            done = self._count(COUNT_DONE)
            self.database.read_only(False)
            return done, time.monotonic()
        self.database.restart(kill=fault == KILLED)
        writable = time.monotonic()
        return self._count(COUNT_DONE), writable

    def _feed(self) -> None:
        """See to it that there are chunks to come."""
        if self._count(PENDING) >= FEWEST_CHUNKS:
            return
        before, number = self._count(CHUNKS), len(self.made)
        case, faults = f"case {number}", tuple(map(Fault, FAULTY))
        made = generate(Spec(rows=self.rows, seed=self.seed * 1000 + number, faults=faults))
        self.made[case] = made
        place = f"{number:08x}"
        if made.options:
            options = json.dumps(made.options).encode()
            self.stack.s3.put_object(Bucket=self.stack.bucket, Key=f"options/acme/{case}/{place}.json", Body=options)
        key = f"imports/acme/{case}/{place}/load.dat"
        self.stack.s3.put_object(Bucket=self.stack.bucket, Key=key, Body=made.data)
        self._until(lambda: self._count(CHUNKS) - before >= FEWEST_CHUNKS, f"the chunks of {case}")

    def _ended(self, case: str) -> bool:
        return [row.status for row in self.database.query(IMPORTS, case=case)] == ["completed_with_rejections"]

    def _more_than(self, done: int) -> bool:
        return self._count(COUNT_DONE) > done

    def _count(self, statement: str) -> int:
        return int(self.database.scalar(statement))

    def _until(self, come: Callable[[], bool], what: str) -> bool:
        deadline = time.monotonic() + PATIENCE_S
        while not come():
            if time.monotonic() > deadline:
                self.findings.append(Finding(UNFINISHED, f"waited {PATIENCE_S:.0f} s for {what}"))
                return False
            self._pause.wait(LOOK_S)
        return True


@contextmanager
def ordeal(directory: Path, seed: int, rows: int = ROWS) -> Iterator[Ordeal]:
    """All of it up, in a directory of its own, for files of so many rows."""
    with (
        TorturedDatabase(directory / "database") as database,
        LocalStack(
            directory / "stack",
            StackOptions(
                workers=2,
                time_scale=SCALE,
                database_url=database.url,
                environment={"CHUNK_ROWS": str(CHUNK_ROWS)},
            ),
        ) as stack,
    ):
        yield Ordeal(stack, database, seed, rows)


def format_table(recovered: Sequence[Recovered]) -> str:
    """The table: rounds and percentiles of each fault, by what is counted from."""
    rows = []
    for fault, since in product(FAULTS, ("after_fault", "after_writable")):
        times = sorted(getattr(each, since) for each in recovered if each.fault == fault)
        if times:
            figures = (*(percentile_ms(times, share) / 1000 for share in (0.5, 0.99)), times[-1])
            rows.append([fault, since.replace("_", " "), str(len(times)), *(f"{each:.2f} s" for each in figures)])
    return table(["fault", "to the next chunk", "rounds", "p50", "p99", "longest"], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    options = _parser().parse_args(arguments)
    return run_measurement(partial(_measure, options.rounds, options.seed))


def _measure(rounds: int, seed: int) -> int:
    with tempfile.TemporaryDirectory(prefix="recovery-") as directory, ordeal(Path(directory), seed) as under:
        for number in range(rounds):
            under.round()
            print(f"round {number + 1} of {rounds}: {len(under.made)} files", file=sys.stderr)
        under.end()
        failed = len(under.stack.failures())
    for finding in under.findings:
        print(f"{finding.kind}: {finding.what}", file=sys.stderr)
    if under.findings:
        print(f"again: python -m tests.torture.recovery --rounds {rounds} --seed {seed}", file=sys.stderr)
    records = sum(made.truth.rows_seen for made in under.made.values())
    ended = (
        f"{len(under.made)} imports of {records:,} records, {failed} invocations failed and were made again; "
        f"{len(under.findings)} violations"
    )
    print(format_table(under.recovered), ended, sep="\n")
    return FAILED if under.findings else DONE


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.torture.recovery", description=__doc__, allow_abbrev=False)
    made.add_argument("--rounds", type=int, default=30, help="how often each fault strikes (default: 30)")
    made.add_argument("--seed", type=int, default=1, help="what chooses files and moments (default: 1)")
    return made


if __name__ == "__main__":
    run_command(main)
