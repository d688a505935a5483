"""The purge logs in as a user of its own, which alone deletes history, and can do no more than it needs."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

from shell.maintenance.database_user import FUNCTIONS, PURGE, Rights, grant_rights
from tests.integration.purges.test_purged_cases import matches
from tests.support.application.cleared_caches import forget_caches
from tests.support.application.driver import World
from tests.support.database.application_user import administrator_engine
from tests.support.purges.filled_cases import fill_case
from tests.support.purges.runs import purge


@pytest.fixture
def users(world: World) -> Iterator[dict[str, URL]]:
    """The two users of the functions."""
    made, urls = administrator_engine(), {}
    rights: dict[str, Rights] = {"functions": FUNCTIONS, "purge": PURGE}
    for name, each in rights.items():
        user, password = f"{name}_{secrets.token_hex(4)}", secrets.token_hex(8)
        with made.begin() as connection:
            connection.exec_driver_sql("CREATE USER %s@'%%' IDENTIFIED BY %s", (user, password))
            grant_rights(connection, user, each)
        urls[name] = make_url(world.environment["DATABASE_URL"]).set(username=user, password=password)
    yield urls
    with made.begin() as connection:
        for url in urls.values():
            connection.exec_driver_sql("DROP USER %s@'%%'", (url.username,))


def execute(url: URL, statement: str) -> None:
    """Run a statement as a user."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            connection.execute(text(statement))
    finally:
        engine.dispose()


def test_history_is_deleted_by_the_user_of_the_purge_alone(users: dict[str, URL]) -> None:
    for table in ("exhibit_changes", "custody_changes"):
        execute(users["purge"], f"DELETE FROM {table}")
        with pytest.raises(DBAPIError):
            execute(users["functions"], f"DELETE FROM {table}")
        with pytest.raises(DBAPIError):
            execute(users["purge"], f"UPDATE {table} SET user_id = 1")
    for statement in ("DELETE FROM activities", "UPDATE activities SET user_id = 1", "DELETE FROM case_changes"):
        with pytest.raises(DBAPIError):
            execute(users["purge"], statement)


def test_a_purge_has_all_rights_that_it_needs(
    world: World, users: dict[str, URL], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = fill_case(world, 1)
    monkeypatch.setenv("TESTS_ADMINISTRATOR_URL", world.environment["DATABASE_URL"])
    monkeypatch.setenv("DATABASE_URL", users["purge"].render_as_string(hide_password=False))
    forget_caches()
    try:
        assert matches(purge(world, 1), case)
    finally:
        monkeypatch.undo()
        forget_caches()
