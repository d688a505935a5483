"""The database user that the functions log in with: it reads and writes rows, and cannot change a table or a user.

Guaranteed: after `ensure_user` the user exists, has the password of its secret, and has these rights on the tables and
views of the application's schema and no others. Rows of AUDIT_TABLES can be inserted and read, never changed or
deleted: the database refuses it. Running it again changes nothing else. A migration logs in as the cluster's own user.
While it runs, the user keeps each right that it needs: first each table gets its own, then the right to the whole
schema is revoked, which earlier versions granted. A table's right cannot be revoked while the schema's is granted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from core.errors import DatabaseUnavailableError
from shell.aws.secrets import SecretUnavailableError, get_secret
from shell.db.errors import error_number
from shell.db.session import session
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

ROWS, READ = ("select", "insert", "update", "delete"), ("select",)
# What was done, and what to exhibits and devices, for ever; and the revision, which only migrations change.
AUDIT_TABLES = ("activities", "exhibit_changes", "custody_changes")
_RIGHTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(AUDIT_TABLES, ("select", "insert")),
    "alembic_version": READ,
}
_TABLES = "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = %s ORDER BY table_name"
# ER_NONEXISTING_GRANT and ER_NONEXISTING_TABLE_GRANT: there is nothing to revoke.
_NOTHING_TO_REVOKE = (1141, 1147)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def ensure_user() -> None:
    """Create the user of DB_USER_SECRET_ARN, or give it the secret's password; do nothing without that variable.

    Raises DatabaseUnavailableError if the secret cannot be read.
    """
    arn = settings().db_user_secret_arn
    if not arn:
        return
    try:
        stored = json.loads(get_secret(arn, max_age_s=0, force_fetch=True))
    except SecretUnavailableError as exc:
        raise DatabaseUnavailableError(str(exc)) from exc
    user, password = stored["username"], stored["password"]
    with session() as administrating:
        connection = administrating.connection()
        connection.exec_driver_sql("CREATE USER IF NOT EXISTS %s@'%%' IDENTIFIED BY %s", (user, password))
        connection.exec_driver_sql("ALTER USER %s@'%%' IDENTIFIED BY %s", (user, password))
        grant_rights(connection, user)


def grant_rights(connection: Connection, user: str) -> None:
    """Give the user its rights on each table and view of the connection's schema, and no others."""
    schema = str(connection.exec_driver_sql("SELECT DATABASE()").scalar_one())
    names = {name: kind == "VIEW" for name, kind in connection.exec_driver_sql(_TABLES, (schema,))}
    rights = {name: READ if is_view else _RIGHTS.get(name, ROWS) for name, is_view in names.items()}
    for name, granted in rights.items():
        _execute(connection, f"GRANT {', '.join(granted)} ON {_quote(schema)}.{_quote(name)} TO", user)
    _revoke(connection, f"REVOKE {', '.join(ROWS)} ON {_quote_pattern(schema)}.* FROM", user)
    for name, granted in rights.items():
        # One by one: MySQL revokes none of several rights if the user lacks one.
        for right in set(ROWS) - set(granted):
            _revoke(connection, f"REVOKE {right} ON {_quote(schema)}.{_quote(name)} FROM", user)


def _revoke(connection: Connection, statement: str, user: str) -> None:
    try:
        _execute(connection, statement, user)
    except DBAPIError as error:
        if error_number(error) not in _NOTHING_TO_REVOKE:
            raise


def _execute(connection: Connection, statement: str, user: str) -> None:
    connection.exec_driver_sql(f"{statement} %s@'%%'", (user,))


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``").replace("%", "%%") + "`"


def _quote_pattern(schema: str) -> str:
    """Return the schema's name for rights on all of its tables, in which an underscore means any character."""
    return _quote(schema).replace("_", r"\_")
