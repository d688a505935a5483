"""Session variables that some statements need, set once for the life of a connection."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from shell.db.errors import error_number

ADMINISTRATORS_ONLY = 1227


def set_session_variable(connection: Connection, variable: str, value: int) -> int:
    """Set the variable on this connection, unless that was done before, and return the value in effect.

    That is another value than `value` where only administrators may set the variable: MySQL 9 restricts some that MySQL
    5.7 and MariaDB let every user set. It is never reset.
    """
    key = f"session variable {variable}"
    if key not in connection.info:
        try:
            # Both are constants of this code.
            connection.exec_driver_sql(f"SET SESSION {variable} = {value}")
            connection.info[key] = value
        except DBAPIError as error:
            if error_number(error) != ADMINISTRATORS_ONLY:
                raise
            connection.info[key] = int(connection.exec_driver_sql(f"SELECT @@SESSION.{variable}").scalar_one())
    return int(connection.info[key])
