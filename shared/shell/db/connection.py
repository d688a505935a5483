"""Database connections: address, credentials and TLS.

Guaranteed: the credentials are the secret's current ones, since secrets are rotated while functions are warm: after a
refused login the secret is fetched again and the login repeated once; a deployed connection is always encrypted, and
the server's certificate and host name are verified; a host that stops responding is detected after about 12 s, and a
login ends within CONNECT_S or the time that is left, also where a paused database accepts it and is silent.
Not guaranteed: that the server is the writer; `shell.db.session` checks that. Nor that a server which is alive but
never responds is detected before the invocation's deadline: a long statement looks the same.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from threading import Timer
from typing import Any

import pymysql
from sqlalchemy import URL, Dialect, make_url

from core.errors import DatabaseUnavailableError, SettingsError
from shell.aws.secrets import SecretUnavailableError, get_secret
from shell.db.errors import error_number
from shell.db.ids import INCREMENT, get_offset
from shell.deadline import seconds_left
from shell.settings import settings

ACCESS_DENIED, CANNOT_CONNECT = 1045, 2003
CREDENTIALS_AGE_S = 60
CONNECT_S = 10
# Amazon RDS certificates are signed by its own authorities, which no system trusts; layers/dependencies adds them.
RDS_AUTHORITIES = Path("/opt/rds-authorities.pem")


def database_url() -> URL:
    """Return DATABASE_URL, or a URL of host and name; `log_in` adds the secret's credentials to the latter.

    Raises DatabaseUnavailableError if neither is configured.
    """
    return _url(settings().db_host)


def lock_database_url() -> URL:
    """Return the database's URL without a proxy: an advisory lock would pin one of the proxy's connections."""
    return _url(settings().db_lock_host or settings().db_host)


def _url(host: str | None) -> URL:
    configured = settings()
    if configured.database_url:
        return make_url(configured.database_url)
    if not (host and configured.db_name and configured.db_secret_arn):
        raise DatabaseUnavailableError("Set DATABASE_URL, or all of DB_HOST, DB_NAME and DB_SECRET_ARN.")
    return URL.create("mysql+pymysql", host=host, port=3306, database=configured.db_name)


def connect_args() -> dict[str, Any]:
    """Return the driver arguments of every engine: utf8mb4, UTC, and TLS unless DATABASE_URL is set.

    With DATABASE_URL, the connection also has the ids of this cell generated. Without, the parameter group of the
    cluster does that: a SET would pin a connection of RDS Proxy.
    """
    common = {"charset": "utf8mb4", "connect_timeout": CONNECT_S, "init_command": "SET time_zone = '+00:00'"}
    configured = settings().database_url
    if not configured:
        return {**common, "ssl": tls_context(RDS_AUTHORITIES)}
    ids = f", auto_increment_increment = {INCREMENT}, auto_increment_offset = {get_offset()}"
    common["init_command"] = f"{common['init_command']}{ids}"
    # TLS protects nothing on a socket of this machine, and the driver would take 30 ms to read the trusted authorities.
    return {**common, "ssl_disabled": True} if "unix_socket" in make_url(configured).query else common


@lru_cache(maxsize=1)
def tls_context(authorities: Path) -> ssl.SSLContext:
    """Return a TLS context that trusts the system's authorities, as RDS Proxy needs, and the file's, as Aurora does.

    Certificates and host names are verified. VERIFY_X509_STRICT, which `create_default_context` sets since Python 3.13,
    is off: it adds no check of who answers, and one certificate of Amazon's without an Authority Key Identifier
    would end every connection. PyMySQL turns it off for its own contexts (PyMySQL #1198).

    All connections share one: creating it reads every authority, which takes longer than connecting. Raises
    SettingsError without the file: no connection is better than one to an unknown server.
    """
    if not authorities.is_file():
        raise SettingsError(f"the layer has no {authorities.name}: build it with `make build`, and deploy again")
    context = ssl.create_default_context(cafile=authorities)
    context.load_default_certs()
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def log_in(dialect: Dialect, _record: Any, arguments: Any, parameters: dict[str, Any]) -> Any:
    """Connect with the secret's current credentials; a listener of SQLAlchemy's `do_connect` event.

    Raises what the driver raises, and DatabaseUnavailableError if the secret could never be read.
    """
    parameters.update(_credentials())
    try:
        return _connect(dialect, arguments, parameters)
    except pymysql.err.OperationalError as error:
        if error_number(error) != ACCESS_DENIED:
            raise
    parameters.update(_credentials(force_fetch=True))
    return _connect(dialect, arguments, parameters)


def _connect(dialect: Dialect, arguments: Any, parameters: dict[str, Any]) -> Any:
    """Connect over a socket with keep-alive: the driver's own does not detect a dead host once it is connected."""
    connection: Any = dialect.connect(*arguments, **parameters, defer_connect=True)
    try:
        opened = _open_socket(connection.host, connection.port)
    except OSError as exc:
        raise pymysql.err.OperationalError(CANNOT_CONNECT, f"no connection to {connection.host}: {exc}") from exc
    with _shut_down_late(opened):
        connection.connect(opened)
    return connection


def _login_s() -> float:
    return max(1.0, min(CONNECT_S, seconds_left()))


@contextmanager
def _shut_down_late(opened: socket.socket) -> Iterator[None]:
    """Shut the socket down unless the block ends in time: the driver's own timeout would hold for statements too."""
    with opened.dup() as twin:
        # TLS takes the socket over, but not its twin.
        timer = Timer(_login_s(), _shut_down, [twin])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def _shut_down(opened: socket.socket) -> None:
    # The server can have ended it.
    with suppress(OSError):
        opened.shutdown(socket.SHUT_RDWR)


def _open_socket(host: str, port: int) -> socket.socket:
    opened = socket.create_connection((host, port), timeout=_login_s())
    opened.settimeout(None)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Linux: seconds idle, seconds between probes, probes, and milliseconds that sent data may stay unacknowledged.
    for name, value in (("TCP_KEEPIDLE", 6), ("TCP_KEEPINTVL", 2), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 12_000)):
        if (option := getattr(socket, name, None)) is not None:
            opened.setsockopt(socket.IPPROTO_TCP, option, value)
    return opened


def _credentials(*, force_fetch: bool = False) -> dict[str, str]:
    try:
        arn = settings().db_secret_arn or ""
        stored = json.loads(get_secret(arn, max_age_s=CREDENTIALS_AGE_S, force_fetch=force_fetch))
    except SecretUnavailableError as exc:
        raise DatabaseUnavailableError(str(exc)) from exc
    return {"user": stored["username"], "password": stored["password"]}
