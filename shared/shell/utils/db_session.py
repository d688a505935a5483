"""One lazy engine a process and READ COMMITTED sessions on it.

Guaranteed: importing opens nothing; a connection whose server is not in strict mode, or does not speak utf8mb4, is
refused, for there values could be damaged silently; a connection that met a server turned read-only is not used
again; an error inside COMMIT that leaves the outcome open is raised as CommitOutcomeUnknownError.
Not guaranteed: that more than two sessions of one process run at once. The pool holds two connections: one at work, and
one for what is committed or looked at beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import pymysql
from aws_lambda_powertools.utilities.parameters import get_secret
from pymysql.constants import SERVER_STATUS
from sqlalchemy import URL, Dialect, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.errors import CommitOutcomeUnknownError, DatabaseUnavailableError
from shell.settings import settings
from shell.utils.db_errors import DbErrorClass, breaks_connection, classify, error_number

ERROR_DURING_COMMIT, ACCESS_DENIED = 1180, 1045


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
    if not settings().database_url:
        event.listen(made, "do_connect", log_in)
    event.listen(made, "connect", _refuse_unsafe_server)
    event.listen(made, "reset", _end_abandoned_transaction)
    event.listen(made, "handle_error", _drop_dead_connections)
    return made


def database_url() -> URL:
    """Where the database is: DATABASE_URL, or host and name, to which `log_in` adds the secret's credentials."""
    ours = settings()
    if ours.database_url:
        return make_url(ours.database_url)
    if not (ours.db_host and ours.db_name and ours.db_secret_arn):
        raise DatabaseUnavailableError("set DATABASE_URL, or all of DB_HOST, DB_NAME and DB_SECRET_ARN")
    return URL.create("mysql+pymysql", host=ours.db_host, port=3306, database=ours.db_name)


def log_in(dialect: Dialect, _record: Any, arguments: Any, parameters: dict[str, Any]) -> Any:
    """Connect with the secret as it is now: it is rotated while functions are warm."""
    parameters.update(_credentials(max_age_s=60))
    try:
        return dialect.connect(*arguments, **parameters)
    except pymysql.err.OperationalError as error:
        if error_number(error) != ACCESS_DENIED:
            raise
    parameters.update(_credentials(max_age_s=0))
    return dialect.connect(*arguments, **parameters)


def _credentials(max_age_s: int) -> dict[str, str]:
    arn = settings().db_secret_arn or ""
    secret = json.loads(str(get_secret(arn, max_age=max_age_s, force_fetch=max_age_s == 0)))
    return {"user": secret["username"], "password": secret["password"]}


def connect_args() -> dict[str, Any]:
    """How to connect, whichever the engine: as utf8mb4, in UTC, and encrypted unless an address was given whole."""
    common = {"charset": "utf8mb4", "connect_timeout": 10, "init_command": "SET time_zone = '+00:00'"}
    if settings().database_url:
        return common
    # Without a bundle of the service's own authorities the certificate cannot be checked, only used.
    return {**common, "ssl": {"check_hostname": False}}


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


def _refuse_unsafe_server(connection: Any, _record: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@sql_mode, @@character_set_client")
        mode, charset = cursor.fetchone()
    if "STRICT_TRANS_TABLES" not in mode and "STRICT_ALL_TABLES" not in mode:
        raise DatabaseUnavailableError("the server's sql_mode lacks STRICT_TRANS_TABLES; values could be cut silently")
    if "SIMULTANEOUS_ASSIGNMENT" in mode:
        raise DatabaseUnavailableError("the server's sql_mode has SIMULTANEOUS_ASSIGNMENT; claims would go wrong")
    if charset != "utf8mb4":
        raise DatabaseUnavailableError(f"the connection's character set is {charset}, not utf8mb4")


def _end_abandoned_transaction(connection: Any, _record: Any, _state: Any) -> None:
    """What a session that was never closed wrote must not be committed by the next one on its connection."""
    if connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS:
        connection.rollback()


def _drop_dead_connections(context: ExceptionContext) -> None:
    if breaks_connection(context.original_exception):
        context.is_disconnect = True
