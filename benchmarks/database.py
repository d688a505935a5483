"""The database of a benchmark: a temporary schema, on a private server or on a given one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from sqlalchemy import URL, Engine, create_engine, make_url, text

from local.services.mysql import temporary_server
from shell.db.session import engine
from shell.maintenance.migrate import migrate
from shell.settings import settings

_DEADLOCKS = "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'"
_REQUIRED = (
    *("BUCKET", "IMPORT_REQUESTS_QUEUE_URL", "IMPORT_CHUNKS_QUEUE_URL", "IMPORT_COMPLETIONS_QUEUE_URL"),
    *("OUTBOX_WAKE_QUEUE_URL", "PRODUCTION_CHECKS_QUEUE_URL", "EVENTS_TOPIC_ARN"),
)


class Database:
    """A connection to the benchmark's schema that bypasses the application."""

    def __init__(self, url: URL, admin: Engine) -> None:
        self.environment = {
            # The measured code does not send or upload anything.
            **dict.fromkeys(_REQUIRED, "none"),
            "DATABASE_URL": url.render_as_string(hide_password=False),
            # Metrics on standard output would mix with the result.
            "POWERTOOLS_METRICS_DISABLED": "true",
        }
        self._admin = admin

    def query(self, statement: str, **values: Any) -> Sequence[Any]:
        """Run a statement in its own transaction and return its rows."""
        with self._admin.connect() as connection:
            result = connection.execute(text(statement), values)
            return result.all() if result.returns_rows else []

    def server(self) -> str:
        """Return the server's product and version."""
        version = str(self.query("SELECT VERSION()")[0][0])
        return version if "MariaDB" in version else f"{version}-MySQL"

    def deadlocks(self) -> int:
        """Return the number of deadlocks since the server started, in all schemas."""
        status = self.query("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")
        return int(status[0][1] if status else self.query(_DEADLOCKS)[0][0])


@contextmanager
def temporary_database(server: str | None) -> Iterator[Database]:
    """Create a schema with the application's tables for the block; without a server, on a private one."""
    with ExitStack() as stack:
        stack.callback(replace_environment, dict(os.environ))
        url = make_url(server or stack.enter_context(temporary_server()))
        database = Database(*stack.enter_context(_temporary_schema(url)))
        _migrate(database)
        yield database


@contextmanager
def _temporary_schema(server: URL) -> Iterator[tuple[URL, Engine]]:
    url = server.set(database=f"exhibits_bench_{secrets.token_hex(4)}").update_query_dict({"charset": "utf8mb4"})
    with _administrator(server.set(database="")) as any_schema, _administrator(url) as schema:
        with any_schema.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {url.database} CHARACTER SET utf8mb4"))
        try:
            yield url, schema
        finally:
            with any_schema.connect() as connection:
                connection.execute(text(f"DROP DATABASE {url.database}"))


@contextmanager
def _administrator(url: URL) -> Iterator[Engine]:
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        yield admin
    finally:
        admin.dispose()


def _migrate(database: Database) -> None:
    replace_environment({**os.environ, **database.environment})
    migrate({})
    engine().dispose()


def replace_environment(environment: Mapping[str, str]) -> None:
    """Replace this process's environment and reset the application's settings and engine."""
    os.environ.clear()
    os.environ.update(environment)
    settings.cache_clear()
    engine.cache_clear()
