"""The database user that the functions log in with: it reads and writes rows, and cannot change a table or a user.

Guaranteed: after `ensure_user` the user exists, has the password of its secret, and has no rights but these on the
application's schema; running it again changes nothing else. A migration logs in as the cluster's own user.
"""

from __future__ import annotations

import json

from core.errors import DatabaseUnavailableError
from shell.aws.secrets import SecretUnavailableError, get_secret
from shell.db.session import session
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

RIGHTS = "select, insert, update, delete"


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
        schema = str(connection.exec_driver_sql("SELECT DATABASE()").scalar_one())
        connection.exec_driver_sql("CREATE USER IF NOT EXISTS %s@'%%' IDENTIFIED BY %s", (user, password))
        connection.exec_driver_sql("ALTER USER %s@'%%' IDENTIFIED BY %s", (user, password))
        connection.exec_driver_sql(f"GRANT {RIGHTS} ON {_quote_pattern(schema)}.* TO %s@'%%'", (user,))


def _quote_pattern(schema: str) -> str:
    """Return the schema's name for GRANT, in which an underscore means any character."""
    return "`" + schema.replace("`", "``").replace("_", r"\_").replace("%", "%%") + "`"
