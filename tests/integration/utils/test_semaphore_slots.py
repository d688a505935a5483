"""A slot's end, its owner, its fencing token: by the server's clock, never by the client's."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import cast

import pytest
from redis import Redis
from sqlalchemy import event

from shell.db.session import engine
from shell.deadline import MARGIN_S, invocation_deadline
from shell.utils.semaphore import with_semaphore_lock
from shell.utils.semaphore_backends import Grant, MySqlBackend, SlotRequest
from tests.support.application.captured_log import Log
from tests.support.database.counted_database import until
from tests.support.exhibits.stored_cases import Cases
from tests.support.faults.commit_proxy import CommitProxy, Loss, between_application_and_database
from tests.support.utils.failing_units import Left
from tests.support.utils.semaphore_contenders import (
    PATIENCE_S,
    ByOwnClock,
    Ours,
    Published,
    inside_after_a_late_release,
    inside_with_skewed_clocks,
)
from tests.support.utils.semaphore_stores import Store

SKEWS = [(0, 60), (-60, 0)]


def claim(*, limit: int = 1) -> SlotRequest:
    return SlotRequest("tests", b"n" * 32, secrets.token_bytes(16), limit)


def granted(store: Store, mine: SlotRequest, ttl_s: float) -> Grant:
    """What comes of a claim where the store can tell."""
    grant = store.backend.acquire(mine, ttl_s)
    assert grant is not None
    return grant


@pytest.fixture
def naive_client(redis_url: str) -> Iterator[Redis]:
    """For locks that are not ours."""
    with Redis.from_url(redis_url) as client:
        client.flushall()
        yield client


def test_a_late_holder_does_not_release_the_slot_of_another(store: Store, log: Log) -> None:
    assert inside_after_a_late_release(partial(Ours, "key")) == 1
    assert "semaphore lost before release" in log.messages()
    assert store.holders() == 0


def test_with_a_plain_delete_a_late_holder_lets_two_in(naive_client: Redis) -> None:
    assert inside_after_a_late_release(partial(Published, naive_client, "key")) == 2


def test_a_holder_past_its_lease_gets_an_error_even_if_no_other_came_and_one_in_time_does_not(
    store: Store, log: Log
) -> None:
    with with_semaphore_lock("key"):
        assert store.holders() == 1
    assert log.messages() == []
    with with_semaphore_lock("key", 0.05):
        until(lambda: store.holders() == 0 or store.seconds_left() <= 0)
    assert log.messages() == ["semaphore lost before release"]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("first_s", "second_s"), SKEWS)
def test_a_wrong_clock_of_a_client_changes_nothing(first_s: int, second_s: int) -> None:
    assert inside_with_skewed_clocks(partial(Ours, "key"), first_s, second_s) == 1


@pytest.mark.parametrize(("first_s", "second_s"), SKEWS)
def test_by_the_clients_clocks_two_are_let_in(naive_client: Redis, first_s: int, second_s: int) -> None:
    assert inside_with_skewed_clocks(partial(ByOwnClock, naive_client, "key"), first_s, second_s) == 2


def test_no_slot_outlives_its_lambda(store: Store) -> None:
    with invocation_deadline(Left(3_000)), with_semaphore_lock("key", 600) as slot:
        assert slot
        assert 3 - MARGIN_S < store.seconds_left() <= 3
        with with_semaphore_lock("key") as skipped:
            assert skipped.retry_after_s <= 3


@pytest.mark.usefixtures("store")
def test_no_wait_lasts_past_the_end_of_the_invocation() -> None:
    with (
        with_semaphore_lock("key", 600),
        invocation_deadline(Left(3_000)),
        with_semaphore_lock("key", wait_s=3_600) as slot,
    ):
        assert not slot


def test_asking_again_with_the_same_token_is_no_second_contender(store: Store) -> None:
    mine = claim()
    first, again = granted(store, mine, 10), granted(store, mine, 600)
    assert not granted(store, claim(), 10).granted
    assert (first.granted, again.granted, again.fencing_token > first.fencing_token) == (True, True, True)
    assert store.holders() == 1
    assert store.seconds_left() <= 10


def test_a_slot_is_given_back_once(store: Store) -> None:
    mine, other = claim(limit=2), claim(limit=2)
    for each in (mine, other):
        assert store.backend.acquire(each, 10)
    assert [store.backend.release(mine) for _ in range(2)] == [True, False]
    assert store.holders() == 1


def test_who_is_refused_hears_of_the_holder_who_must_leave_for_it(store: Store) -> None:
    for seconds in (100, 200, 300):
        assert store.backend.acquire(claim(limit=3), seconds)
    for limit, seconds in ((3, 100), (2, 200), (1, 300)):
        refused = granted(store, claim(limit=limit), 1)
        assert not refused.granted
        assert seconds - 5 < refused.free_in_s <= seconds


def fencing_token() -> int:
    """Of a holder who comes and goes."""
    with with_semaphore_lock("key") as slot:
        assert slot
        return slot.fencing_token


def test_fences_grow_even_if_the_server_forgets_everything_or_its_clock_goes_back(store: Store) -> None:
    fences = [fencing_token(), fencing_token()]
    store.delete()
    fences += [fencing_token(), fencing_token()]
    assert fences == sorted(set(fences))
    assert fences[0] > 1_700_000_000_000_000
    ahead = fences[-1] + 10**12
    store.set_fence(ahead)
    assert [fencing_token(), fencing_token()] == [ahead + 1, ahead + 2]


def test_counted_fences_begin_again_when_redis_forgets(naive_client: Redis) -> None:
    before = naive_client.incrby("fencing_token", 100)
    naive_client.flushall()
    assert naive_client.incr("fencing_token") == 1 < before


def test_no_other_holder_enters_between_the_check_and_the_entry_of_one(cases: Cases) -> None:
    """In the database, which a claim asks more than once."""
    backend, others = MySqlBackend(), list[Future[Grant | None]]()

    def entering(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO semaphore_holders") and not others:
            others.append(pool.submit(backend.acquire, claim(), PATIENCE_S))
            until(lambda: others[0].done() or cases.database.waiting() > 0)

    with ThreadPoolExecutor(1) as pool:
        event.listen(engine(), "before_cursor_execute", entering)
        grants = [backend.acquire(claim(), PATIENCE_S), others[0].result(PATIENCE_S)]
        event.remove(engine(), "before_cursor_execute", entering)
    assert [cast(Grant, grant).granted for grant in grants] == [True, False]


@pytest.fixture
def proxy(cases: Cases) -> Iterator[CommitProxy]:
    """The application's way to the database; `cases` looks past it."""
    with between_application_and_database(cases.database.url) as made:
        assert fencing_token()
        yield made


@pytest.mark.parametrize("loss", [Loss.ANSWER, Loss.REQUEST, Loss.SIGHT])
def test_a_lost_commit_makes_one_holder_and_one_release(proxy: CommitProxy, cases: Cases, loss: Loss, log: Log) -> None:
    backend, mine = MySqlBackend(), claim()
    # A COMMIT that is still under way is executed when its repetition waits for it.
    proxy.lose_next(loss, hold=lambda: cases.database.until_waiting(1))
    assert cast(Grant, backend.acquire(mine, PATIENCE_S)).granted
    proxy.lose_next(loss, hold=lambda: cases.database.until_waiting(1))
    assert backend.release(mine) is True
    assert proxy.lost == 2
    assert backend.release(mine) is False
