"""The operator, who suspends the tenant while its users are at work and releases it again; they wait until then."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from tests.support.database.committed_state import Queried
from tests.torture.clients.api_calls import BY_TENANT, Client
from tests.torture.clients.ledger import BASE, Suspension
from tests.torture.clients.users import expect, until
from tests.torture.plans.suspensions import SuspensionPlan

ACTIVE = "active"
_LAST = "SELECT (SELECT COALESCE(MAX(id), 0) FROM activities), (SELECT COALESCE(MAX(id), 0) FROM outbox_events)"


class Operator:
    """Sets the statuses of the plan; `set_status` returns whether the tool did."""

    def __init__(
        self, client: Client, committed: Queried, set_status: Callable[[str], bool], plan: Sequence[SuspensionPlan]
    ) -> None:
        self._client, self._committed, self._set_status, self._plan = client, committed, set_status, plan

    def run(self) -> None:
        """Until the tenant is active again for good."""
        until(lambda: self._client.get("/cases").status == 200, "the tenant to be there")
        for plan in self._plan:
            time.sleep(plan.after_s)
            try:
                self._suspend(plan)
            finally:
                until(partial(self._set_status, ACTIVE), "the tenant to be released")

    def _suspend(self, plan: SuspensionPlan) -> None:
        """Suspend the tenant, and note the last act and the last event as that begins and ends."""
        until(partial(self._set_status, plan.status), f"the tenant to be {plan.status}")
        begin = self._read_last()
        probe = {"case": BASE, "name": f"Never while {plan.status}"}
        answered = self._client.change("POST", "/custodians", probe, refused_by=BY_TENANT)
        is_so = answered.status == 403 and answered.body["type"].endswith("tenant-refused")
        expect(self._client, is_so, f"changing something of a tenant that is {plan.status}", answered)
        time.sleep(plan.seconds)
        self._client.ledger.suspensions.append(Suspension(plan.status, begin, self._read_last()))

    def _read_last(self) -> tuple[int, int]:
        act, event = self._committed.query(_LAST)[0]
        return int(act), int(event)
