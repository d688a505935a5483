"""`python -m benchmarks.cold_start`: import time of each handler, compared with that of its third-party packages.

Exit codes: 0 every handler is within the goal, 1 a handler is not or the benchmark failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.arguments import count
from benchmarks.import_timing import ImportedModules, SourceTree
from benchmarks.output import DONE, FAILED, run_command, run_measurement
from benchmarks.output import table as markdown

GOAL = 1.15
_DESCRIPTION = f"""\
Imports each handler in a new interpreter, and in another one only the third-party modules that the application imports
(bare). Measures the processor time of both in turns; `apart` is the median of the rounds' ratios. Two identical
processes can differ by more than the application's own import time, so this ratio needs dozens of rounds. Therefore
both are also measured in one process, the bare import first; the goal of {GOAL} applies to the median of these ratios
(`together`)."""
_EPILOG = """\
examples:
  python -m benchmarks.cold_start
      all handlers, two or three minutes; prints a Markdown table for docs/performance.md
  python -m benchmarks.cold_start --handlers import_chunk,produce --rounds 50
      two handlers, with a smaller error
  python -m benchmarks.cold_start --json
      the result as one JSON object, with every imported module

exit status: 0 all handlers are within the goal; 1 one is not, or the benchmark failed; 2 wrong usage"""


@dataclass(frozen=True)
class Figures:
    """The figures of one handler: milliseconds of both imports in each round, and the imported modules."""

    handler: str
    imported: ImportedModules
    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    together: list[float] = field(default_factory=list)

    def measure(self, sources: SourceTree, *, bare_first: bool) -> None:
        """Measure one more round."""
        variants = [(self.ours, f"import {self.handler}"), (self.bare, self.imported.bare())]
        for times, statements in reversed(variants) if bare_first else variants:
            times.append(sources.milliseconds(statements))
        self.together.append(sources.together(self.handler, self.imported))

    @property
    def ratio(self) -> float:
        """Return the median ratio over the rounds, with both imports in one process; the goal applies to it."""
        return median(self.together)

    @property
    def apart(self) -> float:
        """Return the median ratio over the rounds, with each import in its own process."""
        return median(handler / bare for handler, bare in zip(self.ours, self.bare, strict=True))

    def report(self) -> dict[str, object]:
        """Return the figures and the import statements of the bare import."""
        times = {"handler_ms": round(median(self.ours), 1), "bare_ms": round(median(self.bare), 1)}
        ratios = {"ratio": round(self.ratio, 3), "ratio_apart": round(self.apart, 3)}
        modules = {"modules": len(self.imported.loaded), "bare": self.imported.bare().splitlines()}
        return {"handler": self.handler, **times, **ratios, **modules}


def main(arguments: Sequence[str] | None = None, sources: SourceTree | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    tree = sources or SourceTree()
    options = _parser(tree.handlers()).parse_args(arguments)
    return run_measurement(lambda: _report(options, measure(tree, options.handlers, options.rounds)))


def _report(options: argparse.Namespace, found: Sequence[Figures]) -> int:
    setup = {"python": sys.version.split()[0], "rounds": options.rounds, "goal": GOAL}
    reports = [figures.report() for figures in found]
    print(json.dumps({**setup, "handlers": reports}, indent=2) if options.json else table(found))
    return check_result(found)


def measure(sources: SourceTree, handlers: Sequence[str], rounds: int) -> list[Figures]:
    """Measure all handlers in each round, and print a line per round on standard error.

    Every other round starts with the bare import. Recording the imports first also leaves compiled modules on disk for
    all rounds.
    """
    found = [Figures(handler, sources.imported(handler)) for handler in handlers]
    for number in range(rounds):
        for figures in found:
            figures.measure(sources, bare_first=bool(number % 2))
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return found


def check_result(found: Sequence[Figures]) -> int:
    """Return the exit code; print the handlers that exceed the goal."""
    over = [f"{figures.handler} ({figures.ratio:.2f})" for figures in found if figures.ratio > GOAL]
    if over:
        advice = "repeat with more --rounds; python -X importtime -c 'import <handler>' shows the time of each module"
        print(f"error: above the goal of {GOAL}: {', '.join(over)}; {advice}", file=sys.stderr)
    return FAILED if over else DONE


def table(found: Sequence[Figures]) -> str:
    """Return a Markdown table with a row per handler."""
    rows = []
    for each in found:
        times = [f"{median(each.ours):.0f}", f"{median(each.bare):.0f}", f"{each.apart:.2f}", f"{each.ratio:.2f}"]
        rows.append([each.handler, *times, " ".join(each.imported.packages)])
    return markdown(["handler", "handler, ms", "bare, ms", "apart", "together", "imported packages"], rows)


def _parser(known: Sequence[str]) -> argparse.ArgumentParser:
    def handlers(text: str) -> list[str]:
        unknown = sorted(set(text.split(",")) - set(known))
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not a handler; use {', '.join(known)}")
        return text.split(",")

    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.cold_start", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    made.add_argument("--rounds", type=count, default=3, metavar="N", help="number of rounds (default: %(default)s)")
    made.add_argument(
        "--handlers", type=handlers, default=list(known), metavar="NAME,NAME", help="handlers to measure (default: all)"
    )
    return made


if __name__ == "__main__":
    run_command(main)
