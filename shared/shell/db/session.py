"""One lazy engine a process and READ COMMITTED sessions on it.

Guaranteed: importing opens nothing; a connection whose server is not in strict mode, or does not speak utf8mb4, is
refused, for there values could be damaged silently, and so is one to a server that can only be read: after a failover
the writer's name still leads to the old writer for a while; a connection that met a server turned read-only is not
used again; an error inside COMMIT that leaves the outcome open is raised as CommitOutcomeUnknownError.
Not guaranteed: that more than two sessions of one process run at once. The pool holds two connections: one at work, and
one for what is committed or looked at beside it.
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

from core.errors import CommitOutcomeUnknownError, DatabaseUnavailableError, SettingsError
from shell.settings import settings
from shell.utils.db_connecting import connect_args, database_url, log_in
from shell.utils.db_errors import READ_ONLY_MODE, DbErrorClass, breaks_connection, chain, classify, error_number

ERROR_DURING_COMMIT = 1180
# Aurora's readers are known by the second of the last two, whoever logs in; replicas of others by the first.
_SAFETY = "SELECT @@sql_mode, @@character_set_client, @@read_only, @@innodb_read_only"


@lru_cache(maxsize=4)
def engine(url: URL | None = None) -> Engine:
    """The engine of this process for that address, by default the one of the settings."""
    made = create_engine(
        url or database_url(),
        isolation_level="READ COMMITTED",
        # A statement's parameters are the contents of documents: no error message shows them.
        hide_parameters=True,
        # The second one is opened and used only by who needs it, and kept: to make one costs as much as a request.
        pool_size=2,
        max_overflow=0,
        pool_use_lifo=True,
        pool_pre_ping=True,
        # Sessions end every transaction themselves; a ROLLBACK after each would be a round trip for nothing.
        pool_reset_on_return=None,
        # Below the server's wait_timeout of 60 s, which frees the locks of a killed function.
        pool_recycle=50,
        connect_args=connect_args(),
    )
    event.listen(made, "reset", _end_abandoned_transaction)
    return guarded(made)


def guarded(made: Engine) -> Engine:
    """The engine, whose connections log in as deployed, are refused where they are unsafe, and dropped when dead."""
    if not settings().database_url:
        event.listen(made, "do_connect", log_in)
    event.listen(made, "connect", refuse_unsafe_server)
    event.listen(made, "handle_error", _judge_error)
    return made


@contextmanager
def session() -> Iterator[Session]:
    """A session in a transaction: committed at the end, rolled back on any error.

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
    """Raise DatabaseUnavailableError where values could be damaged, the server's own error where none can be written.

    An administrator could write to a server that is read-only to others. It is refused all the same: what is written to
    a replica is on that replica alone.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SAFETY)
        mode, charset, *read_only = cursor.fetchone()
    if "STRICT_TRANS_TABLES" not in mode and "STRICT_ALL_TABLES" not in mode:
        raise DatabaseUnavailableError("the server's sql_mode lacks STRICT_TRANS_TABLES; values could be cut silently")
    if "NO_BACKSLASH_ESCAPES" in mode:
        raise DatabaseUnavailableError("the server's sql_mode has NO_BACKSLASH_ESCAPES; values would be read wrongly")
    if "SIMULTANEOUS_ASSIGNMENT" in mode:
        raise DatabaseUnavailableError("the server's sql_mode has SIMULTANEOUS_ASSIGNMENT; claims would go wrong")
    if charset != "utf8mb4":
        raise DatabaseUnavailableError(f"the connection's character set is {charset}, not utf8mb4")
    if any(str(each) not in ("0", "OFF") for each in read_only):
        raise pymysql.err.OperationalError(READ_ONLY_MODE, "the server is read-only; it is not the writer")


def _end_abandoned_transaction(connection: Any, _record: Any, _state: Any) -> None:
    """What a session that was never closed wrote must not be committed by the next one on its connection."""
    if connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS:
        connection.rollback()


def _judge_error(context: ExceptionContext) -> Exception | None:
    """A dead connection is not used again; a certificate that nobody vouches for is no outage, and says what it is."""
    for link in chain(context.original_exception):
        if isinstance(link, ssl.SSLCertVerificationError):
            return SettingsError(f"the database's certificate is refused: {link.verify_message}")
    if breaks_connection(context.original_exception):
        context.is_disconnect = True
    return None
