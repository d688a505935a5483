"""The database users that the functions log in with: they read and write rows, and cannot change a table or a user.

Guaranteed: after `ensure_users` the users exist, have the passwords of their secrets, and have these rights on the
tables and views of the application's schema and no others. Rows of AUDIT_TABLES can be inserted and read, never changed
or deleted: the database refuses it. Only the user of the purge of cases, which one function has, deletes history and
removes the notes of cases. Running it again changes nothing else. A migration logs in as the cluster's own user.
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
AUDIT_TABLES = ("activities", "exhibit_changes", "custody_changes", "case_changes")
# By table, what differs from ROWS.
Rights = Mapping[str, tuple[str, ...]]
FUNCTIONS: Rights = {**dict.fromkeys(AUDIT_TABLES, ("select", "insert")), "alembic_version": READ}
PURGE: Rights = {
    **FUNCTIONS,
    **dict.fromkeys(("exhibit_changes", "custody_changes"), ("select", "delete")),
    "case_changes": ("select", "insert", "update"),
}
_TABLES = "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = %s ORDER BY table_name"
# ER_NONEXISTING_GRANT and ER_NONEXISTING_TABLE_GRANT: there is nothing to revoke.
_NOTHING_TO_REVOKE = (1141, 1147)


def ensure_users() -> None:
    """Create the users of DB_USER_SECRET_ARN and DB_PURGE_SECRET_ARN, or give them the passwords of their secrets.

    Does nothing for a variable that is not set. Raises DatabaseUnavailableError if a secret cannot be read.
    """
    for arn, rights in ((settings().db_user_secret_arn, FUNCTIONS), (settings().db_purge_secret_arn, PURGE)):
        if arn:
            _ensure_user(arn, rights)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _ensure_user(arn: str, rights: Rights) -> None:
    try:
        stored = json.loads(get_secret(arn, max_age_s=0, force_fetch=True))
    except SecretUnavailableError as exc:
        raise DatabaseUnavailableError(str(exc)) from exc
    user, password = stored["username"], stored["password"]
    with session() as administrating:
        connection = administrating.connection()
        connection.exec_driver_sql("CREATE USER IF NOT EXISTS %s@'%%' IDENTIFIED BY %s", (user, password))
        connection.exec_driver_sql("ALTER USER %s@'%%' IDENTIFIED BY %s", (user, password))
        grant_rights(connection, user, rights)


def grant_rights(connection: Connection, user: str, special: Rights = FUNCTIONS) -> None:
    """Give the user its rights on each table and view of the connection's schema, and no others."""
    schema = str(connection.exec_driver_sql("SELECT DATABASE()").scalar_one())
    names = {name: kind == "VIEW" for name, kind in connection.exec_driver_sql(_TABLES, (schema,))}
    rights = {name: READ if is_view else special.get(name, ROWS) for name, is_view in names.items()}
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
