"""One effect a key, whoever asks again, dies or is late."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import BusyError, InvalidInputError, KeyReusedError
from core.idempotency import KeyedResponse
from shell.db.session import session
from shell.utils.idempotency import once_per_key
from tests.support.cases import Cases
from tests.support.database import barrier, outcome, together
from tests.support.effects import Effects, asking, claim_and_die, effect


def failing(_transaction: Session) -> KeyedResponse:
    raise InvalidInputError("no such thing")


def test_a_repetition_has_the_first_answer_and_no_effect(effects: Effects) -> None:
    first = once_per_key(asking(), effect())
    again = once_per_key(asking(), failing)
    assert (again.status_code, again.body, again.headers) == (first.status_code, first.body, first.headers)
    assert (first.is_replay, again.is_replay) == (False, True)
    assert effects.count() == 1


def test_without_a_key_every_request_has_its_effect(effects: Effects) -> None:
    for _ in range(2):
        assert not once_per_key(asking(None), effect()).is_replay
    assert effects.count() == 2


def test_a_key_with_another_request_is_refused(effects: Effects) -> None:
    once_per_key(asking(content=1), effect())
    with pytest.raises(KeyReusedError):
        once_per_key(asking(content=2), effect())
    assert effects.count() == 1


@pytest.mark.parametrize("other", [{"tenant": "beta"}, {"route": "POST /others"}, {"key": "K1"}, {"key": "k1 "}])
def test_another_tenant_route_or_spelling_is_another_key(effects: Effects, other: dict[str, str]) -> None:
    once_per_key(asking(), effect())
    assert not once_per_key(asking(**{"content": 2, **other}), effect()).is_replay  # type: ignore[arg-type]
    assert effects.count() == 2


def test_who_asks_meanwhile_is_told_to_come_back(effects: Effects) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert go_on.wait(10)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(once_per_key, asking(), effect(before=wait))
        assert inside.wait(10)
        with pytest.raises(BusyError) as busy:
            once_per_key(asking(), effect())
        go_on.set()
        answer = first.result(10)
    assert busy.value.retry_after_s >= 1
    assert once_per_key(asking(), effect()).body == answer.body
    assert effects.count() == 1


def test_what_failed_is_not_kept_and_the_key_is_free_at_once(effects: Effects) -> None:
    with pytest.raises(InvalidInputError):
        once_per_key(asking(content=1), failing)
    assert not once_per_key(asking(content=2), effect()).is_replay
    assert effects.count() == 1


def test_a_failed_guard_frees_the_key(effects: Effects) -> None:
    def guard() -> threading.Lock:
        raise BusyError(retry_after_s=3)

    with pytest.raises(BusyError):
        once_per_key(asking(), effect(), guard)
    assert not once_per_key(asking(), effect()).is_replay
    assert effects.count() == 1


def test_a_dead_owners_key_is_taken_over_after_its_lease(effects: Effects) -> None:
    claim_and_die(asking())
    with pytest.raises(BusyError):
        once_per_key(asking(), effect())
    effects.let_leases_lapse()
    assert not once_per_key(asking(), effect()).is_replay
    assert effects.world.query("SELECT attempt FROM idempotency_keys")[0][0] == 2


@pytest.mark.parametrize("dead", [True, False], ids=["whose owner died", "that is new"])
def test_of_two_who_claim_a_key_at_once_one_has_the_effect(effects: Effects, cases: Cases, dead: bool) -> None:
    claim_and_die(asking())
    effects.let_leases_lapse()
    release = text("DELETE FROM idempotency_keys WHERE NOT :dead")
    with cases.database.environments(1) as (other,), Session(other) as rival:
        rival.execute(text("SELECT id FROM idempotency_keys FOR UPDATE"))
        rival.execute(release, {"dead": dead})

        def let_them_go_on() -> None:
            cases.database.until_waiting(2)
            rival.commit()

        ask = outcome(lambda: once_per_key(asking(), effect()))
        *ended, _ = together(ask, ask, let_them_go_on)
    assert effects.count() == 1
    assert all(isinstance(each, KeyedResponse | BusyError) for each in ended)


def test_of_two_who_look_before_they_claim_both_have_it(effects: Effects) -> None:
    """The negative control."""
    meeting = barrier(2)

    def naive() -> None:
        with session() as transaction:
            found = transaction.execute(text("SELECT id FROM idempotency_keys WHERE idempotency_key = 'k1'")).all()
            meeting.wait()
            if not found:
                effect()(transaction)

    together(naive, naive)
    assert effects.count() == 2


def test_a_dead_owners_key_stays_with_its_request(effects: Effects) -> None:
    claim_and_die(asking(content=1))
    effects.let_leases_lapse()
    with pytest.raises(KeyReusedError):
        once_per_key(asking(content=2), effect())
    assert effects.count() == 0


def test_a_late_owner_rolls_back(effects: Effects) -> None:
    """Its lease is over, somebody else has made the effect, and then it goes on."""

    def overtaken() -> None:
        effects.let_leases_lapse()
        once_per_key(asking(), effect())

    with pytest.raises(BusyError):
        once_per_key(asking(), effect(before=overtaken))
    assert effects.count() == 1
    assert once_per_key(asking(), failing).is_replay


def test_a_late_owner_that_completes_by_key_alone_doubles_the_effect(effects: Effects) -> None:
    """The negative control: what the fence of owner and attempt is for."""

    def overtaken() -> None:
        effects.let_leases_lapse()
        once_per_key(asking(), effect())

    with session() as transaction:
        effect(before=overtaken)(transaction)
        transaction.execute(text("UPDATE idempotency_keys SET status = 'completed' WHERE idempotency_key = 'k1'"))
    assert effects.count() == 2


def test_a_late_owner_that_fails_takes_nothing_from_its_successor(effects: Effects) -> None:
    def overtaken(_transaction: Session) -> KeyedResponse:
        effects.let_leases_lapse()
        once_per_key(asking(), effect())
        raise InvalidInputError("too late")

    with pytest.raises(InvalidInputError):
        once_per_key(asking(), overtaken)
    assert once_per_key(asking(), failing).is_replay


def test_an_effect_that_is_replayed_is_made_once(effects: Effects) -> None:
    attempts: list[int] = []

    def disturbed(transaction: Session) -> KeyedResponse:
        attempts.append(1)
        answer = effect()(transaction)
        if len(attempts) == 1:
            raise ConflictOnce()
        return answer

    assert once_per_key(asking(), disturbed).status_code == 201
    assert (len(attempts), effects.count()) == (2, 1)


class ConflictOnce(BusyError):
    """A conflict that is worth a replay."""

    retryable = True

    def __init__(self) -> None:
        super().__init__(retry_after_s=1)
