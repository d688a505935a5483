"""A COMMIT whose answer is lost, of the claim or of the effect: still one effect, and its answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.orm import Session

from core.errors import CommitOutcomeUnknownError
from core.idempotency import Answer
from shell.settings import settings
from shell.utils import db_session
from shell.utils.db_session import session
from shell.utils.idempotency import once_per_key
from tests.integration.idempotency.conftest import Effects, asking, effect
from tests.support.commit_proxy import CommitProxy, Loss, commit_proxy

LOSSES = [Loss.ANSWER, Loss.REQUEST, Loss.STEP, Loss.SIGHT]


@pytest.fixture
def proxy(effects: Effects, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommitProxy]:
    """The application's way to the database; `effects` looks from behind it."""
    with commit_proxy(make_url(effects.world.environment["DATABASE_URL"])) as (made, through):
        with monkeypatch.context() as patch:
            patch.setenv("DATABASE_URL", through.render_as_string(hide_password=False))
            settings.cache_clear()
            db_session.engine.cache_clear()
            # Opening a connection commits too, and that is not the COMMIT which is to be lost.
            with session() as opening:
                opening.execute(text("SELECT 1"))
            yield made
            db_session.engine().dispose()
        settings.cache_clear()
        db_session.engine.cache_clear()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_claims_commit_is_lost(effects: Effects, proxy: CommitProxy, loss: Loss) -> None:
    proxy.lose_next(loss)
    assert once_per_key(asking(), effect()).status_code == 201
    assert (proxy.lost, effects.count()) == (1, 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_effects_commit_is_lost(effects: Effects, proxy: CommitProxy, loss: Loss) -> None:
    attempts: list[int] = []

    def losing(transaction: Session) -> Answer:
        if not attempts:
            proxy.lose_next(loss)
        attempts.append(1)
        return effect()(transaction)

    first = once_per_key(asking(), losing)
    again = once_per_key(asking(), effect())
    assert (proxy.lost, effects.count()) == (1, 1)
    assert (again.body, again.is_replay) == (first.body, True)


def test_without_the_claim_a_lost_answer_doubles_the_effect(effects: Effects, proxy: CommitProxy) -> None:
    """The naive twin: the transaction is simply made again."""
    for loss in (Loss.ANSWER, Loss.NONE):
        proxy.lose_next(loss)
        with suppress(CommitOutcomeUnknownError), session() as transaction:
            effect()(transaction)
    assert effects.count() == 2
