"""The user of the functions: what it can do, what it cannot, and a password that changes."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import boto3
import pytest
from sqlalchemy import URL, Connection, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from shell.db.session import session
from shell.maintenance import database_user
from shell.maintenance.database_user import AUDIT_TABLES, ensure_users
from shell.settings import settings
from tests.support.database.counted_database import Database


@dataclass
class User:
    """A user that the migration makes, and its secret."""

    name: str
    arn: str
    url: URL

    def set_password(self, password: str) -> None:
        secret = json.dumps({"username": self.name, "password": password})
        boto3.client("secretsmanager").put_secret_value(SecretId=self.arn, SecretString=secret)

    def execute(self, password: str, statement: str) -> None:
        engine = create_engine(self.url.set(username=self.name, password=password))
        try:
            with engine.begin() as connection:
                connection.execute(text(statement))
        finally:
            engine.dispose()


@pytest.fixture
def user(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[User]:
    """Made by the migration with the password `first`."""
    name = f"app_{secrets.token_hex(4)}"
    arn = boto3.client("secretsmanager").create_secret(Name=name, SecretString="{}")["ARN"]
    monkeypatch.setenv("DB_USER_SECRET_ARN", arn)
    settings.cache_clear()
    made = User(name, arn, make_url(settings().database_url or ""))
    made.set_password("first")
    ensure_users()
    yield made
    with session() as administrating:
        administrating.connection().exec_driver_sql("DROP USER %s@'%%'", (name,))
    settings.cache_clear()


def test_it_reads_and_writes_rows(user: User) -> None:
    for statement in (
        "INSERT INTO cases (tenant_id, name) VALUES ('tenant', 'Case')",
        "UPDATE cases SET name = 'Other' WHERE name = 'Case'",
        "SELECT COUNT(*) FROM exhibit_list",
        "DELETE FROM cases WHERE name = 'Other'",
    ):
        user.execute("first", statement)


@pytest.mark.parametrize("table", AUDIT_TABLES)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {0} SET user_id = 1",
        "DELETE FROM {0}",
        "TRUNCATE TABLE {0}",
        "INSERT INTO {0} (user_id) VALUES (1) ON DUPLICATE KEY UPDATE user_id = 2",
        "REPLACE INTO {0} (user_id) VALUES (1)",
    ],
)
def test_history_is_inserted_and_read_and_nothing_else(user: User, table: str, statement: str) -> None:
    user.execute("first", f"SELECT COUNT(*) FROM {table}")
    # The right is there; what is missing is a value.
    with pytest.raises(DBAPIError, match=r"\((1364|1452), "):
        user.execute("first", f"INSERT INTO {table} (user_id) VALUES (1)")
    with pytest.raises(DBAPIError, match=r"\(1142, "):
        user.execute("first", statement.format(table))


def test_every_table_and_view_has_rights_also_one_that_is_new(user: User) -> None:
    with session() as administrating:
        connection = administrating.connection()
        connection.execute(text("CREATE TABLE `toy_50%_new` (id INT)"))
        names = [row[0] for row in connection.exec_driver_sql("SHOW TABLES")]
    try:
        ensure_users()
        for name in names:
            user.execute("first", f"SELECT COUNT(*) FROM `{name}`")
        user.execute("first", "INSERT INTO `toy_50%_new` VALUES (1)")
    finally:
        with session() as administrating:
            administrating.connection().execute(text("DROP TABLE `toy_50%_new`"))


def test_the_rights_of_an_earlier_version_are_replaced_and_never_missing(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stack of the version before has a right to the whole schema; its functions go on while they are replaced."""
    with session() as administrating:
        connection = administrating.connection()
        pattern = str(connection.exec_driver_sql("SELECT DATABASE()").scalar_one()).replace("_", r"\_")
        rights = "SELECT, INSERT, UPDATE, DELETE"
        connection.exec_driver_sql(f"GRANT {rights} ON `{pattern}`.* TO %s@'%%'", (user.name,))
    user.execute("first", "DELETE FROM exhibit_changes")
    statements = watch_grants(user, monkeypatch)
    ensure_users()
    assert len(statements) > 40
    with pytest.raises(DBAPIError, match=r"\(1142, "):
        user.execute("first", "DELETE FROM exhibit_changes")


def watch_grants(user: User, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Between all statements of the migration, the user reads and writes."""
    statements: list[str] = []
    execute = database_user._execute

    def watched(connection: Connection, statement: str, name: str) -> None:
        execute(connection, statement, name)
        statements.append(statement)
        user.execute("first", "UPDATE cases SET name = name WHERE id = 0")
        user.execute("first", "SELECT COUNT(*) FROM exhibit_changes")

    monkeypatch.setattr(database_user, "_execute", watched)
    return statements


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE alembic_version SET version_num = '0001'",
        "DROP TABLE cases",
        "ALTER TABLE cases ADD COLUMN more INT",
        "CREATE TABLE more (id INT)",
        "TRUNCATE TABLE cases",
        "CREATE USER another IDENTIFIED BY 'secret'",
        "SELECT COUNT(*) FROM mysql.user",
    ],
)
def test_it_changes_no_table_and_no_user(user: User, statement: str) -> None:
    with pytest.raises(DBAPIError, match=r"\((1142|1044|1227|1045), "):
        user.execute("first", statement)


def test_a_new_password_of_the_secret_replaces_the_old_one(user: User) -> None:
    user.set_password("second")
    ensure_users()
    ensure_users()
    user.execute("second", "SELECT 1")
    with pytest.raises(DBAPIError, match="1045"):
        user.execute("first", "SELECT 1")


def test_without_a_secret_there_is_no_user(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DB_USER_SECRET_ARN", raising=False)
    settings.cache_clear()
    ensure_users()
