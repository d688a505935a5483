"""The application logs in as the user that a migration gives the functions, whose rights are per table.

With TESTS_AS_APPLICATION=1 in the environment, all tests of `world` do; what tests themselves look up or prepare is
done by the administrator. Tests that migrate, or that use a database of their own, are not affected.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from sqlalchemy import URL, Engine, create_engine, make_url

from shell.db.session import engine
from shell.maintenance.database_user import grant_rights

SWITCH, ADMINISTRATOR = "TESTS_AS_APPLICATION", "TESTS_ADMINISTRATOR_URL"


@contextmanager
def application_user(administrator: URL) -> Iterator[URL]:
    """A user with the rights of the deployed functions on the URL's schema, which is migrated, for the block."""
    made, user, password = create_engine(administrator), f"app_{secrets.token_hex(4)}", secrets.token_hex(8)
    with made.begin() as connection:
        connection.exec_driver_sql("CREATE USER %s@'%%' IDENTIFIED BY %s", (user, password))
        grant_rights(connection, user)
    try:
        yield administrator.set(username=user, password=password)
    finally:
        with made.begin() as connection:
            connection.exec_driver_sql("DROP USER %s@'%%'", (user,))
        made.dispose()


def administrator_engine() -> Engine:
    """The application's engine, or with the switch the administrator's."""
    url = os.environ.get(ADMINISTRATOR)
    return _administrator_engine(url) if url else engine()


@lru_cache(maxsize=1)
def _administrator_engine(url: str) -> Engine:
    made: Engine = engine.__wrapped__(make_url(url))
    return made
