"""Damaged load files by the hundred thousand: each is refused with a reason, or every record of it is accounted for.

`python -m tests.torture.mutated_files --files 100000 --imports 2000 --seed 1` puts so many through the parser and so
many of them through the whole import, on a database server of its own. `--checks 2000` has so many checked before they
are imported, and compares what the check said with what the import did. `--habits 50000` compares so many sound files
with what Python's csv module reads in them. The last lines have the figures; the exit code is 1 where a promise was not
kept, and the command that does it again is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from benchmarks.arguments import add_server, number
from benchmarks.output import run_command
from tests.support.application.driver import World
from tests.torture.mutations.checks import agreed
from tests.torture.mutations.csv_dialects import HabitFile, HabitWriter, compare
from tests.torture.mutations.imports import imported
from tests.torture.mutations.in_process import own_world
from tests.torture.mutations.limits import PROCESSOR_S, bounded, most_memory
from tests.torture.mutations.load_files import Mutated, Mutator
from tests.torture.mutations.parsing import parse

WITHIN_S = {"parser": PROCESSOR_S, "imports": 20.0, "checks": 40.0}
MOST_PRINTED, CHUNK_ROWS = 20, 7
AnyFile = TypeVar("AnyFile", Mutated, HabitFile)
STEP = {"parser": 5_000, "imports": 100, "checks": 100}


@dataclass
class Tally:
    """What files came to, and how many promises were not kept."""

    seed: int
    files: int = 0
    violations: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def take(self, file: AnyFile, judge: Callable[[AnyFile], Counter[str]], within_s: float) -> None:
        """Judge a file, and tell of what was not to be."""
        self.files += 1
        try:
            with bounded(within_s):
                self.counts += judge(file)
        except Exception as error:
            self.violations += 1
            if self.violations <= MOST_PRINTED:
                _tell(self.seed, file, error)


def parsed(file: Mutated) -> Counter[str]:
    """A file through the parser; what is not accounted for is an error."""
    outcome = parse(file)
    if outcome.refused:
        return Counter({"refused": 1, outcome.refused: 1})
    return Counter({"rows": outcome.rows, "accounted": outcome.accounted, "rejected": outcome.rejected})


def through(tally: Tally, mutator: Mutator, files: range, kind: str, judge: Callable[[Mutated], Counter[str]]) -> None:
    """All of the files, with word of how far it is."""
    began, step = time.monotonic(), STEP[kind]
    for done, which in enumerate(files, start=1):
        tally.take(mutator.file(which), judge, WITHIN_S[kind])
        if done % step == 0:
            rate = done / (time.monotonic() - began)
            print(f"{kind}: {done:,} of {len(files):,}, {rate:,.0f}/s, {tally.violations} violations", file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit code."""
    given = _arguments(arguments)
    mutator, files, imports = Mutator(given.seed), range(given.files), range(given.imports)
    if given.only is not None:
        files = imports = range(given.only, given.only + 1)
        print(_described(mutator.file(given.only)), file=sys.stderr)
    parser, whole, habits = Tally(given.seed), Tally(given.seed), Tally(given.seed)
    through(parser, mutator, files, "parser", parsed)
    if imports:
        with own_world(given.database_url, CHUNK_ROWS) as world:
            through(whole, mutator, imports, "imports", lambda file: _imported(world, file))
    compare_habits(habits, range(given.habits) if given.only is None else files)
    checks = Tally(given.seed)
    if given.checks:
        chosen = range(given.checks) if given.only is None else files
        with own_world(given.database_url, CHUNK_ROWS) as world:
            through(checks, mutator, chosen, "checks", lambda file: Counter(agreed(world, file)))
    print(_summary(parser, whole))
    print(
        f"{checks.files:,} files checked and then imported: {checks.counts['failed']:,} failed both times, "
        f"{checks.counts['rows_seen']:,} rows, {checks.counts['findings']:,} findings; {checks.violations} differences"
    )
    print(
        f"{habits.files:,} files of people's habits compared with Python's csv: {habits.counts['rows']:,} rows, "
        f"{habits.counts['headers']:,} headers and {habits.counts['marks']:,} marks inside, "
        f"{habits.counts['refused']:,} refused as they must be; {habits.violations} differences"
    )
    return 1 if any(each.violations for each in (parser, whole, habits, checks)) else 0


def compare_habits(tally: Tally, files: range) -> None:
    """Compare the files that `HabitWriter` writes with what the csv module reads in them."""
    writer = HabitWriter(tally.seed)
    for which in files:
        tally.take(writer.file(which), compare, WITHIN_S["parser"])


def _imported(world: World, file: Mutated) -> Counter[str]:
    came = imported(world, file)
    return Counter({"failed": 1, came.failed: 1}) if came.failed else Counter(dict(came.counts or {}))


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture.mutated_files", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--files", type=number(0, 10**8), default=100_000, help="through the parser (default: 100000)")
    parser.add_argument("--imports", type=number(0, 10**6), default=2_000, help="imported as a whole (default: 2000)")
    parser.add_argument("--checks", type=number(0, 10**6), default=0, help="checked, then imported (default: 0)")
    parser.add_argument("--habits", type=number(0, 10**8), default=50_000, help="compared with csv (default: 50000)")
    parser.add_argument("--seed", type=number(0, 2**32), default=1, help="another one gives other files (default: 1)")
    parser.add_argument("--only", type=number(0, 10**8), help="the file of that number alone, both ways")
    add_server(parser)
    return parser.parse_args(arguments)


def _tell(seed: int, file: Mutated | HabitFile, error: Exception) -> None:
    where = traceback.extract_tb(error.__traceback__)[-1]
    print(f"file {file.number} ({', '.join(file.done)}): {type(error).__name__}: {str(error)[:400]}", file=sys.stderr)
    print(f"  at {where.filename}:{where.lineno}; again:", file=sys.stderr)
    print(f"  python -m tests.torture.mutated_files --seed {seed} --only {file.number}", file=sys.stderr)


def _described(file: Mutated) -> str:
    done = f"done {', '.join(file.done)}; options {file.options!r}; {len(file.data)} bytes"
    return f"{file.base.spec}\n{done}:\n{file.data[:3000]!r}"


def _summary(parser: Tally, whole: Tally) -> str:
    read, ended = parser.counts, whole.counts
    accounted = ended["imported"] + ended["unchanged"] + ended["updated"] + ended["rejected"]
    bad = parser.violations + whole.violations
    return (
        f"{parser.files:,} mutated files through the parser: {read['refused']:,} refused with a reason, "
        f"{read['rows']:,} rows seen, {read['accounted']:,} accounted for; {whole.files:,} through the whole import: "
        f"{ended['failed']:,} failed with a reason, {ended['rows_seen']:,} rows seen, {accounted:,} accounted for "
        f"({ended['imported']:,} imported, {ended['unchanged']:,} unchanged, {ended['rejected']:,} rejected); "
        f"{most_memory() // 1_000_000} MB at most; {bad} violations"
    )


if __name__ == "__main__":
    run_command(main)
