"""Two tenants with one of everything, and whether the responses to one depend on the other.

Each request is made twice: before the other tenant has anything, and after. Both answers must be alike, and what is the
other's must stay as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.support.application.driver import World
from tests.torture.access.attacks import NEW_IDS, Check, attacks, comparable
from tests.torture.access.calls import ApiRequest, ApiResponse, send_as
from tests.torture.access.table_rows import Kept, claim_ids, rows_about
from tests.torture.access.tenants import Tenant, create_tenant
from tests.torture.access.valid_requests import requests_of

OUR_IDS, THEIR_IDS = range(1_000_000, 2_000_000), range(2_000_000, 3_000_000)


STRANGER = "stranger"


@dataclass
class Matrix:
    """The caller, the other tenant, all requests, and the responses where the other has nothing."""

    world: World
    ours: Tenant
    theirs: Tenant
    kept: Kept
    checks: list[Check] = field(default_factory=list)
    expected: dict[str, ApiResponse] = field(default_factory=dict)

    @classmethod
    def create(cls, world: World) -> Matrix:
        """Two tenants, each with ids of its own range, and what is made later with one of a third."""
        claim_ids(world, OUR_IDS)
        ours = create_tenant(world, Tenant("ZQACME", 2024, 7))
        alone = Kept.of(world.engine)
        claim_ids(world, THEIR_IDS)
        theirs = create_tenant(world, Tenant("ZQBETA", 2025, 5, more=1))
        claim_ids(world, NEW_IDS)
        # A tenant's first request creates it; this one has no request before the comparison.
        world.query("INSERT INTO tenants (tenant_id) VALUES (:tenant)", tenant=STRANGER)
        made = cls(world, ours, theirs, Kept.of(world.engine))
        own = [Check("", each) for each in requests_of(ours)]
        made.checks = [Check(each.place, made.fresh(each.request)) for each in (*own, *attacks(ours, theirs))]
        made.expected = made.answers(alone)
        made.kept.put_back(world.engine)
        return made

    def fresh(self, request: ApiRequest) -> ApiRequest:
        """The request without one's own key, which would answer what was answered before."""
        own_key = self.ours.key(request.route)
        if request.values.get("header:Idempotency-Key") != own_key:
            return request
        return request.with_values({"header:Idempotency-Key": "unused-key"})

    def answers(self, at: Kept) -> dict[str, ApiResponse]:
        """What is answered to each request where the tables hold that."""
        found = {}
        for check in self.checks:
            at.put_back(self.world.engine)
            found[str(check)] = comparable(send_as(check.request, self.ours.name, self.ours.user))
        return found

    def violations(self, check: Check) -> Iterator[str]:
        """What is wrong with the answer to one request; all that it did is put back."""
        response = comparable(send_as(check.request, self.ours.name, self.ours.user))
        changed = self.kept.put_back(self.world.engine)
        held = {table: self.kept.rows[table] for table in changed}
        before, after = (rows_about(rows, self.theirs.name, THEIR_IDS) for rows in (held, changed))
        if before != after:
            yield f"{check}: changed what is not one's own in {[each for each in held if before[each] != after[each]]}"
        if response != self.expected[str(check)]:
            yield f"{check}: answered {response}, and {self.expected[str(check)]} where nothing is another's"
