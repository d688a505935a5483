"""Users of a database server whose secrets the application has."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import boto3
import pytest
from sqlalchemy import URL, Engine, create_engine, make_url, text

from shell.db import connection as db_connecting
from shell.db import session
from shell.db.connection import tls_context
from shell.settings import settings
from tests.support.application.cleared_caches import forget_secrets
from tests.support.servers.tls_server import Authority


@dataclass
class Login:
    """A user of a server, whose secret the application has."""

    url: URL
    admin: Engine
    user: str
    arn: str
    password: str

    def rotate(self, *, is_stored: bool = True) -> None:
        """Another password; `is_stored` unless the secret still has the old one."""
        self.password = secrets.token_hex(8)
        self._execute(f"ALTER USER '{self.user}'@'%' IDENTIFIED BY '{self.password}'")
        if is_stored:
            boto3.client("secretsmanager").put_secret_value(SecretId=self.arn, SecretString=self.secret())

    def secret(self) -> str:
        return json.dumps({"username": self.user, "password": self.password})

    def refused(self) -> int:
        """How many logins the server has refused since it started."""
        with self.admin.connect() as connection:
            return int(connection.execute(text("SHOW GLOBAL STATUS LIKE 'Aborted_connects'")).one()[1])

    def _execute(self, statement: str) -> None:
        with self.admin.connect() as connection:
            connection.execute(text(statement))


def create_login(address: str, authority: Authority) -> Iterator[Login]:
    """Create a user of the server, with its secret, whom the application uses until the end."""
    url, user, password = make_url(address).set(database=""), f"app_{secrets.token_hex(4)}", secrets.token_hex(8)
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE USER '{user}'@'%' IDENTIFIED BY '{password}' REQUIRE SSL"))
    secret = json.dumps({"username": user, "password": password})
    arn = boto3.client("secretsmanager").create_secret(Name=user, SecretString=secret)["ARN"]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DATABASE_URL", raising=False)
        patch.setenv("DB_SECRET_ARN", arn)
        patch.setattr(db_connecting, "RDS_AUTHORITIES", authority.file)
        forget_settings()
        yield Login(URL.create("mysql+pymysql", host=url.host, port=url.port), admin, user, arn, password)
    forget_settings()
    with admin.connect() as connection:
        connection.execute(text(f"DROP USER '{user}'@'%'"))
    admin.dispose()


def forget_settings() -> None:
    """Forget what the application has read of settings, authorities and secrets."""
    settings.cache_clear()
    tls_context.cache_clear()
    forget_secrets()


def engine_to(url: URL) -> Engine:
    """Return a new engine of the application."""
    made: Engine = session.engine.__wrapped__(url)
    return made


def cipher(engine: Engine) -> str:
    """Return the cipher of a connection; blank without TLS."""
    with engine.connect() as connection:
        return str(connection.execute(text("SHOW SESSION STATUS LIKE 'Ssl_cipher'")).one()[1])
