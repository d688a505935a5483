"""The database that is measured: a schema of its own, on a private server or on one that is given."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from sqlalchemy import URL, Engine, create_engine, make_url, text

from local.database import temporary_server
from shell.migration_ops import migrate
from shell.settings import settings
from shell.utils.db_session import engine

_DEADLOCKS = "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'"
_REQUIRED = (
    *("BUCKET", "IMPORT_REQUESTS_QUEUE_URL", "IMPORT_CHUNKS_QUEUE_URL"),
    *("OUTBOX_NUDGE_QUEUE_URL", "EVENTS_TOPIC_ARN"),
)


class Database:
    """A schema as it is committed, seen past the application."""

    def __init__(self, url: URL, admin: Engine) -> None:
        self.environment = {
            # Nothing that is measured sends or uploads anything.
            **dict.fromkeys(_REQUIRED, "none"),
            "DATABASE_URL": url.render_as_string(hide_password=False),
            # What is printed is the result alone.
            "POWERTOOLS_METRICS_DISABLED": "true",
        }
        self._admin = admin

    def query(self, statement: str, **values: Any) -> Sequence[Any]:
        """Rows of a statement in a transaction of its own."""
        with self._admin.connect() as connection:
            result = connection.execute(text(statement), values)
            return result.all() if result.returns_rows else []

    def server(self) -> str:
        """Which server it is, and its version."""
        version = str(self.query("SELECT VERSION()")[0][0])
        return version if "MariaDB" in version else f"{version}-MySQL"

    def deadlocks(self) -> int:
        """How many the server has broken since it started, in all schemas."""
        status = self.query("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")
        return int(status[0][1] if status else self.query(_DEADLOCKS)[0][0])


@contextmanager
def own_database(server: str | None) -> Iterator[Database]:
    """A schema of our own with the application's tables, dropped in the end; without a server, on a private one."""
    with ExitStack() as stack:
        stack.callback(adopt, dict(os.environ))
        url = make_url(server or stack.enter_context(temporary_server()))
        database = Database(*stack.enter_context(_own_schema(url)))
        _migrate(database)
        yield database


@contextmanager
def _own_schema(server: URL) -> Iterator[tuple[URL, Engine]]:
    url = server.set(database=f"exhibits_bench_{secrets.token_hex(4)}").update_query_dict({"charset": "utf8mb4"})
    with _administrator(server.set(database="")) as any_schema, _administrator(url) as ours:
        with any_schema.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {url.database} CHARACTER SET utf8mb4"))
        try:
            yield url, ours
        finally:
            with any_schema.connect() as connection:
                connection.execute(text(f"DROP DATABASE {url.database}"))


@contextmanager
def _administrator(url: URL) -> Iterator[Engine]:
    made = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        yield made
    finally:
        made.dispose()


def _migrate(database: Database) -> None:
    adopt({**os.environ, **database.environment})
    migrate({})
    engine().dispose()


def adopt(environment: Mapping[str, str]) -> None:
    """Make it this process's, and have the application read it anew."""
    os.environ.clear()
    os.environ.update(environment)
    settings.cache_clear()
    engine.cache_clear()
