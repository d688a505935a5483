"""A database's URL is understood here as SQLAlchemy understands it."""

from __future__ import annotations

import pymysql
import pytest
from sqlalchemy.dialects.mysql.pymysql import MySQLDialect_pymysql
from sqlalchemy.engine import make_url

from local.errors import LocalError
from local.services.mysql_connection import parse_url

PRIVATE = "mysql+pymysql://root@127.0.0.1:3999/exhibits?charset=utf8mb4"
SOCKET = "mysql+pymysql://root:0a1b@localhost/exhibits?unix_socket=%2Ftmp%2Fa%20b%2Fserver.sock&charset=utf8mb4"
SECURED = "mysql+pymysql://root:0a1b@127.0.0.1:3999/exhibits?charset=utf8mb4"


@pytest.mark.parametrize(
    "url",
    [
        PRIVATE,
        SECURED,
        SOCKET,
        "mysql+pymysql://me:p%40ss@db/acme?ssl_ca=ca.pem&charset=utf8mb4",
        "mysql+pymysql://me@db:1/a",
    ],
)
def test_a_url_has_the_arguments_that_sqlalchemy_gives_it(url: str) -> None:
    expected = MySQLDialect_pymysql(dbapi=pymysql).create_connect_args(make_url(url))[1]
    # SQLAlchemy counts the rows that an UPDATE finds, which reading does not need.
    assert {"client_flag": expected["client_flag"], **parse_url(url)} == expected


def test_a_url_without_a_schema_is_refused() -> None:
    with pytest.raises(LocalError, match="DATABASE_URL has no schema"):
        parse_url("mysql+pymysql://me@db:3306")
