"""A COMMIT whose answer is lost, of the claim or of the effect: still one effect, and its answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlalchemy.orm import Session

from core.errors import CommitOutcomeUnknownError
from core.idempotency import KeyedResponse
from shell.db.session import session
from shell.utils.idempotency import once_per_key
from tests.support.exhibits.stored_cases import Cases
from tests.support.faults.commit_proxy import CommitProxy, Loss, between_application_and_database
from tests.support.utils.counted_effects import Effects, asking, effect

LOSSES = [Loss.ANSWER, Loss.REQUEST, Loss.STEP, Loss.SIGHT]


@pytest.fixture
def proxy(effects: Effects, cases: Cases) -> Iterator[CommitProxy]:
    """The application's way to the database; `cases` looks past it."""
    with between_application_and_database(cases.database.url) as made:
        yield made


@pytest.mark.parametrize("loss", LOSSES)
def test_the_claims_commit_is_lost(effects: Effects, cases: Cases, proxy: CommitProxy, loss: Loss) -> None:
    # A COMMIT that is still under way is executed when its repetition waits for it.
    proxy.lose_next(loss, hold=lambda: cases.database.until_waiting(1))
    assert once_per_key(asking(), effect()).status_code == 201
    assert (proxy.lost, effects.count()) == (1, 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_effects_commit_is_lost(effects: Effects, cases: Cases, proxy: CommitProxy, loss: Loss) -> None:
    attempts: list[int] = []

    def losing(transaction: Session) -> KeyedResponse:
        if not attempts:
            proxy.lose_next(loss, hold=lambda: cases.database.until_waiting(1))
        attempts.append(1)
        return effect()(transaction)

    first = once_per_key(asking(), losing)
    again = once_per_key(asking(), effect())
    assert (proxy.lost, effects.count()) == (1, 1)
    assert (again.body, again.is_replay) == (first.body, True)


def test_without_the_claim_a_lost_answer_doubles_the_effect(effects: Effects, proxy: CommitProxy) -> None:
    """The negative control: the transaction is simply made again."""
    for loss in (Loss.ANSWER, Loss.NONE):
        proxy.lose_next(loss)
        with suppress(CommitOutcomeUnknownError), session() as transaction:
            effect()(transaction)
    assert effects.count() == 2
