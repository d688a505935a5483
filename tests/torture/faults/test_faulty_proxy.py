"""The proxy's errors are, byte for byte, those of a real server, and leave the transaction as a real server does."""

from __future__ import annotations

import threading
from typing import Any

import pymysql
import pytest
from pymysql.connections import Connection

from tests.support.database.counted_database import until
from tests.torture.faults.faulty_proxy import Injection
from tests.torture.stack.database_clients import Connect, after, begun, inject, notes, number, run
from tests.torture.stack.database_server import TorturedDatabase


def victim_of_a_real_deadlock(tortured: TorturedDatabase, connect: Connect) -> Connection[Any]:
    """Of the two, the other has written more, and InnoDB takes the one that has written less."""
    ours, other = begun(connect()), connect()
    run(other, "UPDATE toys SET note = 'other' WHERE id = 2")
    run(other, *(f"INSERT INTO toys VALUES ({each}, '')" for each in range(10, 40)))
    waiting = threading.Thread(target=run, args=(other, "UPDATE toys SET note = 'other' WHERE id = 1"))
    waiting.start()
    until(lambda: tortured.lock_waits() == 1)
    assert number(ours, "UPDATE toys SET note = 'ours' WHERE id = 2") == 1213
    waiting.join()
    other.rollback()
    return ours


def test_a_deadlock_is_reported_and_leaves_nothing_as_a_real_one_does(
    tortured: TorturedDatabase, connect: Connect, error_packets: list[bytes]
) -> None:
    before = tortured.deadlocks()
    real = after(victim_of_a_real_deadlock(tortured, connect))
    assert tortured.deadlocks() == before + 1
    inject(tortured, Injection.DEADLOCK, b"UPDATE toys SET note = 'ours'")
    ours = begun(connect())
    assert number(ours, "UPDATE toys SET note = 'ours' WHERE id = 2") == 1213
    # The transaction that waited for the victim's locks has them before the victim gets its error.
    run(connect(), "SET innodb_lock_wait_timeout = 1", "UPDATE toys SET note = 'free' WHERE id = 1")
    assert after(ours) == real == (1305, "")
    assert error_packets[0] == error_packets[2], "the deadlocks; between them are the SAVEPOINTs that are gone"
    assert tortured.proxy.injected == {Injection.DEADLOCK: 1}


def test_a_lock_wait_that_ran_out_undoes_the_statement_alone(
    tortured: TorturedDatabase, connect: Connect, error_packets: list[bytes]
) -> None:
    waiting = begun(connect())
    with tortured.locked("SELECT id FROM toys WHERE id = 2 FOR UPDATE"):
        update = "UPDATE toys SET note = 'ours' WHERE id = 2"
        assert number(waiting, "SET innodb_lock_wait_timeout = 1", update) == 1205
    real = after(waiting)
    waiting.rollback()
    inject(tortured, Injection.LOCK_WAIT, b"UPDATE toys SET note = 'ours'")
    ours = begun(connect())
    assert number(ours, "UPDATE toys SET note = 'ours' WHERE id = 2") == 1205
    assert after(ours) == real == (0, "before")
    ours.commit()
    assert notes(tortured) == ["before", ""]
    assert error_packets[0] == error_packets[1]


def test_a_server_that_turned_read_only_refuses_the_application_alone(
    tortured: TorturedDatabase, connect: Connect, error_packets: list[bytes]
) -> None:
    insert = "INSERT INTO toys VALUES (3, 'ours')"
    inject(tortured, Injection.READ_ONLY, b"INSERT")
    ours = begun(connect())
    assert number(ours, insert) == 1290
    injected = after(ours)
    ours.rollback()
    real = begun(connect())
    tortured.read_only(True)
    try:
        assert number(real, insert) == 1290
        assert after(real) == injected == (0, "before")
        tortured.query("INSERT INTO toys VALUES (4, 'of root')")
    finally:
        tortured.read_only(False)
    run(real, insert)
    assert error_packets[0] == error_packets[1]


