"""Sixty keys and sixteen clients that race for them: some die inside an effect, some find their lease expired.

The clients that die are held inside their effect until the others have started, so that a key is always raced for
while its owner dies.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from typing import Any

import pytest
from sqlalchemy import text

from core.errors import ConflictError
from core.idempotency import KeyedRequest
from shell.db.session import session
from shell.utils.idempotency import once_per_key
from tests.support.effects import Effects, asking, effect

KEYS, CLIENTS, DYING, ROUNDS = 60, 16, 3, 4
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])


def _request(number: int) -> KeyedRequest:
    return asking(f"k{number}", content=number)


def _dying_client(environment: Mapping[str, str], key: int, inside: Any, may_die: Any) -> None:
    """Claim a key that no client has asked for yet, and be killed inside its effect while the others race."""
    os.environ.update(environment)

    def die() -> None:
        inside.release()
        may_die.wait(60)
        os.kill(os.getpid(), signal.SIGKILL)

    once_per_key(_request(key), effect(f"k{key}", die))


def _racing_client(environment: Mapping[str, str], keys: range, seed: int, may_die: Any) -> None:
    """Ask for every key, in an order of its own; now and then let every lease expire; once refused, end the dying."""
    os.environ.update(environment)
    chosen = random.Random(seed)
    for number in chosen.sample(keys, len(keys)):
        if chosen.random() < 0.05:
            with session() as transaction:
                transaction.execute(text("UPDATE idempotency_keys SET lease_until = NOW(6) - INTERVAL 1 SECOND"))
        try:
            once_per_key(_request(number), effect(f"k{number}"))
        except ConflictError:
            may_die.set()


def _race(effects: Effects, keys: range, seeds: range) -> list[int | None]:
    """Start the dying clients, then the racing ones; return the exit codes of the dying."""
    environment, inside, may_die = dict(effects.world.environment), _FORKS.Semaphore(0), _FORKS.Event()
    dying: list[BaseProcess] = [
        _FORKS.Process(target=_dying_client, args=(environment, key, inside, may_die)) for key in keys[:DYING]
    ]
    racing: list[BaseProcess] = [
        _FORKS.Process(target=_racing_client, args=(environment, keys, seed, may_die)) for seed in seeds
    ]
    for client in dying:
        client.start()
    assert all(inside.acquire(timeout=60) for _ in dying)
    for client in racing:
        client.start()
    for client in racing:
        client.join(120)
    may_die.set()
    for client in dying:
        client.join(30)
    assert {client.exitcode for client in racing} == {0}
    return [client.exitcode for client in dying]


@pytest.mark.slow
def test_racing_clients_that_crash_make_one_effect_a_key(effects: Effects, race_counts: int) -> None:
    rounds, clients = (1, CLIENTS // 2) if race_counts > 1 else (ROUNDS, CLIENTS)
    for round_ in range(rounds):
        keys = range(round_ * KEYS, (round_ + 1) * KEYS)
        exits = _race(effects, keys, range(100 * round_, 100 * round_ + clients))
        assert exits == [-signal.SIGKILL] * DYING
        effects.let_leases_lapse()
        for number in keys:
            once_per_key(_request(number), effect(f"k{number}"))
        assert [effects.count(f"k{number}") for number in keys] == [1] * KEYS
