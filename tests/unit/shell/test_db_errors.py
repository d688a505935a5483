"""Errors are distinguished by the server's number, wherever in the chain it stands, and by nothing else."""

from __future__ import annotations

from itertools import product

import pymysql
import pytest
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm.exc import StaleDataError

from core.error_chain import walk_chain
from core.errors import CommitOutcomeUnknownError, ConflictError
from shell.db.errors import (
    NUMBERS,
    RETRYABLE,
    DbErrorClass,
    classify,
    error_number,
    find_duplicate_key_name,
    is_connection_broken,
)

# Copied from the design, not from the code.
TABLE: dict[DbErrorClass, list[int]] = {
    DbErrorClass.TRANSACTION: [
        *(1213, 1205, 3572, 1020, 1614, 1613, 3101, 1180, 1689, 1412, 1615, 1206, 1317, 3058, 1467),
    ],
    DbErrorClass.ONCE: [3024, 1969, 1105, 1815, 1030],
    DbErrorClass.CONNECTION: [2006, 2013, 2055, 2014, 2045, 0, 4031, 1927, 1158, 1159, 1160, 1161],
    DbErrorClass.FAILOVER: [
        *(1053, 1077, 1078, 1079, 1080, 2002, 2003, 2005, 2012, 2026, 1836, 1792, 1874, 1015, 3168, 1047),
    ],
    DbErrorClass.CAPACITY: [1040, 1203, 1226, 1135, 1041, 9501, 1129, 1021, 1114, 1037, 1038],
    DbErrorClass.DUPLICATE: [1062, 1586, 1022, 1169],
    DbErrorClass.DATA: [
        *(1048, 1364, 1451, 1452, 1216, 1217, 1215, 3819, 4025, 1406, 1264, 1265, 1366, 1292, 1690, 1367),
        *(3140, 3141, 3142, 3143, 3144, 4078, 1118, 1153, 2020, 1301),
    ],
    DbErrorClass.PERMANENT: [
        *(3057, 4163, 1059, 1130, 1045, 1044, 1142, 1143, 1227, 1054, 1064, 1146, 1049, 1091, 1051),
        *(1290, 1305, 9999, 1, -1),
    ],
}


def driver(number: int, message: str = "no message") -> pymysql.err.OperationalError:
    return pymysql.err.OperationalError(number, message)


def wrapped(number: int, message: str = "no message", statement: str = "SELECT 1") -> OperationalError:
    return OperationalError(statement, {}, driver(number, message))


@pytest.mark.parametrize("kind", TABLE)
def test_every_number_has_its_class_whatever_the_exception(kind: DbErrorClass) -> None:
    exceptions = (pymysql.err.OperationalError, pymysql.err.InternalError, pymysql.err.IntegrityError)
    for number, raised in product(TABLE[kind], exceptions):
        error = raised(number, "message")
        assert classify(error) is kind, number
        assert classify(DBAPIError("SELECT 1", {}, error)) is kind


def test_every_number_that_is_classified_is_in_the_design_and_has_one_class() -> None:
    designed = [number for kind, numbers in TABLE.items() if kind is not DbErrorClass.PERMANENT for number in numbers]
    assert sorted(number for numbers in NUMBERS.values() for number in numbers) == sorted(designed)


def test_the_first_argument_of_a_sqlalchemy_error_is_no_number() -> None:
    """The negative control: `error.args[0] == 1213` is never true."""
    error = wrapped(1213, "Deadlock found")
    assert error.args[0] != 1213
    assert error_number(error) == 1213
    assert classify(error) is DbErrorClass.TRANSACTION


class BusinessError(Exception):
    """An application's own error."""


@pytest.mark.parametrize(
    "error", [BusinessError(1213), ValueError(1213, "Deadlock"), ConflictError("1213"), KeyError(1062)]
)
def test_an_error_of_the_application_that_carries_a_number_is_permanent(error: Exception) -> None:
    assert classify(error) is DbErrorClass.PERMANENT
    assert error_number(error) is None
    error.__cause__ = wrapped(1213)
    assert classify(error) is DbErrorClass.PERMANENT


def lost_savepoint(*, cause: BaseException | None = None, context: BaseException | None = None) -> OperationalError:
    statement = "ROLLBACK TO SAVEPOINT sa_savepoint_1"
    error = wrapped(1305, "SAVEPOINT sa_savepoint_1 does not exist", statement)
    error.__cause__, error.__context__ = cause, context
    return error


