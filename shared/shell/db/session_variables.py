"""Session variables that some statements need, set once for the life of a connection."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from shell.db.errors import error_number

ADMINISTRATORS_ONLY = 1227


def set_session_variable(connection: Connection, variable: str, value: int) -> int:
    """Set the variable on this connection, unless it has the value or that was done before; return the value in effect.

    A SET pins the connection of RDS Proxy to its client ("Avoiding pinning an RDS Proxy"), so the template gives the
    server these values. The value in effect is lower than `value` where only administrators may set the variable: MySQL
    9 restricts some that MySQL 5.7 and MariaDB let every user set. It is never reset.
    """
    key = f"session variable {variable}"
    if key not in connection.info:
        # The variable and the value are constants of this code.
        found = int(connection.exec_driver_sql(f"SELECT @@SESSION.{variable}").scalar_one())
        connection.info[key] = found if found == value else _set(connection, variable, value, found)
    return int(connection.info[key])


def _set(connection: Connection, variable: str, value: int, found: int) -> int:
    try:
        connection.exec_driver_sql(f"SET SESSION {variable} = {value}")
    except DBAPIError as error:
        if error_number(error) != ADMINISTRATORS_ONLY:
            raise
        return found
    return value
