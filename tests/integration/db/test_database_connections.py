"""What every connection of the application is, and which ones are not used again."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import pymysql
import pytest
from sqlalchemy import URL, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.errors import DatabaseUnavailableError
from shell.db import session as db_session
from shell.db.session import engine, session
from shell.db.sql_literals import format_row_literals
from shell.observability import logger
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.application.captured_log import Log
from tests.support.database.counted_database import Database, connection_id, pay

CONTENT = "Smith v. Jones, privileged"


def test_sessions_read_what_was_committed_a_moment_ago(database: Database) -> None:
    database.accounts(1)
    look = text("SELECT balance FROM toy_accounts WHERE id = 1")
    with session() as caller, Session(database.admin.execution_options(isolation_level="REPEATABLE READ")) as naive:
        assert (caller.execute(look).scalar(), naive.execute(look).scalar()) == (1, 1)
        database.query("UPDATE toy_accounts SET balance = 2 WHERE id = 1")
        assert (caller.execute(look).scalar(), naive.execute(look).scalar()) == (2, 1)


def test_sessions_are_read_committed_and_speak_utf8mb4_in_utc_and_strictly(database: Database) -> None:
    isolation = "transaction_isolation" if database.is_mysql else "tx_isolation"
    variables = f"@@SESSION.{isolation}, @@character_set_client, @@character_set_results, @@time_zone, @@sql_mode"
    with session() as caller:
        *found, mode = caller.execute(text(f"SELECT {variables}")).one()
        assert found == ["READ-COMMITTED", "utf8mb4", "utf8mb4", "+00:00"]
        assert "STRICT_TRANS_TABLES" in mode
        assert caller.execute(text("SELECT :emoji"), {"emoji": "👩‍👩‍👧"}).scalar() == "👩‍👩‍👧"


def with_init(url: URL, command: str) -> Engine:
    """The application's engine, on a server that gives its sessions something else."""
    made: Engine = db_session.engine.__wrapped__(url)

    def change(_dialect: Any, _record: Any, _args: Any, arguments: dict[str, Any]) -> None:
        arguments["init_command"] = command

    event.listen(made, "do_connect", change)
    return made


MODES = [
    ("NO_ENGINE_SUBSTITUTION", "sql_mode lacks STRICT_TRANS_TABLES"),
    ("STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES", "NO_BACKSLASH_ESCAPES"),
    ("STRICT_TRANS_TABLES,SIMULTANEOUS_ASSIGNMENT", "SIMULTANEOUS_ASSIGNMENT"),
]


@pytest.mark.parametrize(("mode", "message"), MODES)
def test_a_server_that_would_change_what_we_write_is_refused(database: Database, mode: str, message: str) -> None:
    if database.is_mysql and message == "SIMULTANEOUS_ASSIGNMENT":
        pytest.skip("MySQL has no such mode")
    with pytest.raises(DatabaseUnavailableError, match=message):
        with_init(database.url, f"SET SESSION sql_mode = '{mode}'").connect()


def test_a_plain_connection_to_such_a_server_cuts_and_doubles_what_we_write(database: Database) -> None:
    """The negative control."""
    naive = create_engine(database.url, connect_args={"init_command": "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'"})
    with naive.begin() as connection:
        connection.execute(text("INSERT INTO toy_accounts (id, note) VALUES (1, 'too long for it')"))
        [literal] = format_row_literals([("\\",)])
        assert connection.exec_driver_sql(f"SELECT {literal}").scalar() == "\\\\"
    naive.dispose()
    assert database.scalar("SELECT note FROM toy_accounts") == "too long f"


EMOJI = text("INSERT INTO toy_accounts (id, note) VALUES (1, '👩')")


