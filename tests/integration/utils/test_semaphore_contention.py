"""Never more than the limit inside, and every slot used, as counted outside of the semaphore."""

from __future__ import annotations

import pytest
from redis import Redis

from shell.utils.semaphore import SemaphoreOutcome, with_semaphore_lock
from tests.support.application.captured_log import Log
from tests.support.application.driver import World
from tests.support.database.counted_database import barrier, together, until
from tests.support.utils.semaphore_contenders import PATIENCE_S, Judge
from tests.support.utils.semaphore_stores import Store


def test_many_contenders_fill_every_slot_and_never_more(store: Store) -> None:
    contenders, limit, judge = 12, 3, Judge()
    start = barrier(contenders)

    def contender() -> None:
        start.wait()
        with with_semaphore_lock("contended", PATIENCE_S, limit=limit, wait_s=PATIENCE_S) as slot:
            assert slot.outcome is SemaphoreOutcome.ACQUIRED
            with judge.inside():
                # No holder leaves before all slots were taken once: then all slots can be used.
                until(lambda: judge.most >= limit)

    together(*[contender] * contenders)
    assert (judge.entered, judge.most) == (contenders, limit)
    assert store.holders() == 0


def test_counting_first_and_entering_then_lets_too_many_in(with_redis: str) -> None:
    start, judge = barrier(2), Judge()

    def naive() -> None:
        with Redis.from_url(with_redis) as client:
            free = client.zcard("naive") == 0
            start.wait()
            if free:
                with judge.inside():
                    client.zadd("naive", {str(id(client)): 1})
                    start.wait()

    together(naive, naive)
    assert judge.most == 2


@pytest.mark.usefixtures("store")
def test_who_finds_it_held_is_skipped_and_logged_until_it_is_free(log: Log) -> None:
    with with_semaphore_lock("import 7", 30) as first, with_semaphore_lock("import 7") as second:
        assert (first.outcome, second.outcome) == (SemaphoreOutcome.ACQUIRED, SemaphoreOutcome.SKIPPED)
        assert 1 <= second.retry_after_s <= 30
        assert second.fencing_token == 0 < first.fencing_token
    (line,) = log.lines()
    assert (line["level"], line["message"], line["key"]) == ("INFO", "semaphore skipped", "import 7")
    assert (line["namespace"], len(line["semaphore"])) == ("semaphore_lock", 16)
    with with_semaphore_lock("import 7") as third:
        assert third.outcome is SemaphoreOutcome.ACQUIRED


@pytest.mark.usefixtures("store")
def test_keys_and_namespaces_do_not_meet() -> None:
    with (
        with_semaphore_lock("key") as first,
        with_semaphore_lock("other key") as second,
        with_semaphore_lock("key", namespace="other") as third,
    ):
        assert all((first, second, third))


@pytest.mark.usefixtures("store")
def test_who_waits_in_vain_is_skipped() -> None:
    with with_semaphore_lock("key", 30), with_semaphore_lock("key", wait_s=0.3) as late:
        assert late.outcome is SemaphoreOutcome.SKIPPED


def test_a_lock_that_gets_its_end_in_a_second_command_has_none_if_its_holder_dies_between(redis_url: str) -> None:
    with Redis.from_url(redis_url) as client:
        client.setnx("naive", "locked")  # and here it dies, before EXPIRE
        for_ever = -1
        assert client.ttl("naive") == for_ever


def test_no_key_is_the_name_of_anything_in_redis(with_redis: str, world: World) -> None:
    with with_semaphore_lock("Smith v. Jones {x}\r\n*"), Redis.from_url(with_redis) as client:
        names = b" ".join(client.scan_iter())
        assert b"semaphore_lock:{" in names
        assert b"Smith" not in names
    assert world.query("SELECT COUNT(*) FROM semaphores")[0][0] == 0
