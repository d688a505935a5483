"""Connections to the database that a SQLAlchemy URL names.

SQLAlchemy is imported only for a URL of the user: it takes a quarter of a second, more than the rest of a command.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import pymysql
from pymysql.cursors import DictCursor

from local.errors import LocalError

_PRIVATE = re.compile(
    r"mysql\+pymysql://root(?::(?P<password>\w+))?@(?:127\.0\.0\.1:(?P<port>\d+)|localhost)/(?P<schema>\w*)"
    r"\?(?:unix_socket=(?P<socket>[^&]+)&)?charset=utf8mb4"
)


def parse_url(url: str) -> dict[str, Any]:
    """Return PyMySQL's arguments for a URL, as SQLAlchemy understands it; raise LocalError if it names no schema."""
    private = _PRIVATE.fullmatch(url)
    if private:
        port, socket = private["port"], private["socket"]
        return {
            "host": "127.0.0.1" if port else "localhost",
            **({"port": int(port)} if port else {}),
            **({"unix_socket": unquote(socket)} if socket else {}),
            "user": "root",
            **({"password": private["password"]} if private["password"] else {}),
            "database": private["schema"],
            "charset": "utf8mb4",
        }
    from sqlalchemy.dialects.mysql.pymysql import MySQLDialect_pymysql
    from sqlalchemy.engine import make_url

    parsed = make_url(url)
    if not parsed.database:
        raise LocalError("DATABASE_URL has no schema; write it as in mysql+pymysql://user@host:3306/exhibits")
    return dict(MySQLDialect_pymysql(dbapi=pymysql).create_connect_args(parsed)[1])


def describe_place(url: str) -> str:
    """Return the server and schema of a URL, without user and password."""
    arguments = parse_url(url)
    place = arguments.get("unix_socket") or f"{arguments.get('host')}:{arguments.get('port', 3306)}"
    return f"{place}/{arguments['database']}"


def describe_error(error: pymysql.MySQLError) -> str:
    """Return the message for the user: the number and text of the server or the driver, and what to check."""
    number, text = error.args if len(error.args) > 1 else ("", error)
    return f"database error {number}: {text}; check DATABASE_URL and that the server is running"


def connect(url: str, **arguments: Any) -> pymysql.Connection[DictCursor]:
    """Return a connection in autocommit; `arguments` replace those of the URL. Raises pymysql.Error."""
    given = parse_url(url)
    # As in the functions: TLS protects nothing on a socket, and takes 30 ms to set up.
    plain = {"ssl_disabled": True} if "unix_socket" in given else {}
    return pymysql.connect(**{**given, **plain, "autocommit": True, "cursorclass": DictCursor, **arguments})
