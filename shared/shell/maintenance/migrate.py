"""Migrate the schema during a deployment.

Guaranteed: one migration runs at a time, on the connection that holds the server's lock; a database that newer code has
migrated is left unchanged, so that a CloudFormation rollback does not fail; deleting the stack does not use the
database; a statement that waits for a table lock, and so makes all later statements on that table wait, gives up after
`TABLE_WAIT_S` seconds and is retried; what does not end in one invocation goes on in the next, for as long as
CloudFormation waits, which gets its response before the function is killed. The server executes a statement that an
invocation leaves behind to its end and keeps the lock until then; the next invocation waits for the lock, finds the
statement's work done, and continues after it.
Not guaranteed: that a migration ends while CloudFormation waits. It then receives FAILED and rolls back to code that
works with either schema, and the next deployment goes on in the same way.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, event, text
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from core.errors import DatabaseUnavailableError, DeadlineNearError, LockNotAcquiredError, SettingsError
from shell.aws.sqs import wake
from shell.db.ids import ForeignIdsError
from shell.db.retry import rerun_if_unknown, retry_on_db_conflict
from shell.db.session import session
from shell.deadline import seconds_left
from shell.maintenance.continuation import UnfinishedError, continuing
from shell.maintenance.custom_resource import RESPONSE_S, respond, summarize_error
from shell.maintenance.database_user import ensure_users
from shell.maintenance.restore import is_restored_from_snapshot, skip_issued_ids
from shell.observability import emit_counts, logger
from shell.settings import settings
from shell.utils.advisory_lock import exclusive_connection

LOCK_WAIT_S = 20
TABLE_WAIT_S = 10
# How long a change of the cluster's parameters, in the same deployment, may take to reach new connections.
PARAMETERS_S, PARAMETERS_PAUSE_S = 120, 5
SCRIPTS = Path(__file__).parents[1] / "migrations"

_LIMIT_TABLE_WAIT = text(f"SET SESSION lock_wait_timeout = {TABLE_WAIT_S}")


def migrate(request: dict[str, Any]) -> dict[str, str]:
    """Apply the missing migrations, give the functions their user, and respond to CloudFormation if it waits.

    The status is `migrated`, or `not migrated` if CloudFormation got a failure, or gets its response from another
    invocation.
    """
    with respond(request), continuing(request):
        if request.get("RequestType") != "Delete":
            _prepare_database(request)
        return {"status": "migrated"}
    return {"status": "not migrated"}


def _prepare_database(request: dict[str, Any]) -> None:
    await_parameters()
    upgrade(SCRIPTS)
    ensure_users()
    if is_restored_from_snapshot(request):
        skip_issued_ids()
    _resume_work()
    # The alarm for a purge that does not run waits for the first run of a new stack.
    emit_counts(RowsPurged=0)


def await_parameters() -> None:
    """Return once the server generates ids of this stack's cell. Raises ForeignIdsError if it does not in time."""
    waiting = Retrying(
        retry=retry_if_exception_type(ForeignIdsError),
        stop=stop_after_delay(PARAMETERS_S),
        wait=wait_fixed(PARAMETERS_PAUSE_S),
        reraise=True,
    )
    waiting(_read_current)


def _resume_work() -> None:
    """Have events published and productions checked: a restored database has some whose messages are gone."""
    for queue_url in (settings().outbox_wake_queue_url, settings().production_checks_queue_url):
        wake(queue_url)


def upgrade(scripts: Path) -> None:
    """Apply the folder's missing migrations, one after the other.

    Raises SettingsError for a database with an unknown revision, UnfinishedError if the invocation has no time left,
    and DatabaseUnavailableError, with the error's number, for a migration that failed.
    """
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.attributes["charset"] = settings().db_charset
    directory = ScriptDirectory.from_config(config)
    for revision in _find_missing(directory, _read_current()):
        try:
            _apply_in_turn(config, directory, revision)
        except Exception as error:
            raise _explain(revision, error) from error
        logger.info("migrated", extra={"revision": revision})
    logger.info("schema is up to date")


def _explain(revision: str, error: Exception) -> DatabaseUnavailableError:
    """Return the error of a migration; whatever failed for lack of time goes on in another invocation."""
    if _seconds_for_work() < 1:
        return UnfinishedError(
            f"migration {revision} failed: no time is left for it. The server may still execute its last statement: "
            "wait until that is gone from SHOW PROCESSLIST. Earlier ones are kept; deploy again."
        )
    reason = summarize_error(error).removesuffix(".")
    return DatabaseUnavailableError(
        f"migration {revision} failed: {reason}. Earlier ones are kept; remove the cause and deploy again."
    )


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


def _apply_in_turn(config: Config, directory: ScriptDirectory, revision: str) -> None:
    """Apply one migration; in an invocation, wait for another one, or for what it left behind, until time is over."""
    while True:
        try:
            return _apply(config, directory, revision)
        except LockNotAcquiredError:
            if math.isinf(seconds_left()) or _seconds_for_work() < 1:
                raise
            logger.info("waiting for the statement of another invocation", extra={"revision": revision})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _apply(config: Config, directory: ScriptDirectory, revision: str) -> None:
    """Apply one migration under the lock: MySQL commits each DDL statement, so two must not run concurrently."""
    wait_s = min(LOCK_WAIT_S, _limit_statement() or LOCK_WAIT_S)
    with exclusive_connection("migrations", math.floor(wait_s)) as connection:
        event.listen(connection, "before_cursor_execute", _limit_each)
        if revision in _find_missing(directory, _get_revision(connection)):
            connection.execute(_LIMIT_TABLE_WAIT)
            config.attributes["connection"] = connection
            _run(config, directory, revision)
        connection.commit()


def _limit_each(connection: Connection, *_: object) -> None:
    """Have the next statement fail here, as a lost connection, when the invocation has no more time for it."""
    # PyMySQL sets this timeout before each read, and has no other way to change it.
    connection.connection.driver_connection._read_timeout = _limit_statement()  # type: ignore[union-attr]


def _limit_statement() -> float | None:
    """Return the seconds that a statement can take; None outside of an invocation. Raises DeadlineNearError below 1."""
    left_s = _seconds_for_work()
    if left_s < 1:
        raise DeadlineNearError()
    return None if math.isinf(left_s) else left_s


def _run(config: Config, directory: ScriptDirectory, revision: str) -> None:
    """Do as `alembic.command.upgrade`, which would load every script again, for each of them."""

    def list_steps(current: Any, _: MigrationContext) -> Any:
        return directory._upgrade_revs(revision, current)

    with EnvironmentContext(config, directory, fn=list_steps, destination_rev=revision):
        directory.run_env()


def _seconds_for_work() -> float:
    """Return the invocation's remaining seconds less those for the response."""
    return seconds_left() - RESPONSE_S
