"""Answers that were given under a tenant's idempotency keys."""

from __future__ import annotations

import re
from typing import Protocol

from tests.support.application.driver import World


class Owner(Protocol):
    """A tenant, with its key for each route."""

    mark: str

    @property
    def name(self) -> str:
        """The tenant's id."""

    def key(self, route: str) -> str:
        """An idempotency key that this tenant has used on the route."""


def use_key(world: World, tenant: Owner, route: str) -> None:
    """An answer that was given under the key to another request."""
    said = {"tenant": tenant.name, "route": _stored(route), "key": tenant.key(route).encode(), "mark": tenant.mark}
    world.query(
        "INSERT INTO idempotency_keys (tenant_id, route, idempotency_key, fingerprint, status, owner, attempt, "
        "lease_until, status_code, response_headers, response_body) VALUES (:tenant, :route, :key, "
        "REPEAT('f', 32), 'completed', REPEAT('o', 16), 1, NOW(6), 200, '{}', JSON_OBJECT('answer', :mark))",
        **said,
    )


def _stored(route: str) -> str:
    """As the application names a route: `POST /imports/{import_id}/retry`."""
    return re.sub(r"{(\w+)}", lambda found: "{" + re.sub("([A-Z])", r"_\1", found[1]).lower() + "}", route)