def test_a_lost_savepoint_tells_of_the_error_behind_it_or_that_the_transaction_is_gone() -> None:
    assert classify(lost_savepoint(cause=wrapped(1213))) is DbErrorClass.TRANSACTION
    assert classify(lost_savepoint(context=wrapped(1205))) is DbErrorClass.TRANSACTION
    assert classify(lost_savepoint(context=driver(2013))) is DbErrorClass.CONNECTION
    middle = BusinessError("rolled back")
    middle.__context__ = wrapped(2013)
    assert classify(lost_savepoint(context=middle)) is DbErrorClass.CONNECTION
    assert classify(lost_savepoint()) is DbErrorClass.TRANSACTION
    assert classify(lost_savepoint(context=wrapped(1406))) is DbErrorClass.TRANSACTION
    # A procedure that does not exist is no lost savepoint.
    assert classify(wrapped(1305, "PROCEDURE shop.restock does not exist", "CALL restock()")) is DbErrorClass.PERMANENT


OPTIONS = {
    "The MySQL server is running with the --read-only option so": DbErrorClass.FAILOVER,
    "The MySQL server is running with the --super-read-only option so": DbErrorClass.FAILOVER,
    "The MariaDB server is running with the --read-only option so": DbErrorClass.FAILOVER,
    "The MySQL server is running with the --innodb_read_only option": DbErrorClass.FAILOVER,
    "The MySQL server is running with the --secure-file-priv option so": DbErrorClass.PERMANENT,
    "The MySQL server is running with the --skip-grant-tables option so": DbErrorClass.PERMANENT,
}


@pytest.mark.parametrize("message", OPTIONS)
def test_a_server_that_turned_read_only_is_a_failover_and_another_option_is_permanent(message: str) -> None:
    error = wrapped(1290, f"{message} it cannot execute this statement")
    assert classify(error) is OPTIONS[message]
    assert is_connection_broken(error) == (OPTIONS[message] is DbErrorClass.FAILOVER)


def test_errors_without_a_number_have_their_class() -> None:
    assert classify(CommitOutcomeUnknownError()) is DbErrorClass.UNKNOWN_COMMIT
    assert classify(StaleDataError()) is DbErrorClass.STALE
    assert classify(PoolTimeoutError()) is DbErrorClass.CAPACITY
    assert classify(UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates")) is DbErrorClass.DATA
    assert classify(pymysql.err.OperationalError("text alone")) is DbErrorClass.PERMANENT
    assert classify(pymysql.err.OperationalError()) is DbErrorClass.PERMANENT


def test_an_answer_that_is_out_of_step_breaks_the_connection() -> None:
    error = pymysql.err.InternalError("Packet sequence number wrong - got 3 expected 1")
    assert classify(error) is DbErrorClass.CONNECTION
    assert is_connection_broken(DBAPIError("SELECT 1", {}, error))


def test_an_unknown_commit_is_never_simply_tried_again() -> None:
    assert set(DbErrorClass) - {DbErrorClass.UNKNOWN_COMMIT, DbErrorClass.DATA, DbErrorClass.PERMANENT} == RETRYABLE


@pytest.mark.parametrize(("number", "breaks"), [(2013, True), (0, True), (1836, True), (1213, False), (1040, False)])
def test_a_connection_is_given_up_where_it_is_lost_or_read_only(number: int, breaks: bool) -> None:
    assert is_connection_broken(wrapped(number)) is breaks


def test_a_chain_that_turns_in_a_circle_ends() -> None:
    one, other = BusinessError("one"), BusinessError("other")
    one.__cause__, other.__context__ = other, one
    assert list(walk_chain(one)) == [one, other]


DUPLICATES = [
    ("Duplicate entry '7-A' for key 'exhibits.uq_exhibits_control_number'", "uq_exhibits_control_number"),
    ("Duplicate entry '7-A' for key 'uq_exhibits_control_number'", "uq_exhibits_control_number"),
    ("Duplicate entry 'it's for key 'x'' for key 'custodians.uq_name'", "uq_name"),
    ("Duplicate entry '1' for key 'PRIMARY'", "PRIMARY"),
    ("Duplicate entry '1' for key 'exhibits.PRIMARY'", "PRIMARY"),
    ("Can't write; duplicate key in table 'exhibits'", None),
]


@pytest.mark.parametrize(("message", "key"), DUPLICATES)
def test_the_key_that_a_duplicate_hit_is_named_alike_by_both_servers(message: str, key: str | None) -> None:
    raised = pymysql.err.IntegrityError(1062, message)
    assert find_duplicate_key_name(raised) == key
    assert find_duplicate_key_name(IntegrityError("INSERT", {}, raised)) == key


def test_a_duplicate_behind_another_error_is_found_and_another_error_hit_no_key() -> None:
    error = BusinessError("wrapped")
    error.__cause__ = IntegrityError("INSERT", {}, pymysql.err.IntegrityError(1062, "x for key 'uq_a'"))
    assert find_duplicate_key_name(error) == "uq_a"
    assert find_duplicate_key_name(wrapped(1406, "Data too long for key 'x'")) is None
    assert find_duplicate_key_name(BusinessError("for key 'x'")) is None
