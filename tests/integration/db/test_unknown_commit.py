"""A connection that is lost during COMMIT: whether it happened is unknown until the database is queried."""

from __future__ import annotations

from collections.abc import Iterator

import pymysql
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from tenacity import Retrying, stop_after_attempt

from core.errors import CommitOutcomeUnknownError
from shell.db import retry
from shell.db.errors import DbErrorClass, classify
from shell.db.session import engine, session
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from tests.support.database.counted_database import Database, connection_id
from tests.support.faults.commit_proxy import CommitProxy, Loss, between_application_and_database


@pytest.fixture
def proxy(database: Database) -> Iterator[CommitProxy]:
    """The application's way to the database."""
    with between_application_and_database(database.url) as made:
        yield made


def insert_payment(reference: int) -> str:
    with session() as transaction:
        transaction.execute(text("INSERT INTO toy_payments (reference) VALUES (:r)"), {"r": reference})
    return "paid"


def paid(reference: int) -> str | None:
    """By a locking read, which waits for a COMMIT that is still under way."""
    with session() as locking:
        look = text("SELECT id FROM toy_payments WHERE reference = :r FOR UPDATE")
        return "resolved" if locking.execute(look, {"r": reference}).first() else None


pay_once = retry_on_db_conflict(resolve=paid)(insert_payment)


def effects(database: Database, reference: int) -> int:
    return int(database.scalar("SELECT COUNT(*) FROM toy_payments WHERE reference = :r", r=reference))


@pytest.mark.parametrize(
    ("loss", "answer"),
    [(Loss.ANSWER, "resolved"), (Loss.STEP, "resolved"), (Loss.SIGHT, "resolved"), (Loss.REQUEST, "paid")],
)
@pytest.mark.parametrize("broken_logins", [0, 12], ids=["", "then a failover"])
def test_the_unit_takes_effect_once_whichever_way_the_commit_was_lost(
    database: Database,
    proxy: CommitProxy,
    loss: Loss,
    answer: str,
    broken_logins: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The logins end the failover, however long they take on a busy machine.
    monkeypatch.setattr(retry, "FAILOVER_PATIENCE", 1_000_000)
    # A COMMIT that is still under way is executed when the question waits for it.
    proxy.lose_next(loss, hold=lambda: database.until_waiting(1))
    proxy.break_logins(broken_logins)
    assert pay_once(reference=1) == answer
    assert (proxy.lost, proxy.logins, effects(database, 1)) == (1, 2 + broken_logins, 1)


def test_by_the_attempts_against_a_deadlock_a_failover_is_not_outlived(database: Database, proxy: CommitProxy) -> None:
    """The negative control."""
    engine().dispose()
    proxy.break_logins(12)
    five = Retrying(stop=stop_after_attempt(5), reraise=True)
    with pytest.raises(OperationalError):
        five(insert_payment, 1)
    assert effects(database, 1) == 0


def test_replaying_blindly_has_two_effects(database: Database, proxy: CommitProxy) -> None:
    proxy.lose_next(Loss.ANSWER)
    for _ in range(2):
        try:
            insert_payment(1)
            break
        except CommitOutcomeUnknownError as unknown:
            cause = unknown.__cause__
    assert isinstance(cause, OperationalError)
    assert classify(cause) is DbErrorClass.CONNECTION, "by its number alone it may be replayed"
    assert effects(database, 1) == 2


@pytest.mark.parametrize(("loss", "expected"), [(Loss.ANSWER, 1), (Loss.REQUEST, 0)])
def test_without_a_way_to_ask_it_is_raised_and_never_retried(
    database: Database, proxy: CommitProxy, loss: Loss, expected: int
) -> None:
    """There may be an effect or none, so that to give up blindly is as wrong as to repeat it."""
    proxy.lose_next(loss)
    with pytest.raises(CommitOutcomeUnknownError):
        retry_on_db_conflict(insert_payment)(1)
    assert effects(database, 1) == expected


@pytest.mark.parametrize("killed", [True, False], ids=["its answer", "its own commit"])
def test_a_lost_query_is_sent_again(database: Database, proxy: CommitProxy, killed: bool) -> None:
    lookups: list[int] = []

    def ask(reference: int) -> str | None:
        lookups.append(reference)
        if len(lookups) == 1 and not killed:
            proxy.lose_next(Loss.ANSWER)
        with session() as asking:
            if len(lookups) == 1 and killed:
                database.query(f"KILL {connection_id(asking)}")
            return "resolved" if asking.execute(text("SELECT id FROM toy_payments FOR UPDATE")).first() else None

    proxy.lose_next(Loss.ANSWER)
    assert retry_on_db_conflict(resolve=ask)(insert_payment)(1) == "resolved"
    assert (len(lookups), effects(database, 1)) == (2, 1)


def test_while_the_database_does_not_answer_the_question_the_outcome_stays_unknown(
    database: Database, proxy: CommitProxy
) -> None:
    lookups: list[int] = []

    def ask(reference: int) -> str | None:
        lookups.append(reference)
        raise OperationalError("SELECT", {}, pymysql.err.OperationalError(2003, "Can't connect"))

    proxy.lose_next(Loss.ANSWER)
    with pytest.raises(CommitOutcomeUnknownError):
        retry_on_db_conflict(resolve=ask)(insert_payment)(1)
    assert set(lookups) == {1}
    assert len(lookups) > 5, "longer than for a deadlock: a failover takes its time"
    assert effects(database, 1) == 1


@pytest.mark.parametrize("loss", [Loss.ANSWER, Loss.REQUEST])
def test_a_unit_that_may_be_repeated_is_repeated(database: Database, proxy: CommitProxy, loss: Loss) -> None:
    database.accounts(0)

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def unit(account: int, *, balance: int) -> None:
        with session() as transaction:
            statement = text("UPDATE toy_accounts SET balance = :balance WHERE id = :id")
            transaction.execute(statement, {"id": account, "balance": balance})

    proxy.lose_next(loss)
    unit(1, balance=5)
    assert (proxy.lost, database.balances()) == (1, [5])
