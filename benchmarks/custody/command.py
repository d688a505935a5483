"""`python -m benchmarks.custody`: what locking devices costs and what comparing their versions does, side by side.

Exit codes: 0 measured, 1 overlaps were found or nothing could be measured, 2 the command was called wrongly.
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
from benchmarks.custody.figures import WAYS, Cell, Figures, Rounds, figures_of, overlaps, report, table
from benchmarks.custody.workload import Contention
from benchmarks.database import Database, own_database
from benchmarks.telling import DONE, FAILED, ending

_BOTH = "in each cell pessimistic / optimistic, and in brackets the latter as a multiple of the former"


def main(
    arguments: Sequence[str] | None = None,
    database: Callable[[str | None], AbstractContextManager[Database]] = own_database,
) -> int:
    """Measure and print; gives the exit code."""
    options = parser().parse_args(arguments)
    return ending(lambda: _told(options, *_measured(options, database)), "what was made on the server is removed")


def _measured(
    options: argparse.Namespace, database: Callable[[str | None], AbstractContextManager[Database]]
) -> tuple[str, Rounds]:
    clients = Clients(max(options.clients))
    # The clients end before the schema is dropped: one that is in a transaction would hold it.
    with database(options.database_url) as measured, closing(clients):
        rounds = Measurement(clients, measured, options.seconds).rounds(options.clients, options.rounds)
        return measured.server(), rounds


def _told(options: argparse.Namespace, server: str, rounds: Rounds) -> int:
    said = {"server": server, "seconds": options.seconds, "rounds": options.rounds, **report(rounds)}
    print(json.dumps(said, indent=2) if options.json else f"{server}; {_BOTH}\n\n{table(rounds)}")
    return _judged(overlaps(rounds))


def _judged(overlapping: int) -> int:
    if overlapping:
        print(f"error: {overlapping} periods overlap another one; that must never happen", file=sys.stderr)
    return FAILED if overlapping else DONE


@dataclass(frozen=True)
class Measurement:
    """Who records where, and for how long at a time."""

    clients: Clients
    database: Database
    seconds: float

    def rounds(self, counts: Sequence[int], rounds: int) -> Rounds:
        """So many rounds of every cell, with each of these counts of clients; a line on standard error for each."""
        found: Rounds = {}
        for number in range(rounds):
            for cell in _cells(counts, number):
                figures = self.figures(cell, number)
                found.setdefault(cell, []).append(figures)
                line = f"{cell.contention} contention, clients: {cell.clients}, {cell.strategy}"
                said = f"round {number + 1} of {rounds}: {line}: {figures.requests_per_s:.0f} requests/s"
                print(said, file=sys.stderr)
        return found

    def figures(self, cell: Cell, number: int) -> Figures:
        """Of one cell in one round: on devices of its own, by requests that are the same for both ways."""
        seed = f"{cell.contention} {cell.clients} {number}"
        tenant, environment = f"{seed} {cell.strategy}", {**self.database.environment, "CUSTODY_LOCKING": cell.strategy}
        add_devices(self.database, tenant, cell.contention.devices)
        jobs = [
            Job(environment, tenant, cell.contention, client, cell.clients, self.seconds, seed)
            for client in range(cell.clients)
        ]
        before = self.database.deadlocks()
        works = self.clients.work(jobs)
        return figures_of(works, self.database.deadlocks() - before, overlaps_of(self.database, tenant))


def _cells(counts: Sequence[int], number: int) -> Iterator[Cell]:
    """Those of a round; in every other one the second way goes first."""
    for contention, clients in itertools.product(Contention, counts):
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            yield Cell(clients, contention, way)
