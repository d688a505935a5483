"""Variables of a server's session that some statements need, set once for as long as the connection lasts."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from shell.utils.db_errors import error_number

FOR_ADMINISTRATORS = 1227


def set_once(connection: Connection, variable: str, value: int) -> None:
    """Set the variable unless that was done on this connection; nobody sets it back."""
    noted = _noted(variable)
    if connection.info.get(noted) != value:
        # Both are constants of ours.
        connection.exec_driver_sql(f"SET SESSION {variable} = {value}")
        connection.info[noted] = value


def set_if_allowed(connection: Connection, variable: str, value: int) -> int:
    """The same, where the server lets this user; returns what the variable is then.

    MySQL 9 lets nobody but administrators set what MySQL 5.7 and MariaDB let everybody.
    """
    noted = _noted(variable)
    if noted not in connection.info:
        try:
            set_once(connection, variable, value)
        except DBAPIError as error:
            if error_number(error) != FOR_ADMINISTRATORS:
                raise
            connection.info[noted] = int(connection.exec_driver_sql(f"SELECT @@SESSION.{variable}").scalar_one())
    return int(connection.info[noted])


def _noted(variable: str) -> str:
    return f"session variable {variable}"
