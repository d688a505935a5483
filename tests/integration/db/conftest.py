"""A schema without a table, and an administrator who may create users."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, create_engine, make_url

from shell.db import session
from shell.settings import settings
from tests.support.database.counted_database import Database
from tests.support.servers.provisioned_servers import SERVER, schema_beside


@pytest.fixture
def empty(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The application's database is a schema without a table."""
    with schema_beside(database.url, "new") as url, monkeypatch.context() as patch:
        made = create_engine(url, isolation_level="AUTOCOMMIT")
        patch.setenv("DATABASE_URL", url.render_as_string(hide_password=False))
        forget_database()
        yield made
        session.engine().dispose()
        made.dispose()
    forget_database()


def forget_database() -> None:
    settings.cache_clear()
    session.engine.cache_clear()


@pytest.fixture
def administrator(database: Database) -> Iterator[Connection]:
    """A connection that can create users; where deadlocks are counted by user, the database's own one cannot."""
    server = make_url(os.environ[SERVER]) if database.is_mysql else database.url
    engine = create_engine(server.set(database=""), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()
