"""Whether a tenant that was moved has all its rows in both stacks, once, as they were, and may be written in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.torture.clients.ledger import Ledger
from tests.torture.findings import DOUBLED, LOST, UNFINISHED, Finding

if TYPE_CHECKING:
    from tests.torture.stack.cells import Cells


def judge_moves(ledger: Ledger, cells: Cells) -> Iterator[Finding]:
    """All moves of the seed; what the tenant had, the next one must not have changed."""
    for move in ledger.moves:
        for place, found in zip(("source", "target"), cells.read(move.tenant), strict=True):
            for table, rows in move.before.items():
                if missing := (rows - found[table]).total():
                    yield Finding(LOST, f"{missing} rows of {table} of {move.tenant} at the {place}")
                if more := (found[table] - rows).total():
                    yield Finding(DOUBLED, f"{more} more rows of {table} of {move.tenant} at the {place}")
        statuses = cells.get_statuses(move.tenant)
        if statuses.count("active") > 1:
            yield Finding(DOUBLED, f"{move.tenant} is active in both stacks")
        elif statuses != ["leaving", "active"]:
            yield Finding(UNFINISHED, f"{move.tenant} is {statuses}; the last command wrote: {move.last[-600:]}")
