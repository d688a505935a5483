"""A hundred requests with one key at once have one effect, whatever breaks meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from redis import Redis
from sqlalchemy import text
from sqlalchemy.orm import Session

from core.idempotency import KeyedRequest, KeyedResponse
from shell.api import mutations
from shell.db.session import session
from shell.utils import redis_client, response_cache
from tests.support.api.client import Client, Reply
from tests.support.api.client_processes import clients, meet, replies
from tests.support.exhibits.stored_cases import Matter
from tests.support.servers.redis_server import private_redis

REQUESTS = 100
NAMES = {"case": "Smith v. Jones", "fileName": "production.dat"}


@pytest.fixture
def processes(race_counts: int) -> int:
    """One for each request under `make test-full`, else five with twenty requests in a row."""
    return REQUESTS if race_counts == 1 else REQUESTS // 20


def imports(acme: Matter) -> int:
    return int(acme.world.query("SELECT COUNT(*) FROM imports")[0][0])


def judged(acme: Matter, answers: list[Reply]) -> Counter[int]:
    """One effect; every answer is the one that was made, its replay, or 409 whose later retry is the replay."""
    assert imports(acme) == 1
    made = acme.world.query("SELECT id FROM imports")[0][0]
    kinds = Counter(answer.status for answer in answers)
    assert set(kinds) <= {201, 409}, answers
    assert {answer.json["id"] for answer in answers if answer.status == 201} <= {made}
    assert len([answer for answer in answers if answer.status == 201 and not answer.is_replay]) <= 1
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in answers if answer.status == 409)
    later = Client().post("/imports", NAMES, key="k1")
    assert (later.status, later.is_replay, later.json["id"]) == (201, True, made)
    return kinds


@pytest.mark.slow
def test_a_hundred_requests_with_one_key_have_one_effect(acme: Matter, processes: int) -> None:
    with clients(acme.world.environment, processes) as crowd:
        answers = replies(crowd.begin("/imports", NAMES, "k1", REQUESTS // processes))
    assert len(answers) == REQUESTS
    assert judged(acme, answers)[201] >= 1


def _look_then_store(
    request: KeyedRequest, effect: Callable[[Session], KeyedResponse], _guard: object = None
) -> KeyedResponse:
    """A twin of `once_per_key`: look whether the key is there, make the effect, then store the key."""
    place = {"t": request.tenant_id, "r": request.route, "k": (request.key or "").encode()}
    where = "WHERE tenant_id = :t AND route = :r AND idempotency_key = :k"
    look = text(f"SELECT status_code, response_body FROM idempotency_keys {where}")
    with session() as transaction:
        known = transaction.execute(look, place).one_or_none()
    meet()
    if known is not None:
        return KeyedResponse(known.status_code, known.response_body).as_replay()
    with session() as transaction:
        answer = effect(transaction)
        transaction.execute(_STORE, {**place, "status": answer.status_code, "body": answer.body})
    return answer


_STORE = text(
    "REPLACE INTO idempotency_keys (tenant_id, route, idempotency_key, fingerprint, status, owner, attempt, "
    "lease_until, status_code, response_body) VALUES (:t, :r, :k, '', 'completed', '', 1, NOW(6), :status, :body)"
)


def _use_the_twin() -> None:
    pytest.MonkeyPatch().setattr(mutations, "once_per_key", _look_then_store)


@pytest.mark.slow
def test_a_crowd_that_looks_for_the_key_and_then_stores_it_has_an_effect_each(acme: Matter) -> None:
    with clients(acme.world.environment, 3, _use_the_twin) as crowd:
        first = replies(crowd.begin("/imports", NAMES, "k1", 1))
        later = replies(crowd.begin("/imports", NAMES, "k1", 1))
    assert [(answer.status, answer.is_replay) for answer in first] == [(201, False)] * 3
    assert {(answer.status, answer.is_replay) for answer in later} == {(201, True)}
    assert imports(acme) == 3, "of one key"


@pytest.mark.slow
def test_redis_dies_half_way(acme: Matter, processes: int) -> None:
    with private_redis() as redis:
        environment = {**acme.world.environment, "REDIS_URL": redis.url}
        with clients(environment, processes) as crowd:
            sent = crowd.begin("/imports", NAMES, "k1", REQUESTS // processes)
            sent[0].result(60)
            redis.kill()
            answers = replies([*sent, *crowd.begin("/imports", NAMES, "k1", REQUESTS // processes)])
    judged(acme, answers)


def _dies_before_answering(environment: dict[str, str]) -> None:
    """Killed after the COMMIT: keeping the answer in Redis is what follows it."""
    os.environ.update(environment)
    response_cache.store = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
    Client().post("/imports", NAMES, key="k1")


@pytest.mark.slow
def test_the_process_dies_after_the_commit_and_before_the_answer(acme: Matter, processes: int) -> None:
    fork = multiprocessing.get_context("forkserver")
    dying = fork.Process(target=_dies_before_answering, args=(dict(acme.world.environment),))
    dying.start()
    dying.join(60)
    assert dying.exitcode == -signal.SIGKILL
    with clients(acme.world.environment, processes) as crowd:
        answers = replies(crowd.begin("/imports", NAMES, "k1", REQUESTS // processes))
    assert judged(acme, answers) == {201: REQUESTS}


def write(name: bytes | str, value: bytes, redis: Redis) -> object:
    return redis.set(name, value)


@pytest.mark.usefixtures("with_redis")
def test_a_copy_that_is_gone_or_damaged_is_made_again(acme: Matter) -> None:
    """A sound copy answers without the database."""
    first = acme.client.post("/imports", NAMES, key="k1")
    (name,) = redis_client.execute(lambda redis: redis.keys("idem:*"))
    for damaged in (b"", b"{", b"[]", b'{"fingerprint": "00"}'):
        redis_client.execute(partial(write, name, damaged))
        assert acme.client.post("/imports", NAMES, key="k1").json["id"] == first.json["id"]
    redis_client.execute(lambda redis: redis.flushall())
    assert acme.client.post("/imports", NAMES, key="k1").is_replay
    acme.world.query("UPDATE idempotency_keys SET response_body = 'queried the database'")
    assert acme.client.post("/imports", NAMES, key="k1").is_replay
    assert redis_client.execute(lambda redis: redis.ttl(name)) > 86_000
