"""A migration that takes longer than its function goes on where it was, also after a kill, and is never done twice.

LONG_MIGRATION_ROWS and LONG_MIGRATION_SECONDS set the size of the table and the time of an invocation.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

import migrate_database
from shell.aws import clients
from shell.maintenance.continuation import UnfinishedError
from shell.maintenance.custom_resource import RESPONSE_S
from shell.settings import settings
from tests.integration.db.test_migrating import (
    HEAD,
    Folder,
    Left,
    next_migration,
    ours,
    reports,
    resource_event,
    revision,
)
from tests.support.aws.custom_resource_server import Answers
from tests.support.aws.self_invocations import Invocations, invocations
from tests.support.database.counted_database import until

pytestmark = pytest.mark.slow
__all__ = ["next_migration", "ours", "reports"]

ROWS = int(os.environ.get("LONG_MIGRATION_ROWS", "1000000"))
SECONDS = float(os.environ.get("LONG_MIGRATION_SECONDS", "3"))
# Repeatable after an interruption, as each migration is. The ALTER is one statement that the server takes long for.
ADD_INDEX = (
    "bind = op.get_bind()\n"
    "    found = {row[2] for row in bind.exec_driver_sql('SHOW INDEX FROM narrow').all()}\n"
    "    if 'ix_first' not in found:\n"
    "        op.execute('ALTER TABLE narrow ADD INDEX ix_first (word, id), ADD INDEX ix_second (number, word), "
    "ADD INDEX ix_third (word, number)')"
)
INDEXES = {"PRIMARY", "ix_first", "ix_second", "ix_third"}
# What Lambda runs, as a process of its own.
INVOKE = """
import json, sys
from pathlib import Path
import migrate_database
from shell.maintenance import migrate
from tests.integration.db.test_migrating import Left
migrate.SCRIPTS = Path(sys.argv[1])
migrate_database.lambda_handler(json.loads(sys.argv[2]), Left(float(sys.argv[3])))
"""


@pytest.fixture
def lambda_service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Invocations]:
    """Lambda, which the function invokes."""
    with invocations() as made, monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL_LAMBDA", made.url)
        patch.setenv("AWS_LAMBDA_FUNCTION_NAME", "exhibit-ingest-MigrateDatabaseFunction-1a2b3c")
        for read_once in (clients.lambda_client, settings):
            read_once.cache_clear()
        yield made
    for read_once in (clients.lambda_client, settings):
        read_once.cache_clear()


@pytest.fixture
def narrow(ours: Engine) -> Engine:
    """The application's database with a table of ROWS rows."""
    with ours.connect() as connection:
        connection.execute(
            text("CREATE TABLE narrow (id BIGINT AUTO_INCREMENT PRIMARY KEY, number INT, word CHAR(32)) ENGINE=InnoDB")
        )
        connection.execute(text("INSERT INTO narrow (number, word) VALUES (1, LEFT(SHA2('1', 256), 32))"))
        stored = 1
        while stored < ROWS:
            more = min(stored, ROWS - stored, 200_000)
            connection.execute(
                text(
                    "INSERT INTO narrow (number, word) SELECT id * 7919 % 100003, LEFT(SHA2(id + :stored, 256), 32) "
                    f"FROM narrow ORDER BY id LIMIT {more}"
                ),
                {"stored": stored},
            )
            stored += more
    return ours


