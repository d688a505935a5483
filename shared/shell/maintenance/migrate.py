"""Bringing the schema up to date, once, whoever asks at the same time.

Guaranteed: one migration at a time, under a lock of the server's and on the connection that holds it; a database that
newer code has migrated is left alone, so that what CloudFormation rolls back does not fail in the rollback; whoever
removes the stack asks nothing of the database; a statement that waits for a table, behind which everybody else waits
for that table too, gives up after `TABLE_WAIT_S` and is tried again; CloudFormation has its answer before the function
is killed.
Not guaranteed: that a migration ends within the function's time. It is not interrupted: the server executes its
statement to the end and keeps the lock until then, while CloudFormation is told FAILED and rolls back to code that
works with either schema. The next deployment finds the statement's work done and goes on behind it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from core.errors import DatabaseUnavailableError, SettingsError
from shell.invocation import seconds_left
from shell.observability import logger
from shell.restoring_ops import begins_as_snapshot, step_over_what_was_given_out
from shell.settings import settings
from shell.utils.advisory_lock import exclusive_connection
from shell.utils.cloudformation import ANSWER_S, answer, summary
from shell.utils.db_session import session
from shell.utils.replaying import repeating_is_harmless, retry_on_db_conflict

LOCK_WAIT_S = 20
TABLE_WAIT_S = 10
SCRIPTS = Path(__file__).parent / "migrations"

_BOUNDED = text(f"SET SESSION lock_wait_timeout = {TABLE_WAIT_S}")


def migrate(event: dict[str, Any]) -> dict[str, str]:
    """Apply the migrations that are missing, and tell CloudFormation if it was the one that asked."""
    with answer(event):
        if event.get("RequestType") != "Delete":
            upgrade(SCRIPTS)
            if begins_as_snapshot(event):
                step_over_what_was_given_out()
    return {"status": "migrated"}


def upgrade(scripts: Path) -> None:
    """Apply what is missing of the migrations in that folder, one after the other.

    Raises SettingsError for a database whose revision is none of ours, and DatabaseUnavailableError, with the error's
    number, for one that failed or did not end in time.
    """
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.attributes["charset"] = settings().db_charset
    for revision in _missing(config, _current()):
        try:
            _apply(config, revision)
        except Exception as error:
            told = f"migration {revision} failed: {summary(error)}. Those before it stay"
            raise DatabaseUnavailableError(f"{told}; deploy again when the cause is gone") from error
        logger.info("migrated", extra={"revision": revision})
    logger.info("schema is up to date")


def _missing(config: Config, current: str | None) -> list[str]:
    """The revisions that a database at that one lacks, in their order; none where newer code was at work."""
    directory = ScriptDirectory.from_config(config)
    known = [script.revision for script in directory.walk_revisions()][::-1]
    if current is None or current in known:
        return known[known.index(current) + 1 :] if current else known
    if not (current.isdigit() and current > known[-1]):
        raise SettingsError(f"the database is at revision {current!r}, which is none of this code's: is it another's?")
    logger.warning("the database is newer than this code: left alone", extra={"revision": current, "ours": known[-1]})
    return []


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _current() -> str | None:
    with session() as reading:
        return _revision(reading.connection())


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _apply(config: Config, revision: str) -> None:
    """MySQL commits every DDL statement by itself, so two migrations must not run side by side."""
    left = _seconds_for_work()
    if left < 1:
        raise DatabaseUnavailableError(
            "no time is left for it. What the server still executes of it goes on there: wait until that is gone from "
            "SHOW PROCESSLIST; the migrations go on behind it"
        )
    longest = None if math.isinf(left) else math.floor(left)
    with exclusive_connection("migrations", LOCK_WAIT_S, longest_statement_s=longest) as connection:
        if revision in _missing(config, _revision(connection)):
            connection.execute(_BOUNDED)
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
        connection.commit()


def _seconds_for_work() -> float:
    """Until only the wait for the lock and the answer fit in."""
    return seconds_left() - LOCK_WAIT_S - ANSWER_S
