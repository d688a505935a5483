"""A database whose deadlocks no other session adds to, and what tests of its mechanisms do to it.

Each thread of a race takes an engine of its own from `environments`, as each Lambda environment has one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import BigInteger, CheckConstraint, Engine, String, UniqueConstraint, create_engine, text
from sqlalchemy.engine import URL, Connection
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.pool import NullPool

from shell.db import session as db_session
from shell.db.retry import retry_on_db_conflict

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")
Step = Callable[[], object]
# Long, because a machine that does other work too may not run a thread for a while; only a failure waits so long.
PATIENCE_S = 240
LEAST = 10**12


class Toys(DeclarativeBase):
    """Tables that exist for tests alone."""


class Accounts(Toys):
    """Money, of which none may appear or vanish."""

    __tablename__ = "toy_accounts"
    __table_args__ = (CheckConstraint(f"balance >= -{LEAST}", name="ck_accounts_balance"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    balance: Mapped[int] = mapped_column(BigInteger, server_default="0")
    note: Mapped[str | None] = mapped_column(String(10))


class People(Toys):
    """Two unique keys beside the primary one."""

    __tablename__ = "toy_people"
    __table_args__ = (
        UniqueConstraint("email", name="uq_people_email"),
        UniqueConstraint("badge", name="uq_people_badge"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    email: Mapped[str] = mapped_column(String(50))
    badge: Mapped[str] = mapped_column(String(50))


class Payments(Toys):
    """One row an effect; nothing in the table hinders a second one."""

    __tablename__ = "toy_payments"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    reference: Mapped[int] = mapped_column(BigInteger, index=True)


@dataclass
class Database:
    """A schema with the application's tables and the toys, on a server where deadlocks are counted for us alone."""

    url: URL
    is_mysql: bool
    _admin: Engine = field(init=False)

    def __post_init__(self) -> None:
        # Without a pool, whose connections would take what a test sets for its session to the next one.
        self._admin = create_engine(self.url, isolation_level="AUTOCOMMIT", poolclass=NullPool)

    @property
    def admin(self) -> Engine:
        """Plain connections in autocommit, without any of the application's care."""
        return self._admin

    def query(self, statement: str, **values: Any) -> Sequence[Any]:
        """Rows of a statement as they are committed, on a connection of its own."""
        with self._admin.connect() as connection:
            result = connection.execute(text(statement), values)
            return result.all() if result.returns_rows else []

    def scalar(self, statement: str, **values: Any) -> Any:
        """The first value of the first row."""
        return self.query(statement, **values)[0][0]

    def accounts(self, *balances: int) -> None:
        """Replace all accounts by ones with these balances; their ids start at 1."""
        self.query("DELETE FROM toy_accounts")
        for number, balance in enumerate(balances, 1):
            self.query("INSERT INTO toy_accounts (id, balance) VALUES (:id, :balance)", id=number, balance=balance)

    def balances(self) -> list[int]:
        """The balances in the order of the accounts' ids."""
        return [row.balance for row in self.query("SELECT balance FROM toy_accounts ORDER BY id")]

    def deadlocks(self) -> int:
        """How many the server has broken by making one of our transactions its victim."""
        if self.is_mysql:
            errors = "performance_schema.events_errors_summary_by_user_by_error"
            ours = "ERROR_NUMBER = 1213 AND USER = SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"
            return int(self.scalar(f"SELECT COALESCE(SUM(SUM_ERROR_RAISED), 0) FROM {errors} WHERE {ours}"))
        return int(self.query("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")[0][1])

    def waiting(self) -> int:
        """How many row locks our transactions wait for now.

        Not from INNODB_TRX: that is a copy which is renewed only if it was not read for a tenth of a second.
        """
        if self.is_mysql:
            locks = "performance_schema.data_locks WHERE LOCK_STATUS = 'WAITING' AND OBJECT_SCHEMA = DATABASE()"
            return int(self.scalar(f"SELECT COUNT(*) FROM {locks}"))
        return int(self.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")[0][1])

    def until_waiting(self, transactions: int) -> None:
        """Return once so many of our transactions wait for a row lock; the server says when."""
        until(lambda: self.waiting() >= transactions)

    @contextmanager
    def environments(self, count: int) -> Iterator[list[Engine]]:
        """Engines as the application makes them, one for each thread."""
        engines = [db_session.engine.__wrapped__(self.url) for _ in range(count)]
        try:
            yield engines
        finally:
            for engine in engines:
                engine.dispose()


def until(condition: Callable[[], bool]) -> None:
    """Ask every few milliseconds until the condition holds."""
    deadline = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while not condition():
        pause.wait(0.003)
        assert time.monotonic() < deadline, "it never came true"


def together(*work: Callable[[], T]) -> list[T]:
    """Run everything at once, each in a thread; the results in order, or the first error."""
    with ThreadPoolExecutor(max_workers=len(work)) as pool:
        futures = [pool.submit(each) for each in work]
        return [future.result(timeout=PATIENCE_S) for future in futures]


def outcome(work: Callable[[], T]) -> Callable[[], T | Exception]:
    """The work, with its error as its result."""

    def tried() -> T | Exception:
        try:
            return work()
        except Exception as error:
            return error

    return tried


def barrier(parties: int) -> threading.Barrier:
    """A barrier that breaks rather than waiting for ever."""
    return threading.Barrier(parties, timeout=PATIENCE_S)


@contextmanager
def transaction(engine: Engine) -> Iterator[Session]:
    """A session of that environment in a transaction, committed at the end."""
    with Session(engine, expire_on_commit=False) as opened, opened.begin():
        yield opened


@retry_on_db_conflict
def replayed(at: Engine, op: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run an operation as a request does: in a transaction of its own, replayed as a whole."""
    with transaction(at) as opened:
        return op(opened, *args, **kwargs)


def done(op: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The same on the application's own engine."""
    return replayed(db_session.engine(), op, *args, **kwargs)


def connection_id(session: Session | Connection) -> int:
    """The server's number of the session's connection."""
    return int(session.execute(text("SELECT CONNECTION_ID()")).scalar_one())


def pay(session: Session, account: int, amount: int) -> None:
    """Add to an account's balance, which locks its row."""
    session.execute(text("UPDATE toy_accounts SET balance = balance + :a WHERE id = :id"), {"a": amount, "id": account})
