"""Whether nothing was written for a tenant, and nothing started, while its status did not allow that.

That work which waited has ended once is what the other oracles say.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.database.committed_state import Queried
from tests.torture.clients.ledger import Ledger
from tests.torture.findings import MISPLACED, UNFINISHED, Finding
from tests.torture.plans.suspensions import STARTS_NOTHING, SUSPENDED

# Acts and starts are written under a shared lock on the tenant's row, so that none has an id of the time between.
_ACTS = (
    "SELECT action FROM activities WHERE tenant_id = :tenant AND user_id IS NOT NULL AND id > :first AND id <= :last"
)
_STARTS = "SELECT aggregate_id FROM outbox_events WHERE event_type = 'import.started' AND id > :first AND id <= :last"


def judge_suspensions(ledger: Ledger, at: Queried) -> Iterator[Finding]:
    """All suspensions of the seed."""
    if SUSPENDED not in {each.status for each in ledger.suspensions}:
        yield Finding(UNFINISHED, "the tenant was never suspended")
    for each in ledger.suspensions:
        (first, first_event), (last, last_event) = each.begin, each.end
        for row in at.query(_ACTS, tenant=ledger.tenant, first=first, last=last):
            yield Finding(MISPLACED, f"{row.action} was done for a tenant that was {each.status}")
        if each.status in STARTS_NOTHING:
            for row in at.query(_STARTS, first=first_event, last=last_event):
                yield Finding(MISPLACED, f"import {row.aggregate_id} was started for a tenant that was {each.status}")
