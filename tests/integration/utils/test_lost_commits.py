"""A COMMIT whose answer is lost, of the claim or of the effect: still one effect, and its answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlalchemy import make_url
from sqlalchemy.orm import Session

from core.errors import CommitOutcomeUnknownError
from core.idempotency import KeyedResponse
from shell.db.session import session
from shell.utils.idempotency import once_per_key
from tests.support.commit_proxy import CommitProxy, Loss, between_application_and_database
from tests.support.effects import Effects, asking, effect

LOSSES = [Loss.ANSWER, Loss.REQUEST, Loss.STEP, Loss.SIGHT]


@pytest.fixture
def proxy(effects: Effects) -> Iterator[CommitProxy]:
    """The application's way to the database; `effects` looks from behind it."""
    with between_application_and_database(make_url(effects.world.environment["DATABASE_URL"])) as made:
        yield made


@pytest.mark.parametrize("loss", LOSSES)
def test_the_claims_commit_is_lost(effects: Effects, proxy: CommitProxy, loss: Loss) -> None:
    proxy.lose_next(loss)
    assert once_per_key(asking(), effect()).status_code == 201
    assert (proxy.lost, effects.count()) == (1, 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_effects_commit_is_lost(effects: Effects, proxy: CommitProxy, loss: Loss) -> None:
    attempts: list[int] = []

    def losing(transaction: Session) -> KeyedResponse:
        if not attempts:
            proxy.lose_next(loss)
        attempts.append(1)
        return effect()(transaction)

    first = once_per_key(asking(), losing)
    again = once_per_key(asking(), effect())
    assert (proxy.lost, effects.count()) == (1, 1)
    assert (again.body, again.is_replay) == (first.body, True)


@pytest.mark.slow
def test_many_requests_that_lose_commits_have_one_effect_each(
    effects: Effects, proxy: CommitProxy, race_counts: int
) -> None:
    """Of the claim's COMMIT or the effect's, by turns, and in every way."""
    times = 1000 // race_counts
    for number in range(times):
        proxy.lose_next(LOSSES[number // 2 % len(LOSSES)], after=number % 2)
        assert once_per_key(asking(f"k{number}"), effect(f"thing {number}")).status_code == 201
    assert proxy.lost == times
    assert [effects.count(f"thing {number}") for number in range(times)] == [1] * times


def test_without_the_claim_a_lost_answer_doubles_the_effect(effects: Effects, proxy: CommitProxy) -> None:
    """The negative control: the transaction is simply made again."""
    for loss in (Loss.ANSWER, Loss.NONE):
        proxy.lose_next(loss)
        with suppress(CommitOutcomeUnknownError), session() as transaction:
            effect()(transaction)
    assert effects.count() == 2
