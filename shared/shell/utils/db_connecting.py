"""How a connection to the database is made: where it is, who logs in, and over which TLS.

Guaranteed: credentials are those of the secret as it is now, for they are rotated while functions are warm, and a login
that was refused is tried once more with the secret read anew; a deployed connection is always encrypted. Where
`RDS_AUTHORITIES` was built into the layer, the server's certificate and its name are checked too.
Not guaranteed: that it is the writer that answers; the engine looks at that.
"""

from __future__ import annotations

import json
import ssl
from functools import lru_cache
from pathlib import Path
from typing import Any

import pymysql
from aws_lambda_powertools.utilities.parameters import get_secret
from sqlalchemy import URL, Dialect, make_url

from core.errors import DatabaseUnavailableError
from shell.settings import settings
from shell.utils.db_errors import error_number

ACCESS_DENIED = 1045
CREDENTIALS_AGE_S = 60
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
    common = {"charset": "utf8mb4", "connect_timeout": 10, "init_command": "SET time_zone = '+00:00'"}
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
    """Connect with the secret as it is now; raises what the driver raises."""
    parameters.update(_credentials())
    try:
        return dialect.connect(*arguments, **parameters)
    except pymysql.err.OperationalError as error:
        if error_number(error) != ACCESS_DENIED:
            raise
    parameters.update(_credentials(anew=True))
    return dialect.connect(*arguments, **parameters)


def _credentials(*, anew: bool = False) -> dict[str, str]:
    arn = settings().db_secret_arn or ""
    secret = json.loads(str(get_secret(arn, max_age=CREDENTIALS_AGE_S, force_fetch=anew)))
    return {"user": secret["username"], "password": secret["password"]}
