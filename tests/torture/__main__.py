"""Play seeds against the whole application and count what was lost, doubled or misplaced: `make torture SEEDS=n`.

About two minutes a seed on two idle cores. Exit code 0: all seeds held; 1: one was violated; 2: the application could
not be started. What strikes in each seed, and the command that plays it again, go to standard error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, deque
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from benchmarks.arguments import number
from benchmarks.output import run_command
from tests.torture import seeds
from tests.torture.findings import KINDS
from tests.torture.plans.seed import plan_of
from tests.torture.protections.registry import SWITCHES, described
from tests.torture.stack.application import TortureStack, start_stack
from tests.torture.stack.run_directory import run_in_directory

HELD, BROKEN = 0, 1
# The stack remembers executions and objects of all seeds; a fresh one now and then keeps that small.
SEEDS_A_STACK = 25


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(
        prog="python -m tests.torture",
        description=__doc__,
        epilog=f"protections:\n{described()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--seeds", type=number(1, 100_000), default=20, help="how many (default: 20), from --first on")
    made.add_argument("--first", type=number(1, 10**9), default=1, help="the first seed (default: 1)")
    made.add_argument(
        "--without",
        action="append",
        default=[],
        choices=sorted(SWITCHES),
        metavar="PROTECTION",
        help="turn a protection off, in the test build alone; they are listed below",
    )
    made.add_argument("--until-found", action="store_true", help="stop at the first violation, if one is expected")
    made.add_argument("--storm", type=number(0, 1_000), default=0, help="more deadlocks and lost COMMITs of each seed")
    made.add_argument("--no-faults", action="store_true", help="the same work, undisturbed")
    made.add_argument("--keep", type=Path, help="a directory for logs and data that is kept; default: none is")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    options = parser().parse_args(arguments)
    return run_in_directory(lambda directory: _play(options, directory), options.keep)


class Tally:
    """What all seeds came to."""

    def __init__(self) -> None:
        self.played, self.held, self.records, self.requests = 0, 0, 0, 0
        self.found: Counter[str] = Counter()
        self.struck: Counter[str] = Counter()

    def add(self, outcome: seeds.Outcome) -> None:
        """Count a seed."""
        self.played += 1
        self.held += not outcome.findings
        self.records += outcome.records
        self.requests += outcome.requests
        self.found.update(each.kind for each in outcome.findings)
        self.struck.update(outcome.struck)

    def describe(self) -> str:
        """The last line."""
        violations = ", ".join(f"{self.found[kind]} {kind}" for kind in KINDS)
        return (
            f"{self.held} of {self.played} seeds held: {self.records:,} records, {self.requests:,} requests, "
            f"{self.struck.total():,} faults of {len(self.struck)} kinds; {violations}"
        )


def _play(options: argparse.Namespace, directory: Path) -> int:
    tally, numbers = Tally(), range(options.first, options.first + options.seeds)
    try:
        for stack, block in groupby(numbers, key=stack_of):
            left = deque(block)
            while left and not (options.until_found and tally.found):
                # What a broken seed has left behind is not the next one's.
                with start_stack(
                    directory / f"from-{left[0]}", without=options.without, short_leases=stack % 2 == 1
                ) as at:
                    while left and _play_one(left.popleft(), at, tally, options):
                        pass
    finally:
        for kind, count in sorted(tally.struck.items()):
            print(f"{count:6} {kind}", file=sys.stderr)
        print(tally.describe())
    return BROKEN if tally.found else HELD


def stack_of(seed: int) -> int:
    """Which stack plays a seed: 1 to 25 the first, and so on, also where it is played alone.

    In every other stack claims end while their owners may be at work.
    """
    return (seed - 1) // SEEDS_A_STACK


def _play_one(seed: int, at: TortureStack, tally: Tally, options: argparse.Namespace) -> bool:
    """Whether it held."""
    began = time.monotonic()
    outcome = seeds.run(plan_of(seed, with_faults=not options.no_faults, storm=options.storm), at)
    tally.add(outcome)
    struck = ", ".join(f"{count} x {kind}" if count > 1 else kind for kind, count in sorted(outcome.struck.items()))
    state = "held" if not outcome.findings else "BROKEN"
    print(f"seed {seed} {state} in {time.monotonic() - began:.1f} s ({struck or 'no faults'})", file=sys.stderr)
    for finding in outcome.findings:
        print(f"  {finding.kind}: {finding.what}", file=sys.stderr)
    if outcome.findings:
        more = "".join(f" --without {name}" for name in options.without) + " --no-faults" * options.no_faults
        more += f" --storm {options.storm}" * (options.storm > 0)
        print(f"  again: .venv/bin/python -m tests.torture --first {seed} --seeds 1{more}", file=sys.stderr)
    return not outcome.findings


if __name__ == "__main__":
    run_command(main)
