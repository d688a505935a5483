"""Forced deadlocks and lost COMMITs in counted numbers, under imports and requests, and every unit exactly once.

`python -m tests.torture.counted --deadlocks 1000 --lost 1000 --seed 1`. The handlers run in this process, before a real
database and moto's AWS. The last line has the figures; the exit code is 1 where something was lost, doubled or wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path

from benchmarks.output import DONE, FAILED, run_command, run_measurement
from shell.db.column_limits import column_limits
from shell.db.session import engine
from tests.support.world import World
from tests.torture.counted_faults import Counted
from tests.torture.counted_work import NARROW, TABLES, Work
from tests.torture.faulty_proxy import Injection
from tests.torture.tortured_database import TorturedDatabase
from tests.torture.worlds import world_on

TOLD_EVERY_S = 10.0
CHUNK_ROWS = 8


@dataclass(frozen=True)
class Outcome:
    """What was done to whom."""

    faults: Counted
    work: Work
    rounds: int
    seconds: float

    def told(self) -> str:
        """The last line."""
        faults, units = self.faults, self.work.units
        return (
            f"{faults.deadlocks:,} deadlocks ({faults.inside:,} in a SAVEPOINT, {faults.outside:,} outside), "
            f"{faults.lost:,} lost COMMITs ({faults.answers:,} executed, {faults.requests:,} not) in {self.rounds:,} "
            f"rounds, {self.seconds:.0f} s: {', '.join(f'{count:,} {name}' for name, count in units.items())}, "
            f"{self.work.repeated:,} deliveries and requests repeated; {len(self.work.findings)} violations"
        )


@contextmanager
def tortured_world(database: TorturedDatabase) -> Iterator[World]:
    """The application in this process, before that database, whose titles are narrower than the application knows."""
    with world_on(database.url, CHUNK_ROWS, DB_DEADLOCK_RETRY_DELAY="0.002") as world:
        try:
            _prepare(database)
            yield world
        finally:
            database.proxy.decide = None
            engine().dispose()


def _prepare(database: TorturedDatabase) -> None:
    database.query("ALTER TABLE exhibits MODIFY title VARCHAR(1024)")
    column_limits.cache_clear()
    column_limits("exhibits")
    database.query(f"ALTER TABLE exhibits MODIFY title VARCHAR({NARROW})")
    for table in TABLES:
        database.query(
            f"CREATE TABLE IF NOT EXISTS {table} "
            "(id BIGINT PRIMARY KEY AUTO_INCREMENT, reference BIGINT NOT NULL, INDEX (reference))"
        )
        database.query(f"DELETE FROM {table}")


def run(database: TorturedDatabase, world: World, faults: Counted, seed: int, *, until_found: bool = False) -> Outcome:
    """Rounds until all faults have happened (or, with `until_found`, something is wrong)."""
    work, rounds, began = Work(world, database), 0, time.monotonic()
    told = began
    before = database.proxy.injected.copy()
    database.proxy.decide = faults.decide
    while not faults.done and not (until_found and work.findings):
        work.round(seed * 1_000_000 + rounds)
        rounds += 1
        if time.monotonic() - told > TOLD_EVERY_S:
            told = time.monotonic()
            print(f"{faults.deadlocks} deadlocks, {faults.lost} lost, {len(work.findings)} wrong", file=sys.stderr)
    database.proxy.decide = None
    really = database.proxy.injected - before
    assert really[Injection.DEADLOCK] == faults.deadlocks
    assert really[Injection.LOSE_COMMIT_ANSWER] + really[Injection.LOSE_COMMIT_REQUEST] == faults.lost
    return Outcome(faults, work, rounds, time.monotonic() - began)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    options = _parser().parse_args(arguments)
    return run_measurement(partial(_measure, options.seed, options.deadlocks, options.lost))


def _measure(seed: int, deadlocks: int, lost: int) -> int:
    with (
        tempfile.TemporaryDirectory(prefix="counted-") as directory,
        TorturedDatabase(Path(directory)) as database,
        # Metrics are lines on the standard output.
        redirect_stdout(StringIO()),
        tortured_world(database) as world,
    ):
        outcome = run(database, world, Counted(seed, deadlocks=deadlocks, lost=lost), seed)
    for finding in outcome.work.findings:
        print(f"{finding.kind}: {finding.what}", file=sys.stderr)
    if outcome.work.findings:
        asked = f"--deadlocks {deadlocks} --lost {lost} --seed {seed}"
        print(f"again: python -m tests.torture.counted {asked}", file=sys.stderr)
    print(outcome.told())
    return FAILED if outcome.work.findings else DONE


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.torture.counted", description=__doc__)
    made.add_argument("--deadlocks", type=int, default=1000, help="how many are forced (default: 1000)")
    made.add_argument("--lost", type=int, default=1000, help="how many COMMITs or answers are lost (default: 1000)")
    made.add_argument("--seed", type=int, default=1, help="what chooses files, requests and places (default: 1)")
    return made


if __name__ == "__main__":
    run_command(main)