def indexes(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return {row[2] for row in connection.execute(text("SHOW INDEX FROM narrow"))}


def is_altering(engine: Engine) -> bool:
    with engine.connect() as connection:
        return any("ALTER TABLE narrow" in str(row) for row in connection.execute(text("SHOW FULL PROCESSLIST")))


def follow(lambda_service: Invocations, reports: Answers, event: dict[str, Any]) -> int:
    """Deliver an event and each that follows from it, as Lambda does; return how many invocations that took."""
    count = 1
    migrate_database.lambda_handler(event, Left(SECONDS))
    while not reports.bodies:
        assert count < 300, "no invocation gets further than the one before"
        (following,) = lambda_service.events
        lambda_service.events.clear()
        assert {**following, "StartedAt": None} == {**event, "StartedAt": None}, "the same event and request id"
        migrate_database.lambda_handler(following, Left(SECONDS))
        count += 1
    assert not lambda_service.events
    return count


def test_an_index_on_many_rows_takes_several_invocations_and_one_answer(
    narrow: Engine, reports: Answers, lambda_service: Invocations, next_migration: Folder
) -> None:
    next_migration(ADD_INDEX)
    began = time.monotonic()
    count = follow(lambda_service, reports, resource_event(reports))
    print(f"{ROWS} rows, {SECONDS} s an invocation: {count} invocations in {time.monotonic() - began:.0f} s")
    assert count > 1, "the negative control: it fits into one invocation, so that nothing was shown"
    answer = reports.only()
    assert (answer["Status"], answer["RequestId"]) == ("SUCCESS", "r")
    assert (revision(narrow), indexes(narrow)) == ("9000", INDEXES)
    assert {*lambda_service.paths} == {
        "/2015-03-31/functions/exhibit-ingest-MigrateDatabaseFunction-1a2b3c/invocations"
    }


def test_what_a_killed_invocation_left_is_waited_for_and_not_done_again(
    narrow: Engine, reports: Answers, lambda_service: Invocations, next_migration: Folder
) -> None:
    folder, event = next_migration(ADD_INDEX), resource_event(reports)
    with start(folder, event) as process:
        until(lambda: is_altering(narrow))
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert is_altering(narrow), "the negative control: the server had nothing left to do"
    assert (reports.bodies, lambda_service.events, revision(narrow)) == ([], [], HEAD)
    # Lambda delivers an event again whose invocation was killed.
    count = follow(lambda_service, reports, event)
    print(f"killed, then {count} invocations")
    assert reports.only()["Status"] == "SUCCESS"
    assert (revision(narrow), indexes(narrow)) == ("9000", INDEXES)


def start(folder: Path, event: dict[str, Any]) -> subprocess.Popen[bytes]:
    given = [str(folder), json.dumps(event), "600"]
    return subprocess.Popen([sys.executable, "-c", INVOKE, *given])


def test_nothing_follows_an_invocation_that_nothing_waits_for(
    ours: Engine, reports: Answers, lambda_service: Invocations, next_migration: Folder
) -> None:
    next_migration("op.execute('DO SLEEP(20)')")
    with pytest.raises(UnfinishedError):
        migrate_database.lambda_handler({"RequestType": "Rotate"}, Left(1.2))
    migrate_database.lambda_handler({**resource_event(reports), "StartedAt": time.time() - 3600}, Left(1.2))
    assert (lambda_service.events, reports.only()["Status"], revision(ours)) == ([], "FAILED", HEAD)


def test_a_lambda_that_does_not_accept_the_event_fails_the_deployment(
    ours: Engine, reports: Answers, lambda_service: Invocations, next_migration: Folder
) -> None:
    next_migration("op.execute('DO SLEEP(20)')")
    lambda_service.status = 403
    migrate_database.lambda_handler(resource_event(reports), Left(1.2))
    assert "Lambda did not accept the rest of the migration" in reports.only()["Reason"]


def test_statements_share_the_time_of_an_invocation(
    ours: Engine, reports: Answers, lambda_service: Invocations, next_migration: Folder
) -> None:
    """Each statement would fit, and all of them together would not: the function would be killed."""
    next_migration("[op.execute('DO SLEEP(0.4)') for _ in range(50)]")
    began = time.monotonic()
    migrate_database.lambda_handler(resource_event(reports), Left(3))
    assert time.monotonic() - began < 3 + RESPONSE_S / 2
    assert (reports.bodies, len(lambda_service.events)) == ([], 1)
