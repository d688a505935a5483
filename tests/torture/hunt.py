"""Prove each protection necessary: without it seeds are played until one is violated, and with it the same ones hold.

Guarantees an exit code of 0 only if every protection that was turned off was caught within the seeds by a violation of
a kind that it is there to prevent, and none of these seeds is violated while all are on. Without a protection only the
clients whose work it protects are played, and all of them in the control.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.output import run_command
from tests.torture import seeds
from tests.torture.findings import Finding
from tests.torture.plans.seed import CLIENTS, plan_of
from tests.torture.protections.registry import SWITCHES, described
from tests.torture.stack.application import start_stack
from tests.torture.stack.run_directory import run_in_directory

CAUGHT, NOT_CAUGHT = 0, 1
LONGEST_EXCERPT = 160


@dataclass(frozen=True)
class Caught:
    """Which seed found what without a protection; no finding where none did."""

    name: str
    seed: int
    finding: Finding | None

    def row(self, most: int) -> str:
        """A line of the table."""
        switch = SWITCHES[self.name]
        begins = f"| {self.name} | {switch.description} | {switch.rests_on} |"
        if self.finding is None:
            return f"{begins} not within {most} | | |"
        excerpt = self.finding.what.replace("|", "/").replace("\n", " ")[:LONGEST_EXCERPT]
        return f"{begins} {self.seed} of {most} | {self.finding.kind} | {excerpt} |"


HEAD = "| protection | without it | rests on | caught by seed | kind | what was found |"
LINE = "| --- | --- | --- | --- | --- | --- |"


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(
        prog="python -m tests.torture.hunt",
        description=__doc__,
        epilog=f"protections:\n{described()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument(
        *("--only",),
        action="append",
        choices=sorted(SWITCHES),
        metavar="PROTECTION",
        help="these alone; default: all there are",
    )
    made.add_argument("--seeds", type=int, default=40, help="at most so many for each (default: 40)")
    made.add_argument("--first", type=int, default=1, help="the first seed (default: 1)")
    made.add_argument("--no-control", action="store_true", help="do not play the seeds with all protections on")
    made.add_argument("--keep", type=Path, help="a directory for logs and data that is kept; default: none is")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    options = parser().parse_args(arguments)
    return run_in_directory(lambda directory: _hunt_all(options, directory), options.keep)


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
    caught = _first_caught(name, numbers, directory)
    found = caught.finding
    state = f"caught by seed {caught.seed}: {found.kind}: {found.what}" if found else "NOT CAUGHT"
    print(f"{name}: {state} ({time.monotonic() - began:.0f} s)", file=sys.stderr, flush=True)
    return caught


def _first_caught(name: str, numbers: range, directory: Path) -> Caught:
    with closing(_played(numbers, directory, SWITCHES[name].clients, without=(name,))) as plays:
        return first_caught(name, plays, numbers[-1])


def first_caught(name: str, plays: Iterable[tuple[int, list[Finding]]], last: int) -> Caught:
    """The first violation that this protection is there to prevent; whatever else is found does not count."""
    for seed, findings in plays:
        for each in findings:
            if each.kind in SWITCHES[name].shows_as:
                return Caught(name, seed, each)
    return Caught(name, last, None)


def _played(
    numbers: Iterable[int], directory: Path, clients: frozenset[str] = CLIENTS, **how: Any
) -> Generator[tuple[int, list[Finding]]]:
    """Each seed of these clients with what it found; what one has left behind is not the next one's."""
    left = deque(numbers)
    while left:
        with start_stack(directory / f"from-{left[0]}", **how) as at:
            findings: list[Finding] = []
            while left and not findings:
                began, seed = time.monotonic(), left.popleft()
                findings = seeds.run(replace(plan_of(seed), clients=clients), at).findings
                _tell(seed, findings, time.monotonic() - began)
                yield seed, findings


def _tell(seed: int, findings: Sequence[Finding], seconds: float) -> None:
    state = f"{len(findings)} violations" if findings else "held"
    print(f"  seed {seed}: {state} in {seconds:.0f} s", file=sys.stderr, flush=True)
    for each in findings:
        print(f"    {each.kind}: {each.what}", file=sys.stderr, flush=True)


def _control(caught: Sequence[Caught], numbers: range, directory: Path) -> bool:
    """Whether all seeds that were played hold with every protection, each under the leases that it was played under."""
    held = True
    for short in (False, True):
        reached = [each.seed for each in caught if SWITCHES[each.name].short_leases == short]
        if reached:
            again = range(numbers.start, max(reached) + 1)
            print(f"control: seeds {again[0]} to {again[-1]} with all protections", file=sys.stderr, flush=True)
            for _, findings in _played(again, directory / f"control-{int(short)}", short_leases=short):
                held = held and not findings
    return held


if __name__ == "__main__":
    run_command(main)
