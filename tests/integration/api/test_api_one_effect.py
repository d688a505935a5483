"""A hundred requests with one key at once have one effect, whatever breaks meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from functools import partial

import pytest
from redis import Redis

from shell.utils import answer_cache, redis_client
from tests.integration.api.conftest import Matter
from tests.support.api import Client, Reply
from tests.support.api_workers import clients, replies
from tests.support.redis_server import private_redis

REQUESTS = 100
NAMES = {"case": "Smith v. Jones", "fileName": "production.dat"}


@pytest.fixture
def processes(race_counts: int) -> int:
    """One for each request under `make test-full`, else a fifth of that, with five requests in a row."""
    return REQUESTS if race_counts == 1 else REQUESTS // 5


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


def test_a_hundred_requests_with_keys_of_their_own_have_as_many_effects(acme: Matter) -> None:
    """The naive twin: without the key nothing tells a repetition from a new request."""
    for number in range(10):
        assert acme.client.post("/imports", NAMES, key=f"k{number}").status == 201
    assert imports(acme) == 10


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
    answer_cache.keep = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
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


@pytest.mark.usefixtures("with_redis")
def test_a_copy_in_redis_answers_when_it_is_asked_again(acme: Matter) -> None:
    acme.client.post("/imports", NAMES, key="k1")
    acme.world.query("UPDATE idempotency_keys SET response_body = 'asked the database'")
    assert acme.client.post("/imports", NAMES, key="k1").is_replay


def write(name: bytes | str, value: bytes, redis: Redis) -> object:
    return redis.set(name, value)


@pytest.mark.usefixtures("with_redis")
def test_a_copy_that_is_gone_or_damaged_is_made_again(acme: Matter) -> None:
    first = acme.client.post("/imports", NAMES, key="k1")
    (name,) = redis_client.ask(lambda redis: redis.keys("idem:*"))
    for damaged in (b"", b"{", b"[]", b'{"fingerprint": "00"}'):
        redis_client.ask(partial(write, name, damaged))
        assert acme.client.post("/imports", NAMES, key="k1").json["id"] == first.json["id"]
    redis_client.ask(lambda redis: redis.flushall())
    assert acme.client.post("/imports", NAMES, key="k1").is_replay
    assert redis_client.ask(lambda redis: redis.ttl(name)) > 86_000
