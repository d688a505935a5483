"""Migrate the schema during a deployment.

Guaranteed: one migration runs at a time, on the connection that holds the server's lock; a database that newer code has
migrated is left unchanged, so that a CloudFormation rollback does not fail; deleting the stack does not use the
database; a statement that waits for a table lock, and so makes all later statements on that table wait, gives up after
`TABLE_WAIT_S` seconds and is retried; CloudFormation gets its response before the function is killed.
Not guaranteed: that a migration ends before the function's timeout. The server executes the running statement to its
end and keeps the lock until then, while CloudFormation receives FAILED and rolls back to code that works with either
schema. The next deployment finds the statement's work done and continues after it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from core.errors import DatabaseUnavailableError, SettingsError
from shell.aws.sqs import wake
from shell.db.retry import rerun_if_unknown, retry_on_db_conflict
from shell.db.session import session
from shell.deadline import seconds_left
from shell.maintenance.custom_resource import RESPONSE_S, respond, summarize_error
from shell.maintenance.database_user import ensure_user
from shell.maintenance.restore import is_restored_from_snapshot, skip_issued_ids
from shell.observability import emit_counts, logger
from shell.settings import settings
from shell.utils.advisory_lock import exclusive_connection

LOCK_WAIT_S = 20
TABLE_WAIT_S = 10
SCRIPTS = Path(__file__).parents[1] / "migrations"

_LIMIT_TABLE_WAIT = text(f"SET SESSION lock_wait_timeout = {TABLE_WAIT_S}")


def migrate(event: dict[str, Any]) -> dict[str, str]:
    """Apply the missing migrations, give the functions their user, and respond to CloudFormation if it waits."""
    with respond(event):
        if event.get("RequestType") != "Delete":
            upgrade(SCRIPTS)
            ensure_user()
            if is_restored_from_snapshot(event):
                skip_issued_ids()
            _resume_work()
            # The alarm for a purge that does not run waits for the first run of a new stack.
            emit_counts(RowsPurged=0)
    return {"status": "migrated"}


def _resume_work() -> None:
    """Have events published and productions checked: a restored database has some whose messages are gone."""
    for queue_url in (settings().outbox_wake_queue_url, settings().production_checks_queue_url):
        wake(queue_url)


def upgrade(scripts: Path) -> None:
    """Apply the folder's missing migrations, one after the other.

    Raises SettingsError for a database with an unknown revision, and DatabaseUnavailableError, with the error's number,
    for a migration that failed or had no time left.
    """
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.attributes["charset"] = settings().db_charset
    directory = ScriptDirectory.from_config(config)
    for revision in _find_missing(directory, _read_current()):
        try:
            _apply(config, directory, revision)
        except Exception as error:
            reason = summarize_error(error).removesuffix(".")
            raise DatabaseUnavailableError(
                f"migration {revision} failed: {reason}. Earlier ones are kept; remove the cause and deploy again."
            ) from error
        logger.info("migrated", extra={"revision": revision})
    logger.info("schema is up to date")


def _find_missing(directory: ScriptDirectory, current: str | None) -> list[str]:
    """Return the revisions after `current`, in order; none for a database that newer code has migrated."""
    known = [script.revision for script in directory.walk_revisions()][::-1]
    if current is None or current in known:
        return known[known.index(current) + 1 :] if current else known
    if not (current.isdigit() and current > known[-1]):
        raise SettingsError(f"the database is at revision {current!r}, which this code does not know; check DB_NAME")
    logger.warning(
        "the database is newer than this code; nothing is migrated", extra={"revision": current, "known": known[-1]}
    )
    return []


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_current() -> str | None:
    with session() as reading:
        return _get_revision(reading.connection())


def _get_revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _apply(config: Config, directory: ScriptDirectory, revision: str) -> None:
    """Apply one migration under the lock: MySQL commits each DDL statement, so two must not run concurrently."""
    left_s = _seconds_for_work()
    if left_s < 1:
        raise DatabaseUnavailableError(
            "no time is left for it. The server may still execute its last statement: wait until that is gone from "
            "SHOW PROCESSLIST."
        )
    longest = None if math.isinf(left_s) else math.floor(left_s)
    with exclusive_connection("migrations", LOCK_WAIT_S, longest_statement_s=longest) as connection:
        if revision in _find_missing(directory, _get_revision(connection)):
            connection.execute(_LIMIT_TABLE_WAIT)
            config.attributes["connection"] = connection
            _run(config, directory, revision)
        connection.commit()


def _run(config: Config, directory: ScriptDirectory, revision: str) -> None:
    """Do as `alembic.command.upgrade`, which would load every script again, for each of them."""

    def list_steps(current: Any, _: MigrationContext) -> Any:
        return directory._upgrade_revs(revision, current)

    with EnvironmentContext(config, directory, fn=list_steps, destination_rev=revision):
        directory.run_env()


def _seconds_for_work() -> float:
    """Return the invocation's remaining seconds less those for the lock wait and the response."""
    return seconds_left() - LOCK_WAIT_S - RESPONSE_S
