"""Classify database errors by the server's error number, never by the exception's type.

PyMySQL raises OperationalError for nearly every number, and SQLAlchemy reports a deadlock inside a SAVEPOINT as 1305
(the SAVEPOINT is gone because the whole transaction is); the deadlock itself is only in the exception's cause chain.
A number that is not listed is permanent. Sources: MySQL's error reference (InnoDB error handling), the lists of
SQLAlchemy's `is_disconnect`, oslo.db and Vitess; where MySQL and MariaDB differ, both numbers are listed.
"""

from __future__ import annotations

from enum import Enum

import pymysql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm.exc import StaleDataError

from core.error_chain import walk_chain
from core.errors import CommitOutcomeUnknownError


class DbErrorClass(Enum):
    """How a caller reacts to a database error; the value is the reason in log lines."""

    TRANSACTION = "conflict: roll back and retry the whole transaction"
    STALE = "stale version: read again in a new transaction"
    ONCE = "internal: retry the whole transaction once"
    CONNECTION = "connection lost: reconnect and retry"
    FAILOVER = "no writable server: wait, reconnect and retry"
    CAPACITY = "server out of capacity: wait and retry"
    DUPLICATE = "duplicate key"
    DATA = "the value cannot be stored"
    UNKNOWN_COMMIT = "connection lost during COMMIT"
    PERMANENT = "permanent"


DEADLOCK, LOCK_WAIT_TIMEOUT, NOWAIT, SAVEPOINT_GONE, READ_ONLY, READ_ONLY_MODE = 1213, 1205, 3572, 1305, 1290, 1836
COMMANDS_OUT_OF_SYNC = 2014

# MariaDB reports 1467 to a deadlock's victim that was waiting for the next AUTO_INCREMENT value.
NUMBERS: dict[DbErrorClass, frozenset[int]] = {
    DbErrorClass.TRANSACTION: frozenset(
        {DEADLOCK, LOCK_WAIT_TIMEOUT, NOWAIT, 1020, 1180, 1206, 1317, 1412, 1467, 1613, 1614, 1615, 1689, 3058, 3101}
    ),
    DbErrorClass.ONCE: frozenset({1030, 1105, 1815, 1969, 3024}),
    DbErrorClass.CONNECTION: frozenset(
        {0, 1158, 1159, 1160, 1161, 1927, 2006, 2013, COMMANDS_OUT_OF_SYNC, 2045, 2055, 4031},
    ),
    DbErrorClass.FAILOVER: frozenset(
        {1015, 1047, 1053, 1077, 1078, 1079, 1080, 1792, READ_ONLY_MODE, 1874, 2002, 2003, 2005, 2012, 2026, 3168}
    ),
    DbErrorClass.CAPACITY: frozenset({1021, 1037, 1038, 1040, 1041, 1114, 1129, 1135, 1203, 1226, 9501}),
    DbErrorClass.DUPLICATE: frozenset({1022, 1062, 1169, 1586}),
    DbErrorClass.DATA: frozenset(
        {1048, 1118, 1153, 1215, 1216, 1217, 1264, 1265, 1292, 1301, 1364, 1366, 1367, 1406, 1451, 1452, 1690, 2020}
        | {3140, 3141, 3142, 3143, 3144, 3819, 4025, 4078}
    ),
}
BY_NUMBER = {number: kind for kind, numbers in NUMBERS.items() for number in numbers}

RETRYABLE = frozenset(
    {
        DbErrorClass.TRANSACTION,
        DbErrorClass.STALE,
        DbErrorClass.ONCE,
        DbErrorClass.CONNECTION,
        DbErrorClass.FAILOVER,
        DbErrorClass.CAPACITY,
        DbErrorClass.DUPLICATE,
    }
)


def error_number(error: BaseException) -> int | None:
    """Return the server's or client library's number of a driver error; None for any other error.

    Only driver errors have a number: an application exception whose argument is 1213 is not a deadlock.
    """
    driver = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(driver, pymysql.err.Error) or not driver.args:
        return None
    if "Packet sequence number" in str(driver.args[0]):
        # PyMySQL raises this without a number and closes the connection.
        return COMMANDS_OUT_OF_SYNC
    return driver.args[0] if isinstance(driver.args[0], int) else None


def classify(error: BaseException) -> DbErrorClass:
    """Return the class of the error; PERMANENT for one that does not come from the database."""
    if isinstance(error, CommitOutcomeUnknownError):
        return DbErrorClass.UNKNOWN_COMMIT
    if isinstance(error, StaleDataError):
        return DbErrorClass.STALE
    if isinstance(error, PoolTimeoutError):
        return DbErrorClass.CAPACITY
    if isinstance(error, UnicodeEncodeError):
        return DbErrorClass.DATA
    number = error_number(error)
    if number is None:
        return DbErrorClass.PERMANENT
    if number == SAVEPOINT_GONE:
        return _classify_lost_savepoint(error)
    if number == READ_ONLY:
        return DbErrorClass.FAILOVER if "read-only" in str(error) or "read_only" in str(error) else _PERMANENT
    return BY_NUMBER.get(number, _PERMANENT)


_PERMANENT = DbErrorClass.PERMANENT


def _classify_lost_savepoint(error: BaseException) -> DbErrorClass:
    if "SAVEPOINT" not in str(error).upper():
        return _PERMANENT
    hidden = [
        BY_NUMBER.get(number) for e in walk_chain(error) if (number := error_number(e)) not in (None, SAVEPOINT_GONE)
    ]
    return next((kind for kind in hidden if kind in RETRYABLE), DbErrorClass.TRANSACTION)


def is_connection_broken(error: BaseException) -> bool:
    """Return whether the connection must not be used again.

    A server that a failover made read-only still answers on the old connection; only a new one reaches the new writer.
    """
    return classify(error) in (DbErrorClass.CONNECTION, DbErrorClass.FAILOVER)


def is_server_unavailable(error: BaseException) -> bool:
    """Return whether there was no server to write to, so that nothing was executed and the caller has to wait.

    A connection lost while it is being established means the same: a server that shuts down, or a proxy without a
    server, closes it during the login.
    """
    kind = classify(error)
    connecting = isinstance(error, DBAPIError) and error.statement is None
    return kind is DbErrorClass.FAILOVER or (kind is DbErrorClass.CONNECTION and connecting)


def find_duplicate_key_name(error: BaseException) -> str | None:
    """Return the name, without its table, of the unique key that a duplicate violated; None if no message names it.

    MySQL 8 writes `for key 'table.key'`, MariaDB `for key 'key'`.
    """
    for link in walk_chain(error):
        if isinstance(link, pymysql.err.Error) and classify(link) is DbErrorClass.DUPLICATE:
            _, found, key = str(link.args[1]).rpartition("for key ")
            return key.strip("'\"` .").rpartition(".")[2].strip("'\"`") if found else None
    return None
