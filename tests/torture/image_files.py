"""Damaged image load files by the ten thousand: every line of each is in a document or a rejected range, as it must be.

`python -m tests.torture.image_files --files 50000 --seed 1` reads so many OPT and LFP files in blocks and chunks of any
size and compares documents, pages, ranges and figures with those of a second reader. The last line has the figures; the
exit code is 1 where something differs, and the command that does it again is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from benchmarks.arguments import number
from benchmarks.output import run_command
from tests.torture.mutations.image_files import image_file
from tests.torture.mutations.image_reading import judge
from tests.torture.mutations.limits import bounded, most_memory

MOST_PRINTED, STEP = 20, 5_000


@dataclass
class Tally:
    """What files came to, and how many differed."""

    files: int = 0
    violations: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def take(self, seed: int, which: int) -> None:
        """Judge the file of this number, and tell of a difference."""
        self.files += 1
        file = image_file(seed, which)
        try:
            with bounded():
                self.counts += judge(file, seed)
        except Exception as error:
            self.violations += 1
            if self.violations <= MOST_PRINTED:
                print(
                    f"file {which} ({', '.join(file.done)}): {type(error).__name__}: {str(error)[:600]}",
                    file=sys.stderr,
                )
                print(f"  python -m tests.torture.image_files --seed {seed} --only {which}", file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.image_files", description=__doc__)
    parser.add_argument("--files", type=number(0, 10**8), default=50_000, help="so many files (default: 50000)")
    parser.add_argument("--seed", type=number(0, 2**32), default=1, help="another one gives other files (default: 1)")
    parser.add_argument("--only", type=number(0, 10**8), help="the file of that number alone")
    given = parser.parse_args(arguments)
    files, tally, began = range(given.files), Tally(), time.monotonic()
    if given.only is not None:
        files = range(given.only, given.only + 1)
        print(f"{image_file(given.seed, given.only)!r}", file=sys.stderr)
    for done, which in enumerate(files, start=1):
        tally.take(given.seed, which)
        if done % STEP == 0:
            rate = done / (time.monotonic() - began)
            print(f"{done:,} of {len(files):,}, {rate:,.0f}/s, {tally.violations} violations", file=sys.stderr)
    print(summarise(tally))
    return 1 if tally.violations else 0


def summarise(tally: Tally) -> str:
    """The figures in one line."""
    counts = tally.counts
    codes = ", ".join(f"{counts[code]:,} {code}" for code in sorted(counts) if code.isupper())
    return (
        f"{tally.files:,} image load files: {counts['detected as opt']:,} detected as OPT, "
        f"{counts['detected as lfp']:,} as LFP, {counts['detected as neither']:,} as neither; "
        f"{counts['lines']:,} lines, "
        f"{counts['documents']:,} documents and ranges in {counts['chunks']:,} chunks, {counts['pages']:,} pages, "
        f"{counts['warned']:,} with another page count, {counts['rejected']:,} rejected ({codes}); "
        f"{most_memory() // 1_000_000} MB at most; {tally.violations} violations"
    )


if __name__ == "__main__":
    run_command(main)
