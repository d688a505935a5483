"""Prove each protection necessary: without it seeds are played until one is violated, and with it the same ones hold.

Guarantees an exit code of 0 only if every protection that was turned off was caught within the seeds, and none of these
seeds is violated while all are on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.telling import run as command
from tests.torture import seeds
from tests.torture.arena import Arena, arena
from tests.torture.findings import Finding
from tests.torture.plan import plan_of
from tests.torture.playing import played
from tests.torture.switches import SWITCHES, described

CAUGHT, NOT_CAUGHT = 0, 1
LONGEST_TOLD = 160


@dataclass(frozen=True)
class Caught:
    """Which seed found what without a protection; no finding where none did."""

    name: str
    seed: int
    finding: Finding | None

    def row(self, most: int) -> str:
        """A line of the table."""
        switch = SWITCHES[self.name]
        what = f"{switch.what}; off too: {switch.why}" if switch.why else switch.what
        if self.finding is None:
            return f"| {self.name} | {what} | {switch.rests_on} | not within {most} | | |"
        told = self.finding.what.replace("|", "/").replace("\n", " ")[:LONGEST_TOLD]
        return f"| {self.name} | {what} | {switch.rests_on} | {self.seed} of {most} | {self.finding.kind} | {told} |"


HEAD = "| protection | without it | rests on | caught by seed | kind | what was found |"
LINE = "| --- | --- | --- | --- | --- | --- |"


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(
        prog="python -m tests.torture.hunt",
        description=__doc__,
        epilog=f"protections:\n{described()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        *("--only",),
        action="append",
        choices=sorted(SWITCHES),
        metavar="PROTECTION",
        help="these alone; default: all there are",
    )
    made.add_argument("--seeds", type=int, default=20, help="at most so many for each (default: 20)")
    made.add_argument("--first", type=int, default=1, help="the first seed (default: 1)")
    made.add_argument("--no-control", action="store_true", help="do not play the seeds with all protections on")
    made.add_argument("--keep", type=Path, help="a directory for logs and data that is kept; default: none is")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    options = parser().parse_args(arguments)
    return played(lambda directory: _hunt_all(options, directory), options.keep)


def _hunt_all(options: argparse.Namespace, directory: Path) -> int:
    numbers = range(options.first, options.first + options.seeds)
    caught = [_hunt(name, numbers, directory / name) for name in options.only or SWITCHES]
    print(HEAD, LINE, sep="\n")
    for each in caught:
        print(each.row(options.seeds))
    found = sum(each.finding is not None for each in caught)
    held = True if options.no_control else _control(caught, numbers, directory)
    control = "not played" if options.no_control else "hold" if held else "DO NOT HOLD"
    print(f"{found} of {len(caught)} protections were caught while off; the same seeds with all on: {control}")
    return CAUGHT if found == len(caught) and held else NOT_CAUGHT


def _hunt(name: str, numbers: range, directory: Path) -> Caught:
    began = time.monotonic()
    with arena(directory, without=(name,)) as at:
        seed, found = _first_violated(numbers, at)
    state = f"caught by seed {seed}: {found[0].kind}: {found[0].what}" if found else "NOT CAUGHT"
    print(f"{name}: {state} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)
    return Caught(name, seed, found[0] if found else None)


def _first_violated(numbers: Iterable[int], at: Arena) -> tuple[int, list[Finding]]:
    seed = 0
    for seed in numbers:
        began = time.monotonic()
        outcome = seeds.run(plan_of(seed), at)
        if outcome.findings:
            return seed, outcome.findings
        print(f"seed {seed} held in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return seed, []


def _control(caught: Sequence[Caught], numbers: range, directory: Path) -> bool:
    """Whether all seeds that were played hold with every protection, each under the leases that it was played under."""
    held = True
    for short in (False, True):
        played = [each.seed for each in caught if SWITCHES[each.name].short_leases == short]
        if played:
            with arena(directory / f"control-{int(short)}", short_leases=short) as at:
                seed, found = _first_violated(range(numbers.start, max(played) + 1), at)
            for each in found:
                print(f"control: seed {seed}: {each.kind}: {each.what}", file=sys.stderr, flush=True)
            held = held and not found
    return held


if __name__ == "__main__":
    command(main)
