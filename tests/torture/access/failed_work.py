"""What failed of a tenant: an import, a volume, and events that could not be published."""

from __future__ import annotations

import json
from typing import Protocol

from tests.support.application.driver import World

_FAILED = "status = 'failed', failure_code = 'NOT_READ', failure_message = :mark, finished_at = NOW(6)"
_GIVEN_UP = (
    "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published, tenant_id, sequence) "
    "VALUES ('thing', :mark, 'thing.happened', :payload, 2, :tenant, 1)"
)


class Owner(Protocol):
    """A tenant, and how many more of everything it has."""

    mark: str
    more: int

    @property
    def name(self) -> str:
        """The tenant's id."""


def fail_work(world: World, tenant: Owner, import_id: int, volume_id: int) -> int:
    """Have the import and the volume failed, and events given up; return the last of these."""
    for table, number in (("imports", import_id), ("volumes", volume_id)):
        world.query(f"UPDATE {table} SET {_FAILED} WHERE id = :id", id=number, mark=tenant.mark)
    for _ in range(tenant.more + 1):
        world.query(_GIVEN_UP, mark=tenant.mark, payload=json.dumps({"tenantId": tenant.name}), tenant=tenant.name)
    return int(world.query("SELECT MAX(id) FROM outbox_events WHERE published = 2")[0][0])
