"""One lazily created engine per process, and READ COMMITTED sessions on it.

Guaranteed: importing opens nothing; a connection is refused if its server is not in strict mode or its character set is
not utf8mb4, since values could be changed silently, if it would generate ids of another cell (`shell.db.ids`), or if
its server is read-only: for a while after a failover the writer's host name still resolves to the old writer; a
connection that reported a read-only server is not used again; an error during COMMIT that leaves its outcome unknown is
raised as CommitOutcomeUnknownError.
Not guaranteed: that more than two sessions of one process run at once. The pool holds two connections: one for the
operation, and one for what commits or reads independently of it.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import pymysql
from pymysql.constants import SERVER_STATUS
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.error_chain import walk_chain
from core.errors import CommitOutcomeUnknownError, DatabaseUnavailableError, SettingsError
from shell.db.connection import connect_args, database_url, log_in
from shell.db.errors import READ_ONLY_MODE, DbErrorClass, classify, error_number, is_connection_broken
from shell.db.ids import refuse_foreign_ids, refuse_large_id
from shell.settings import settings

ERROR_DURING_COMMIT = 1180
# innodb_read_only identifies Aurora readers for every user; read_only identifies other replicas.
_SAFETY = (
    "SELECT @@sql_mode, @@character_set_client, @@auto_increment_increment, @@auto_increment_offset, @@read_only, "
    "@@innodb_read_only"
)


@lru_cache(maxsize=4)
def engine(url: URL | None = None) -> Engine:
    """Return this process's engine for a URL, by default that of the settings."""
    created = create_engine(
        url or database_url(),
        isolation_level="READ COMMITTED",
        # Parameters contain document content, which must not appear in error messages.
        hide_parameters=True,
        # The second connection opens only when needed and is kept: opening one costs as much as a request.
        pool_size=2,
        max_overflow=0,
        pool_use_lifo=True,
        pool_pre_ping=True,
        # Sessions end every transaction themselves; a ROLLBACK after each would be a wasted round trip.
        pool_reset_on_return=None,
        # Less than the server's wait_timeout of 60 s, which releases the locks of a killed function.
        pool_recycle=50,
        connect_args=connect_args(),
    )
    event.listen(created, "reset", _roll_back_abandoned)
    return add_listeners(created)


def add_listeners(created: Engine) -> Engine:
    """Make the engine's connections log in with the secret, refuse unsafe servers and drop dead ones; return it."""
    if not settings().database_url:
        event.listen(created, "do_connect", log_in)
    event.listen(created, "connect", refuse_unsafe_server)
    event.listen(created, "after_cursor_execute", refuse_large_id)
    event.listen(created, "handle_error", _translate_error)
    return created


@contextmanager
def session() -> Iterator[Session]:
    """Yield a session in a transaction: commit at the end, roll back on any error.

    Raises CommitOutcomeUnknownError when the connection was lost during COMMIT.
    """
    with Session(engine(), expire_on_commit=False) as opened:
        yield opened
        opened.flush()
        _commit(opened)


def _commit(opened: Session) -> None:
    try:
        opened.commit()
    except DBAPIError as exc:
        kind = classify(exc)
        lost = kind in (DbErrorClass.CONNECTION, DbErrorClass.FAILOVER) or error_number(exc) == ERROR_DURING_COMMIT
        if lost:
            raise CommitOutcomeUnknownError() from exc
        raise


def refuse_unsafe_server(connection: Any, _record: Any) -> None:
    """Raise DatabaseUnavailableError if values could be changed silently, or ids be those of another cell.

    Raises error 1836 if the server is read-only. An administrator may write to such a server; it is refused
    nevertheless, since a write to a replica stays on that replica.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SAFETY)
        mode, charset, increment, offset, *read_only = cursor.fetchone()
    if "STRICT_TRANS_TABLES" not in mode and "STRICT_ALL_TABLES" not in mode:
        raise DatabaseUnavailableError(
            "The server's sql_mode lacks STRICT_TRANS_TABLES; values could be truncated silently."
        )
    if "NO_BACKSLASH_ESCAPES" in mode:
        raise DatabaseUnavailableError(
            "The server's sql_mode has NO_BACKSLASH_ESCAPES; values would be parsed incorrectly."
        )
    if "SIMULTANEOUS_ASSIGNMENT" in mode:
        raise DatabaseUnavailableError(
            "The server's sql_mode has SIMULTANEOUS_ASSIGNMENT; idempotency claims would be wrong."
        )
    if charset != "utf8mb4":
        raise DatabaseUnavailableError(f"The connection's character set is {charset}, not utf8mb4.")
    if any(str(each) not in ("0", "OFF") for each in read_only):
        raise pymysql.err.OperationalError(READ_ONLY_MODE, "the server is read-only; it is not the writer")
    refuse_foreign_ids(increment, offset)


def _roll_back_abandoned(connection: Any, _record: Any, _state: Any) -> None:
    """Roll back what an unclosed session wrote, so that the next session on its connection does not commit it."""
    if connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS:
        connection.rollback()


def _translate_error(context: ExceptionContext) -> Exception | None:
    """Mark a dead connection as disconnected; report an untrusted certificate as SettingsError, not as an outage."""
    for link in walk_chain(context.original_exception):
        if isinstance(link, ssl.SSLCertVerificationError):
            return SettingsError(f"the database's TLS certificate is not trusted: {link.verify_message}")
    if is_connection_broken(context.original_exception):
        context.is_disconnect = True
    return None
