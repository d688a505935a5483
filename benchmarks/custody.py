"""`python -m benchmarks.custody`: what locking devices costs and what comparing their versions does, side by side.

Exit codes: 0 measured, 1 overlaps were found or nothing could be measured, 2 the command was called wrongly.
"""

from __future__ import annotations

import itertools
import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from benchmarks.arguments import parser
from benchmarks.clients import Clients, Job
from benchmarks.database import Database, own_database
from benchmarks.errors import BenchmarkError
from benchmarks.figures import WAYS, Cell, Figures, Rounds, figures_of, overlaps, report, table
from benchmarks.workload import Contention
from core.errors import ExhibitIngestError
from local.errors import LocalError
from shell.observability import logger

DONE, FAILED, INTERRUPTED = 0, 1, 130
_BOTH = "in each cell pessimistic / optimistic, and in brackets the latter as a multiple of the former"


def main(
    arguments: Sequence[str] | None = None,
    database: Callable[[str | None], AbstractContextManager[Database]] = own_database,
) -> int:
    """Measure and print; gives the exit code."""
    options = parser().parse_args(arguments)
    logger.setLevel("CRITICAL")
    try:
        clients = Clients(max(options.clients))
        # The clients end before the schema is dropped: one that is in a transaction would hold it.
        with database(options.database_url) as measured, closing(clients):
            server = measured.server()
            rounds = Measurement(clients, measured, options.seconds).rounds(options.clients, options.rounds)
    except (BenchmarkError, ExhibitIngestError, LocalError, SQLAlchemyError) as exc:
        print(f"error: {exc}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("interrupted; what was made on the server is removed", file=sys.stderr)
        return INTERRUPTED
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
        self.database.add_devices(tenant, cell.contention.devices)
        jobs = [
            Job(environment, tenant, cell.contention, client, cell.clients, self.seconds, seed)
            for client in range(cell.clients)
        ]
        before = self.database.deadlocks()
        works = self.clients.work(jobs)
        return figures_of(works, self.database.deadlocks() - before, self.database.overlaps(tenant))


def _cells(counts: Sequence[int], number: int) -> Iterator[Cell]:
    """Those of a round; in every other one the second way goes first."""
    for contention, clients in itertools.product(Contention, counts):
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            yield Cell(clients, contention, way)


if __name__ == "__main__":
    # What ends a job ends it as Ctrl-C does: no schema and no server is left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
