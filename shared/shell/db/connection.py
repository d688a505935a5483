"""How a connection to the database is made: where it is, who logs in, and over which TLS.

Guaranteed: credentials are those of the secret as it is now, for they are rotated while functions are warm, and a login
that was refused is tried once more with the secret read anew; a deployed connection is always encrypted; a host that
vanished without a word is noticed after some 12 s. Where `RDS_AUTHORITIES` was built into the layer, the server's
certificate and its name are checked too.
Not guaranteed: that it is the writer that answers; the engine looks at that. Nor that a server which lives and says
nothing is noticed before the function's time is over: a long statement looks the same.
"""

from __future__ import annotations

import json
import socket
import ssl
from functools import lru_cache
from pathlib import Path
from typing import Any

import pymysql
from sqlalchemy import URL, Dialect, make_url

from core.errors import DatabaseUnavailableError
from shell.invocation import seconds_left
from shell.settings import settings
from shell.utils.db_errors import error_number
from shell.utils.secrets_manager import SecretUnavailableError, secret

ACCESS_DENIED, CANNOT_CONNECT = 1045, 2003
CREDENTIALS_AGE_S = 60
CONNECT_S = 10
# Amazon signs database certificates with authorities of its own, which no system trusts; layers/dependencies adds them.
RDS_AUTHORITIES = Path("/opt/rds-authorities.pem")


def database_url() -> URL:
    """Where the database is: DATABASE_URL, or host and name, to which `log_in` adds the secret's credentials."""
    return _url(settings().db_host)


def lock_database_url() -> URL:
    """The same database without a proxy in between: a lock of the server's would keep one of its connections."""
    return _url(settings().db_lock_host or settings().db_host)


def _url(host: str | None) -> URL:
    ours = settings()
    if ours.database_url:
        return make_url(ours.database_url)
    if not (host and ours.db_name and ours.db_secret_arn):
        raise DatabaseUnavailableError("set DATABASE_URL, or all of DB_HOST, DB_NAME and DB_SECRET_ARN")
    return URL.create("mysql+pymysql", host=host, port=3306, database=ours.db_name)


def connect_args() -> dict[str, Any]:
    """How to connect, whichever the engine: as utf8mb4, in UTC, and encrypted unless an address was given whole."""
    common = {"charset": "utf8mb4", "connect_timeout": CONNECT_S, "init_command": "SET time_zone = '+00:00'"}
    return common if settings().database_url else {**common, "ssl": encryption(RDS_AUTHORITIES)}


@lru_cache(maxsize=1)
def encryption(authorities: Path) -> ssl.SSLContext:
    """TLS that trusts the system's authorities and those of the file; without the file it encrypts and trusts anybody.

    One for all connections: making it reads all authorities, which takes longer than to connect.
    """
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if authorities.is_file():
        context.load_verify_locations(authorities)
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def log_in(dialect: Dialect, _record: Any, arguments: Any, parameters: dict[str, Any]) -> Any:
    """Connect with the secret as it is now.

    Raises what the driver raises, and DatabaseUnavailableError for a secret that was never to be had.
    """
    parameters.update(_credentials())
    try:
        return _connected(dialect, arguments, parameters)
    except pymysql.err.OperationalError as error:
        if error_number(error) != ACCESS_DENIED:
            raise
    parameters.update(_credentials(anew=True))
    return _connected(dialect, arguments, parameters)


def _connected(dialect: Dialect, arguments: Any, parameters: dict[str, Any]) -> Any:
    """Over a socket of ours: the driver's own has no means to notice a dead host once it is connected."""
    connection: Any = dialect.connect(*arguments, **parameters, defer_connect=True)
    try:
        watched = _watched_socket(connection.host, connection.port)
    except OSError as exc:
        raise pymysql.err.OperationalError(CANNOT_CONNECT, f"no connection to {connection.host}: {exc}") from exc
    connection.connect(watched)
    return connection


def _watched_socket(host: str, port: int) -> socket.socket:
    made = socket.create_connection((host, port), timeout=max(1.0, min(CONNECT_S, seconds_left())))
    made.settimeout(None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Linux's names: idle, between probes, and how long what was sent may stay without an answer (milliseconds).
    for name, value in (("TCP_KEEPIDLE", 6), ("TCP_KEEPINTVL", 2), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 12_000)):
        if (option := getattr(socket, name, None)) is not None:
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def _credentials(*, anew: bool = False) -> dict[str, str]:
    try:
        told = json.loads(secret(settings().db_secret_arn or "", max_age_s=CREDENTIALS_AGE_S, anew=anew))
    except SecretUnavailableError as exc:
        raise DatabaseUnavailableError(str(exc)) from exc
    return {"user": told["username"], "password": told["password"]}
