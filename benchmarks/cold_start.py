"""`python -m benchmarks.cold_start`: what our own code adds to the import of the packages that each handler needs.

Exit codes: 0 every handler is within the goal, 1 one is not or nothing could be measured, 2 the command was called
wrongly.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.arguments import count
from benchmarks.importing import Imported, Sources
from benchmarks.telling import DONE, FAILED, ending, run
from benchmarks.telling import table as markdown

GOAL = 1.15
_DESCRIPTION = f"""\
Imports each handler in a fresh interpreter, and in another one the third-party modules that our code asks for on the
way, bare: processor time, the two in turns, and the median of the rounds' ratios (apart). Two processes that do the
very same thing can differ by more than what our own code takes, so that this ratio needs dozens of rounds. So both are
timed in one process too, ours behind the bare import (together): the goal, {GOAL}, is asked of the median of these."""
_EPILOG = """\
examples:
  python -m benchmarks.cold_start
      all handlers, two or three minutes; the table can be pasted into docs/performance.md
  python -m benchmarks.cold_start --handlers import_chunk,produce --rounds 50
      two of them, more exactly
  python -m benchmarks.cold_start --json
      the result as one JSON object, with every module that is asked for

exit status: 0 all are within the goal; 1 one is not, or nothing could be measured; 2 wrong usage"""


@dataclass(frozen=True)
class Figures:
    """Of one handler: milliseconds of both imports in each round, and what was imported."""

    handler: str
    imported: Imported
    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    together: list[float] = field(default_factory=list)

    def measure(self, sources: Sources, *, bare_first: bool) -> None:
        """One round more."""
        sides = [(self.ours, f"import {self.handler}"), (self.bare, self.imported.bare())]
        for times, statements in reversed(sides) if bare_first else sides:
            times.append(sources.milliseconds(statements))
        self.together.append(sources.together(self.handler, self.imported))

    @property
    def ratio(self) -> float:
        """What the goal is asked of: both imports in one process, the median over the rounds."""
        return median(self.together)

    @property
    def apart(self) -> float:
        """Each import in a process of its own: the median of the rounds' ratios."""
        return median(with_us / without for with_us, without in zip(self.ours, self.bare, strict=True))

    def report(self) -> dict[str, object]:
        """The figures, and the import statements that were repeated without us."""
        times = {"handler_ms": round(median(self.ours), 1), "bare_ms": round(median(self.bare), 1)}
        ratios = {"ratio": round(self.ratio, 3), "ratio_apart": round(self.apart, 3)}
        modules = {"modules": len(self.imported.loaded), "bare": self.imported.bare().splitlines()}
        return {"handler": self.handler, **times, **ratios, **modules}


def main(arguments: Sequence[str] | None = None, sources: Sources | None = None) -> int:
    """Measure and print; gives the exit code."""
    measured = sources or Sources()
    options = _parser(measured.handlers()).parse_args(arguments)
    return ending(lambda: _told(options, measure(measured, options.handlers, options.rounds)))


def _told(options: argparse.Namespace, found: Sequence[Figures]) -> int:
    said = {"python": sys.version.split()[0], "rounds": options.rounds, "goal": GOAL}
    reports = [figures.report() for figures in found]
    print(json.dumps({**said, "handlers": reports}, indent=2) if options.json else table(found))
    return judged(found)


def measure(sources: Sources, handlers: Sequence[str], rounds: int) -> list[Figures]:
    """So many rounds, each of all handlers, in every other one the bare import first; a line on standard error each.

    Finding out what is imported comes first, and leaves compiled modules on disk for all that follows.
    """
    found = [Figures(handler, sources.imported(handler)) for handler in handlers]
    for number in range(rounds):
        for figures in found:
            figures.measure(sources, bare_first=bool(number % 2))
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return found


def judged(found: Sequence[Figures]) -> int:
    """The exit code; names the handlers that are over the goal."""
    over = [f"{figures.handler} ({figures.ratio:.2f})" for figures in found if figures.ratio > GOAL]
    if over:
        advice = "python -X importtime -c 'import <handler>' shows where it goes; more rounds make sure of it"
        print(f"error: over the goal of {GOAL}: {', '.join(over)}; {advice}", file=sys.stderr)
    return FAILED if over else DONE


def table(found: Sequence[Figures]) -> str:
    """As Markdown, a handler a row."""
    rows = []
    for each in found:
        times = [f"{median(each.ours):.0f}", f"{median(each.bare):.0f}", f"{each.apart:.2f}", f"{each.ratio:.2f}"]
        rows.append([each.handler, *times, " ".join(each.imported.packages)])
    return markdown(["handler", "with ours, ms", "bare, ms", "apart", "together", "packages asked for"], rows)


def _parser(known: Sequence[str]) -> argparse.ArgumentParser:
    def handlers(text: str) -> list[str]:
        unknown = sorted(set(text.split(",")) - set(known))
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return text.split(",")

    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser("python -m benchmarks.cold_start", None, _DESCRIPTION, _EPILOG, formatter_class=keep)
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    made.add_argument("--rounds", type=count, default=3, metavar="N", help="how often (default: %(default)s)")
    made.add_argument(
        "--handlers", type=handlers, default=list(known), metavar="NAME,NAME", help="which ones (default: all)"
    )
    return made


if __name__ == "__main__":
    run(main)
