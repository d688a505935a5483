"""An effect that can be counted, and requests for it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.idempotency import KeyedRequest, KeyedResponse
from shell.utils import idempotency
from tests.support.application.driver import World


def asking(
    key: str | None = "k1", *, tenant: str = "acme", route: str = "POST /things", content: int = 1
) -> KeyedRequest:
    """A request; `content` stands for its body."""
    return KeyedRequest(tenant, route, key, content.to_bytes(32, "big"))


def effect(name: str = "thing", before: Callable[[], object] = lambda: None) -> Callable[[Session], KeyedResponse]:
    """Writes a row that `Effects` counts, and answers with the row's id."""

    def write(transaction: Session) -> KeyedResponse:
        before()
        statement = text(
            "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload) "
            "VALUES ('thing', :name, 'made', '{}')"
        )
        made = transaction.execute(statement, {"name": name})
        return KeyedResponse(201, json.dumps({"id": made.lastrowid}), {"Location": "/things/1"})  # type: ignore[attr-defined]

    return write


def claim_and_die(request: KeyedRequest) -> None:
    """Leave what is left of an owner that died inside its effect: a committed claim, and nothing else."""
    idempotency._claim(request, secrets.token_bytes(16), idempotency.LONGEST_LEASE_S)


@dataclass
class Effects:
    """What was committed, seen from a connection of its own."""

    world: World

    def count(self, name: str = "thing") -> int:
        """How many effects there are."""
        return int(self.world.query("SELECT COUNT(*) FROM outbox_events WHERE aggregate_id = :n", n=name)[0][0])

    def let_leases_lapse(self) -> None:
        """As if all owners had died a while ago."""
        self.world.query("UPDATE idempotency_keys SET lease_until = NOW(6) - INTERVAL 1 SECOND")
