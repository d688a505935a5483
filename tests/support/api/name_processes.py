"""Requests of one user that are all within their transactions at once, each in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.synchronize import Barrier
from threading import BrokenBarrierError
from typing import cast

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.cases import Case
from core.idempotency import KeyedRequest
from core.timestamps import parse_timestamp
from shell.activity_log import record_no_act
from shell.api.mutations import run_idempotent
from shell.api.requests import ApiRequest
from tests.support.api.client_processes import _FORKS

_barrier: Barrier | None = None
Write = Callable[[Session], None]


@dataclass(frozen=True)
class Sent:
    """A request of one user, under a key of its own."""

    number: int
    caller: Caller

    def keyed(self, _key: str | None) -> KeyedRequest:
        """The request."""
        return KeyedRequest(self.caller.tenant_id, "POST /test", f"key {self.number}", b"f" * 32)


def write_nothing(_transaction: Session) -> None:
    """What an effect writes."""


def write_name(transaction: Session) -> None:
    """The obvious way: an upsert of equal values, in the transaction of the request."""
    transaction.execute(
        text(
            "INSERT INTO users (tenant_id, user_id, name) VALUES ('acme', 'service', 'Service account') "
            "ON DUPLICATE KEY UPDATE name = VALUES(name)"
        )
    )


def _prepare(environment: Mapping[str, str], barrier: Barrier) -> None:
    global _barrier
    os.environ.update(environment)
    _barrier = barrier


def _meet(write: Write, patience_s: float, transaction: Session, _caller: Caller) -> Case:
    """Write, and wait within the transaction until all others have written."""
    write(transaction)
    record_no_act(transaction)
    if _barrier is not None:
        _barrier.wait(patience_s)
    return Case(id=1, name="Case", created_at=parse_timestamp("2026-01-01T00:00:00Z"))


def _send(number: int, caller: Caller, write: Write, patience_s: float) -> bool:
    try:
        run_idempotent(cast("ApiRequest", Sent(number, caller)), "key", partial(_meet, write, patience_s))
    except BrokenBarrierError:
        return False
    return True


def send_all(
    environment: Mapping[str, str], count: int, caller: Caller, write: Write, patience_s: float = 120
) -> list[bool]:
    """Send so many requests at once; returns of each whether it met all others within its transaction."""
    with ProcessPoolExecutor(count, _FORKS, _prepare, (dict(environment), _FORKS.Barrier(count))) as pool:
        sent = [pool.submit(_send, number, caller, write, patience_s) for number in range(count)]
        return [each.result() for each in sent]