def test_an_address_that_asks_for_three_byte_characters_gets_four(database: Database) -> None:
    narrow = database.url.update_query_dict({"charset": "utf8mb3"})
    ours, naive = db_session.engine.__wrapped__(narrow), create_engine(narrow)
    with naive.begin() as connection, pytest.raises(DBAPIError, match="1366"):
        connection.execute(EMOJI)
    with ours.begin() as connection:
        connection.execute(EMOJI)
    for each in (ours, naive):
        each.dispose()
    assert database.scalar("SELECT note FROM toy_accounts") == "👩"


def test_a_connection_in_another_character_set_is_refused(database: Database) -> None:
    url = database.url
    raw = pymysql.connect(
        host=url.host, port=url.port or 3306, user=url.username, password=url.password or "", charset="latin1"
    )
    with raw, pytest.raises(DatabaseUnavailableError, match="character set is latin1, not utf8mb4"):
        db_session.refuse_unsafe_server(raw, None)


def test_importing_every_module_opens_nothing_and_reads_no_environment() -> None:
    program = """
import builtins, importlib, os, pathlib, pkgutil, socket, sys

def refuse(*_, **__):
    raise AssertionError("a module opens a connection when it is imported")

socket.socket.connect = refuse
socket.create_connection = refuse
for root in ("functions", "shared"):
    sys.path.insert(0, root)
for module in pkgutil.walk_packages(["functions", "shared"]):
    if not module.name.startswith("shell.migrations"):
        importlib.import_module(module.name)
from shell.settings import settings
from shell.db.session import engine
assert settings.cache_info().currsize == 0, "settings were read"
assert engine.cache_info().currsize == 0, "an engine was made"
print("imported")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env={})
    assert (done.stdout.strip(), done.stderr) == ("imported", "")


def test_parameters_stand_neither_in_the_error_nor_in_what_is_logged(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log()
    monkeypatch.setattr(logger.registered_handler, "stream", log.stream)

    @retry_on_db_conflict
    def unit(killed: bool) -> None:
        with session() as caller:
            if killed:
                database.query(f"KILL {connection_id(caller)}")
            caller.execute(text("SELECT :content, 1 FROM nowhere"), {"content": CONTENT})

    with pytest.raises(DBAPIError) as raised:
        unit(killed=False)
    with pytest.raises(DatabaseUnavailableError) as given_up:
        unit(killed=True)
    assert CONTENT not in str(raised.value) + str(given_up.value) + str(given_up.value.__cause__)
    assert log.messages().count("retrying a transaction") == 4
    assert CONTENT not in log.stream.getvalue()
    with pytest.raises(DBAPIError, match=CONTENT), Session(database.admin) as naive:
        naive.execute(text("SELECT :content, 1 FROM nowhere"), {"content": CONTENT})


@pytest.mark.parametrize("in_savepoint", [False, True])
def test_a_connection_killed_in_the_middle_is_replayed_on_another(database: Database, in_savepoint: bool) -> None:
    database.accounts(0, 0)
    used: list[int] = []

    @retry_on_db_conflict
    def unit() -> None:
        with session() as caller:
            used.append(connection_id(caller))
            pay(caller, 1, -5)
            if len(used) == 1:
                database.query(f"KILL {used[0]}")
            if in_savepoint:
                with caller.begin_nested():
                    pay(caller, 2, 5)
            else:
                pay(caller, 2, 5)

    unit()
    assert len(set(used)) == 2
    assert database.balances() == [-5, 5]


@pytest.mark.parametrize(("reset", "balances"), [(True, [0, 1]), (False, [5, 1])])
def test_what_an_abandoned_session_wrote_is_not_committed_by_the_next(
    database: Database, reset: bool, balances: list[int]
) -> None:
    """The negative control is a pool that does not reset its connections."""
    naive = create_engine(database.url, pool_size=1, pool_reset_on_return=None)
    used = engine() if reset else naive
    database.accounts(0, 0)
    abandon(used)
    with Session(used) as caller:
        pay(caller, 2, 1)
        caller.commit()
    naive.dispose()
    assert database.balances() == balances


def abandon(engine: Engine) -> None:
    pay(Session(engine), 1, 5)
    gc.collect()
