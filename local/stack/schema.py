"""The schema of a stack's database: created if it is missing, and compared with the newest migration.

Guaranteed: only a database whose one recorded revision is the one newest revision is current; where either cannot be
determined, it is not.
"""

from __future__ import annotations

import re
from pathlib import Path

import pymysql
from pymysql import MySQLError
from pymysql.constants import ER
from pymysql.cursors import DictCursor

from local.errors import LocalError
from local.services.mysql_connection import connect, describe_error, parse_url

_REVISION = re.compile(r"""^(down_)?revision(?:: [^=]+)? = (?:["'](\w+)["']|None)""", re.MULTILINE)


def prepare_schema(url: str, migrations: Path | None) -> bool:
    """Create the schema of a URL if it is missing; return whether it is at the newest of the migrations in a folder.

    Raises LocalError that says what to check where the server does not answer or refuses.
    """
    try:
        with connect(url, database=None) as connection, connection.cursor() as cursor:
            _select_schema(connection, cursor, parse_url(url)["database"])
            newest = find_newest_revision(migrations) if migrations else None
            return newest is not None and _read_revisions(cursor) == [newest]
    except MySQLError as exc:
        raise LocalError(describe_error(exc)) from exc


def has_tables(url: str, migrations: Path) -> bool:
    """Return whether the schema of a URL exists and is at the newest of the migrations in a folder; change nothing.

    Raises LocalError that says what to check where the server does not answer or refuses.
    """
    try:
        with connect(url) as connection, connection.cursor() as cursor:
            newest = find_newest_revision(migrations)
            return newest is not None and _read_revisions(cursor) == [newest]
    except MySQLError as exc:
        if exc.args[0] == ER.BAD_DB_ERROR:
            return False
        raise LocalError(describe_error(exc)) from exc


def _select_schema(connection: pymysql.Connection[DictCursor], cursor: DictCursor, schema: str) -> None:
    """Select the schema, and create it only where it is missing: a user need not be allowed to create one."""
    try:
        connection.select_db(schema)
    except MySQLError as exc:
        if exc.args[0] != ER.BAD_DB_ERROR:
            raise
        quoted = schema.replace("`", "``")
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS `{quoted}` CHARACTER SET utf8mb4")
        connection.select_db(schema)


def find_newest_revision(migrations: Path) -> str | None:
    """Return the revision of a folder that no other one follows; None if a file has none, or if not one is left."""
    revisions: set[str] = set()
    followed: set[str] = set()
    for path in migrations.glob("*.py"):
        found = dict(_REVISION.findall(path.read_text("utf-8")))
        if set(found) != {"", "down_"} or not found[""]:
            return None
        revisions.add(found[""])
        followed.add(found["down_"])
    newest = revisions - followed
    return newest.pop() if len(newest) == 1 else None


def _read_revisions(cursor: DictCursor) -> list[str]:
    """Return the revisions that Alembic has recorded; none for a database that was never migrated."""
    try:
        cursor.execute("SELECT version_num FROM alembic_version")
    except pymysql.err.ProgrammingError as exc:
        if exc.args[0] == ER.NO_SUCH_TABLE:
            return []
        raise
    return [row["version_num"] for row in cursor.fetchall()]
