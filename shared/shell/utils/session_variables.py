"""Variables of a server's session that some statements need, set once for as long as the connection lasts."""

from __future__ import annotations

from sqlalchemy import Connection


def set_once(connection: Connection, variable: str, value: int) -> None:
    """Set the variable unless that was done on this connection; nobody sets it back."""
    noted = f"session variable {variable}"
    if connection.info.get(noted) != value:
        # Both are constants of ours.
        connection.exec_driver_sql(f"SET SESSION {variable} = {value}")
        connection.info[noted] = value