def test_a_full_table_and_a_full_disk_are_reported_as_servers_report_them(
    tortured: TorturedDatabase, connect: Connect, error_packets: list[bytes]
) -> None:
    full = connect()
    run(full, "SET max_heap_table_size = 16384", "CREATE TEMPORARY TABLE exhibits (a CHAR(255)) ENGINE = MEMORY")
    assert number(full, *["INSERT INTO exhibits VALUES ('a')"] * 10_000) == 1114
    text = 'Disk full (/tmp/#sql-1); waiting for someone to free some space... (errno: 28 "No space left on device")'
    assert number(full, f"SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1021, MESSAGE_TEXT = '{text}'") == 1021
    for injection in (Injection.TABLE_FULL, Injection.DISK_FULL):
        inject(tortured, injection, b"INSERT")
        number(connect(), "INSERT INTO toys VALUES (3, '')")
    assert error_packets[:2] == error_packets[2:]


def test_a_packet_that_is_too_large_ends_the_connection(
    tortured: TorturedDatabase, connect: Connect, error_packets: list[bytes]
) -> None:
    tortured.query("SET GLOBAL max_allowed_packet = 1024")
    try:
        real = connect()
        first = number(real, f"INSERT INTO toys VALUES (3, '{'a' * 100_000}')")
    finally:
        tortured.query(f"SET GLOBAL max_allowed_packet = {64 << 20}")
    inject(tortured, Injection.PACKET_TOO_LARGE, b"INSERT")
    ours = connect()
    assert number(ours, "INSERT INTO toys VALUES (3, '')") == first == 1153
    assert number(ours, "SELECT 1") == number(real, "SELECT 1") == 2013
    assert error_packets[0] == error_packets[1]


def test_too_many_connections_is_reported_instead_of_a_greeting(
    tortured: TorturedDatabase, connect: Connect, error_packets: list[bytes]
) -> None:
    most = tortured.scalar("SELECT @@max_connections")
    tortured.query("SET GLOBAL max_connections = 10")
    try:
        with pytest.raises(pymysql.err.OperationalError):
            [connect() for _ in range(11)]
    finally:
        tortured.query(f"SET GLOBAL max_connections = {most}")
    tortured.proxy.too_many_connections(2)
    for _ in range(2):
        with pytest.raises(pymysql.err.OperationalError):
            connect()
    run(connect(), "SELECT 1")
    assert error_packets == [error_packets[0]] * 3
    assert error_packets[0][1:3] == (1040).to_bytes(2, "little")


@pytest.mark.parametrize(
    ("injection", "of", "kept"),
    [
        (Injection.CUT, b"INSERT", False),
        (Injection.CUT_AFTER, b"INSERT", True),
        (Injection.LOSE_COMMIT_REQUEST, b"COMMIT", False),
        (Injection.LOSE_COMMIT_ANSWER, b"COMMIT", True),
    ],
)
def test_what_is_lost_on_the_way_was_executed_or_not(
    tortured: TorturedDatabase, connect: Connect, injection: Injection, of: bytes, kept: bool
) -> None:
    inject(tortured, injection, of)
    connection = connect()
    connection.autocommit(of == b"INSERT")
    assert number(connection, "INSERT INTO toys VALUES (3, 'ours')", "COMMIT") == 2013
    # At once: the client hears of it when the server has done with the connection.
    assert ("ours" in notes(tortured)) == kept
    assert tortured.proxy.injected == {injection: 1}


def test_only_a_commit_can_be_lost_as_a_commit(tortured: TorturedDatabase, connect: Connect) -> None:
    tortured.proxy.decide = lambda _statement: Injection.LOSE_COMMIT_ANSWER
    connection = connect()
    run(connection, "INSERT INTO toys VALUES (3, 'ours')")
    assert not tortured.proxy.injected
    assert number(connection, "COMMIT") == 2013


def test_it_decides_in_a_thread_of_each_connection(tortured: TorturedDatabase, connect: Connect) -> None:
    decisions: list[tuple[int, bytes]] = []
    tortured.proxy.decide = lambda text: decisions.append((threading.get_ident(), text))
    first, second = connect(), connect()
    decisions.clear()
    for connection in (first, second, first):
        run(connection, "SELECT 7")
    assert [text for _, text in decisions] == [b"SELECT 7"] * 3
    assert decisions[0][0] == decisions[2][0] != decisions[1][0]
