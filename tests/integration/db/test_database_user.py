"""The user of the functions: what it can do, what it cannot, and a password that changes."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import boto3
import pytest
from sqlalchemy import URL, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from shell.db.session import session
from shell.maintenance.database_user import ensure_user
from shell.settings import settings
from tests.support.database import Database


@dataclass
class User:
    """A user that the migration makes, and its secret."""

    name: str
    arn: str
    url: URL

    def set_password(self, password: str) -> None:
        told = json.dumps({"username": self.name, "password": password})
        boto3.client("secretsmanager").put_secret_value(SecretId=self.arn, SecretString=told)

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
    ensure_user()
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


@pytest.mark.parametrize(
    "statement",
    [
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
    ensure_user()
    ensure_user()
    user.execute("second", "SELECT 1")
    with pytest.raises(DBAPIError, match="1045"):
        user.execute("first", "SELECT 1")


def test_without_a_secret_there_is_no_user(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DB_USER_SECRET_ARN", raising=False)
    settings.cache_clear()
    ensure_user()
