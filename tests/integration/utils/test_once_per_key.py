"""One effect a key, whatever caller repeats, dies or is late."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import BusyError, InvalidInputError, KeyReusedError
from core.idempotency import KeyedResponse
from shell.db.session import session
from shell.utils.idempotency import once_per_key
from tests.support.database.counted_database import barrier, outcome, together
from tests.support.exhibits.stored_cases import Cases
from tests.support.utils.counted_effects import Effects, asking, claim_and_die, effect


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


def test_a_concurrent_caller_gets_a_time_to_retry(effects: Effects) -> None:
    def ask_too() -> None:
        with pytest.raises(BusyError) as busy:
            once_per_key(asking(), effect())
        assert busy.value.retry_after_s >= 1

    answer = once_per_key(asking(), effect(before=ask_too))
    assert once_per_key(asking(), effect()).body == answer.body
    assert effects.count() == 1


def test_what_failed_is_not_kept_and_the_key_is_free_at_once(effects: Effects) -> None:
    def guard() -> threading.Lock:
        raise BusyError(retry_after_s=3)

    with pytest.raises(InvalidInputError):
        once_per_key(asking(content=1), failing)
    with pytest.raises(BusyError):
        once_per_key(asking(content=2), effect(), guard)
    assert not once_per_key(asking(content=3), effect()).is_replay
    assert effects.count() == 1


def test_a_dead_owners_key_is_taken_over_after_its_lease_by_its_own_request_alone(effects: Effects) -> None:
    claim_and_die(asking(content=1))
    with pytest.raises(BusyError):
        once_per_key(asking(content=1), effect())
    effects.let_leases_lapse()
    with pytest.raises(KeyReusedError):
        once_per_key(asking(content=2), effect())
    assert effects.count() == 0
    assert not once_per_key(asking(content=1), effect()).is_replay
    assert effects.world.query("SELECT attempt FROM idempotency_keys")[0][0] == 2


def test_a_caller_with_a_dead_owners_key_learns_when_its_lease_ends(effects: Effects) -> None:
    claim_and_die(asking())
    waits = []
    for age_s in (-60, 60):
        claimed = "created_at = NOW(6) - INTERVAL :age_s SECOND, lease_until = NOW(6) + INTERVAL 1 HOUR"
        effects.world.query(f"UPDATE idempotency_keys SET {claimed}", age_s=age_s)
        with pytest.raises(BusyError) as busy:
            once_per_key(asking(), effect())
        waits.append(busy.value.retry_after_s)
    assert waits[0] == 1, "a request of its first second probably lives, and ends soon"
    assert 3_000 < waits[1] <= 3_601


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


def overtake(effects: Effects) -> None:
    """The owner's lease is over, and another worker makes the effect; then the owner goes on."""
    effects.let_leases_lapse()
    once_per_key(asking(), effect())


def test_a_late_owner_rolls_back(effects: Effects) -> None:
    with pytest.raises(BusyError):
        once_per_key(asking(), effect(before=lambda: overtake(effects)))
    assert effects.count() == 1
    assert once_per_key(asking(), failing).is_replay


def test_a_late_owner_that_completes_by_key_alone_doubles_the_effect(effects: Effects) -> None:
    """The negative control: what the fence of owner and attempt is for."""
    with session() as transaction:
        effect(before=lambda: overtake(effects))(transaction)
        transaction.execute(text("UPDATE idempotency_keys SET status = 'completed' WHERE idempotency_key = 'k1'"))
    assert effects.count() == 2


def test_a_late_owner_that_fails_takes_nothing_from_its_successor(effects: Effects) -> None:
    def too_late(_transaction: Session) -> KeyedResponse:
        overtake(effects)
        raise InvalidInputError("too late")

    with pytest.raises(InvalidInputError):
        once_per_key(asking(), too_late)
    assert once_per_key(asking(), failing).is_replay
