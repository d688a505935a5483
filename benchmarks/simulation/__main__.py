"""`python -m benchmarks.simulation`: a month of a fleet of cells by the model, or the model beside this machine.

Exit codes: 0 done, 1 failed, or the model is too far from the machine, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

from benchmarks.arguments import count, number
from benchmarks.output import DONE, FAILED, run_command, run_measurement, table
from benchmarks.simulation.load import Load
from benchmarks.simulation.sweeps import HEAD, Sweep, draw_charts, run_concurrencies, run_sizes
from benchmarks.simulation.validate import Sizes, validate

_DESCRIPTION = """\
`month` simulates a month of many tenants on Lambda, SQS and Aurora, by costs that were measured on one machine and by
assumptions about AWS that its modules name: how long imports take, what limits them, how much of the database they use,
and the cost, by tenants per cell, Size and ChunkConcurrency. `validate` measures this machine and prints what the model
predicts for it beside that; it fails where a figure is off by more than a fifth."""
_EPILOG = """\
examples:
  python -m benchmarks.simulation month --plots docs/simulation
      1,000 tenants; five minutes; the tables and charts of docs/operations.md
  python -m benchmarks.simulation month --tenants 20 --json
      fewer tenants; one JSON object
  python -m benchmarks.simulation validate
      about five minutes on an idle machine

exit status: 0 done; 1 failed, or a prediction is off by more than a fifth; 2 wrong usage; 130 interrupted"""
_MOST_OFF = 0.2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the simulation, print the result and return the exit code."""
    options = _parser().parse_args(arguments)
    work = _run_month if options.command == "month" else _run_validation
    return run_measurement(lambda: work(options))


def _run_month(options: argparse.Namespace) -> int:
    sweep = Sweep(replace(Load(), tenants=options.tenants, seed=options.seed))
    sweep = replace(sweep, cell_sizes=[each for each in sweep.cell_sizes if each <= options.tenants])
    sizes, concurrencies = run_sizes(sweep), run_concurrencies(sweep)
    if options.plots:
        options.plots.mkdir(parents=True, exist_ok=True)
        for name, drawing in draw_charts(sizes, concurrencies).items():
            (options.plots / name).write_text(drawing, encoding="utf-8")
    results = [*chain.from_iterable(sizes.values()), *concurrencies]
    if options.json:
        print(json.dumps([asdict(each) for each in results], indent=2))
    else:
        print(table(HEAD, [each.format() for each in results]))
    return DONE


def _run_validation(options: argparse.Namespace) -> int:
    compared = validate(Sizes(rounds=options.rounds))
    if options.json:
        print(json.dumps([asdict(each) for each in compared], indent=2))
    else:
        print(table(["figure", "predicted", "measured", "ratio"], [each.format() for each in compared]))
    off = [each.name for each in compared if not 1 - _MOST_OFF <= each.ratio <= 1 + _MOST_OFF]
    for name in off:
        print(f"error: off by more than a fifth: {name}", file=sys.stderr)
    return FAILED if off else DONE


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.simulation", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    month = commands.add_parser("month", help="simulate a month", allow_abbrev=False)
    month.add_argument("--tenants", type=number(10, 10_000), default=1_000, metavar="N", help="default: %(default)s")
    month.add_argument("--seed", type=number(0, 1_000_000), default=1, metavar="N", help="default: %(default)s")
    month.add_argument("--plots", type=Path, metavar="FOLDER", help="write the charts there")
    check = commands.add_parser("validate", help="compare the model with this machine", allow_abbrev=False)
    check.add_argument("--rounds", type=count, default=3, metavar="N", help="default: %(default)s")
    for each in (month, check):
        each.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return made


if __name__ == "__main__":
    run_command(main)
