"""`python -m benchmarks.custody`: pessimistic and optimistic locking of devices, compared.

Exit codes: 0 measured, 1 overlaps were found or the benchmark failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass

from benchmarks.custody.arguments import parser
from benchmarks.custody.clients import Clients, Job
from benchmarks.custody.devices import add_devices
from benchmarks.custody.devices import overlaps as overlaps_of
from benchmarks.custody.figures import STRATEGIES, Cell, Figures, Rounds, build_figures, overlaps, report, table
from benchmarks.custody.workload import Contention
from benchmarks.database import Database, temporary_database
from benchmarks.output import DONE, FAILED, run_measurement

_LEGEND = "each cell: pessimistic / optimistic, in parentheses the latter as a multiple of the former"


def main(
    arguments: Sequence[str] | None = None,
    database: Callable[[str | None], AbstractContextManager[Database]] = temporary_database,
) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = parser().parse_args(arguments)
    return run_measurement(
        lambda: _report(options, *_measure(options, database)), "the schema on the server is removed"
    )


def _measure(
    options: argparse.Namespace, database: Callable[[str | None], AbstractContextManager[Database]]
) -> tuple[str, Rounds]:
    clients = Clients(max(options.clients))
    # The clients end before the schema is dropped: a client in a transaction would block that.
    with database(options.database_url) as measured, closing(clients):
        rounds = Measurement(clients, measured, options.seconds).rounds(options.clients, options.rounds)
        return measured.server(), rounds


def _report(options: argparse.Namespace, server: str, rounds: Rounds) -> int:
    result = {"server": server, "seconds": options.seconds, "rounds": options.rounds, **report(rounds)}
    print(json.dumps(result, indent=2) if options.json else f"{server}; {_LEGEND}\n\n{table(rounds)}")
    return _check_result(overlaps(rounds))


def _check_result(overlapping: int) -> int:
    if overlapping:
        print(f"error: {overlapping} periods overlap another period of their device", file=sys.stderr)
    return FAILED if overlapping else DONE


@dataclass(frozen=True)
class Measurement:
    """The clients and the database of a measurement, and the seconds per cell."""

    clients: Clients
    database: Database
    seconds: float

    def rounds(self, counts: Sequence[int], rounds: int) -> Rounds:
        """Measure every cell in each round, for each number of clients; print a line per cell on standard error."""
        found: Rounds = {}
        for number in range(rounds):
            for cell in _cells(counts, number):
                figures = self.figures(cell, number)
                found.setdefault(cell, []).append(figures)
                line = f"{cell.contention} contention, clients: {cell.clients}, {cell.strategy}"
                rate = f"{figures.requests_per_s:.0f} requests/s"
                print(f"round {number + 1} of {rounds}: {line}: {rate}", file=sys.stderr)
        return found

    def figures(self, cell: Cell, number: int) -> Figures:
        """Measure one cell in one round, on new devices, with the same requests for both strategies."""
        seed = f"{cell.contention} {cell.clients} {number}"
        tenant, environment = f"{seed} {cell.strategy}", {**self.database.environment, "CUSTODY_LOCKING": cell.strategy}
        add_devices(self.database, tenant, cell.contention.devices)
        jobs = [
            Job(environment, tenant, cell.contention, client, cell.clients, self.seconds, seed)
            for client in range(cell.clients)
        ]
        before = self.database.deadlocks()
        works = self.clients.work(jobs)
        return build_figures(works, self.database.deadlocks() - before, overlaps_of(self.database, tenant))


def _cells(counts: Sequence[int], number: int) -> Iterator[Cell]:
    """Yield the cells of a round; in every other round the second strategy is first."""
    for contention, clients in itertools.product(Contention, counts):
        for strategy in STRATEGIES if number % 2 == 0 else reversed(STRATEGIES):
            yield Cell(clients, contention, strategy)
