"""Sixty keys, sixteen clients that race for them, crash and come late: one effect a key."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
from collections.abc import Mapping
from contextlib import suppress

import pytest
from sqlalchemy import text

from core.errors import ConflictError
from core.idempotency import KeyedRequest
from shell.utils.db_session import session
from shell.utils.idempotency import once_per_key
from tests.support.effects import Effects, asking, effect

KEYS, CLIENTS, ROUNDS = 60, 16, 4
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])


def _request(number: int) -> KeyedRequest:
    return asking(f"k{number}", content=number)


def _client(environment: Mapping[str, str], seed: int) -> None:
    """Asks for every key, in an order of its own; now and then it ends leases, or dies inside of an effect."""
    os.environ.update(environment)
    chosen = random.Random(seed)
    for number in chosen.sample(range(KEYS), KEYS):
        fate = chosen.random()
        if fate < 0.05:
            with session() as transaction:
                transaction.execute(text("UPDATE idempotency_keys SET lease_until = NOW(6) - INTERVAL 1 SECOND"))
        before = (lambda: os.kill(os.getpid(), signal.SIGKILL)) if fate > 0.97 else (lambda: None)
        with suppress(ConflictError):
            once_per_key(_request(number), effect(f"k{number}", before))


@pytest.mark.slow
def test_racing_clients_that_crash_make_one_effect_a_key(effects: Effects, race_counts: int) -> None:
    crashes = 0
    few = race_counts > 1
    for round_ in range(1 if few else ROUNDS):
        clients = [
            _FORKS.Process(target=_client, args=(dict(effects.world.environment), 100 * round_ + seed))
            for seed in range(CLIENTS // 2 if few else CLIENTS)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join(120)
        crashes += sum(client.exitcode == -signal.SIGKILL for client in clients)
        assert {client.exitcode for client in clients} <= {0, -signal.SIGKILL}
    effects.let_leases_lapse()
    for number in range(KEYS):
        once_per_key(_request(number), effect(f"k{number}"))
    assert crashes
    assert [effects.count(f"k{number}") for number in range(KEYS)] == [1] * KEYS
