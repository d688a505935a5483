"""A server that goes away and comes back keeps what it promised, and clients find it at the same address."""

from __future__ import annotations

import random
from contextlib import suppress

import pymysql
import pytest

from tests.torture.stack.database_clients import Connect, notes, number, run
from tests.torture.stack.database_server import TorturedDatabase


def test_an_outage_cuts_and_refuses_until_it_is_over(tortured: TorturedDatabase, connect: Connect) -> None:
    connection = connect()
    tortured.proxy.outage(True)
    assert number(connection, "SELECT 1") == 2013
    with pytest.raises(pymysql.err.OperationalError, match="Connection refused"):
        connect()
    tortured.proxy.outage(False)
    run(connect(), "SELECT 1")


@pytest.mark.parametrize("kill", [True, False])
def test_a_restart_keeps_what_was_committed_and_the_address(
    tortured: TorturedDatabase, connect: Connect, kill: bool
) -> None:
    url, direct, connection = tortured.url, tortured.direct, connect()
    run(connection, "UPDATE toys SET note = 'kept'", "COMMIT", "UPDATE toys SET note = 'lost'")
    tortured.restart(kill)
    assert number(connection, "COMMIT") == 2013
    assert notes(tortured) == ["kept", "kept"]
    run(connect(), "SELECT 1")
    assert tortured.url == url
    assert tortured.direct != direct


def test_a_share_of_the_connections_is_killed(tortured: TorturedDatabase, connect: Connect) -> None:
    connections = [connect() for _ in range(4)]
    assert tortured.kill_connections(0.5, random.Random(1)) == 2
    alive = 0
    for connection in connections:
        with suppress(pymysql.Error):
            run(connection, "SELECT 1")
            alive += 1
    assert alive == 2
