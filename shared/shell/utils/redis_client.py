"""One lazily created Redis client per process; a call returns the reply or raises RedisUnavailableError.

Guaranteed: importing opens nothing; connecting and waiting for a reply take at most half a second each (a password is
read from its secret before that); after Redis was unreachable, no caller in this process waits for it again for 5 s; a
server that a failover made read-only is not used again on the old connection; neither keys nor values are logged, and
an outage is logged once.
Not guaranteed: that a command runs once. It is sent a second time if its connection turns out to be dead, and without a
reply it may have run: execute only idempotent commands. Replies are bytes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from core.errors import SettingsError
from shell.observability import logger
from shell.settings import settings

# Imported only where Redis is called: deployments without Redis and read-only requests do not load it.
if TYPE_CHECKING:
    from redis import CredentialProvider, Redis

R = TypeVar("R")

CONNECT_TIMEOUT_S, REPLY_TIMEOUT_S = 0.5, 0.5
PASSWORD_AGE_S = 300
OPEN_S = 5.0


class RedisUnavailableError(Exception):
    """Redis did not reply, or replied with an error; every caller has a fallback.

    `attempted` is whether the command was sent: if so, it may have taken effect.
    """

    def __init__(self, *, attempted: bool) -> None:
        super().__init__("Redis is not available")
        self.attempted = attempted


class CircuitBreaker:
    """A circuit breaker for Redis: open for 5 s after a connection failure; `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open_until = -math.inf
        self._logged = False

    def is_open(self) -> bool:
        """Return whether Redis was unreachable within the last 5 s."""
        return self._clock() < self._open_until

    def record_failure(self, error: Exception) -> None:
        """Open the circuit if the server was unreachable; log the first failure since the last reply."""
        from redis import exceptions

        if isinstance(error, (exceptions.ConnectionError, exceptions.TimeoutError, OSError)):
            self._open_until = self._clock() + OPEN_S
        if not self._logged:
            logger.warning("Redis is not available", extra={"error": type(error).__name__})
        self._logged = True

    def record_success(self) -> None:
        """Close the circuit."""
        self._open_until, self._logged = -math.inf, False


def is_configured() -> bool:
    """Return whether this deployment has Redis."""
    return settings().redis_url is not None


def execute(call: Callable[[Redis], R], *, even_if_open: bool = False) -> R:
    """Return the result of `call` with the client; with `even_if_open` call it even while the circuit is open.

    Raises RedisUnavailableError if Redis fails or the circuit is open, and SettingsError for a malformed URL.
    """
    from redis import RedisError

    breaker = _circuit_breaker()
    if breaker.is_open() and not even_if_open:
        raise RedisUnavailableError(attempted=False)
    client = _client()
    try:
        reply = call(client)
    except (RedisError, OSError) as error:
        breaker.record_failure(error)
        if _is_replica(error):
            client.connection_pool.disconnect()
        raise RedisUnavailableError(attempted=True) from error
    breaker.record_success()
    return reply


def _is_replica(error: Exception) -> bool:
    from redis import ReadOnlyError, ResponseError

    # Before version 7 a script's READONLY is part of another error's message.
    return isinstance(error, ReadOnlyError) or (isinstance(error, ResponseError) and "READONLY" in str(error))


@lru_cache(maxsize=1)
def _circuit_breaker() -> CircuitBreaker:
    return CircuitBreaker()


@lru_cache(maxsize=1)
def _client() -> Redis:
    """Return the client. `rediss://` verifies the certificate; redis-py gives each forked process a pool of its own."""
    from redis import ConnectionError as RedisConnectionError
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    try:
        return Redis.from_url(
            settings().redis_url or "",
            socket_connect_timeout=CONNECT_TIMEOUT_S,
            socket_timeout=REPLY_TIMEOUT_S,
            socket_keepalive=True,
            credential_provider=_build_credentials(settings().redis_secret_arn),
            retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
            # Protocol 3 needs a handshake, a round trip with its own timeout; protocol 2 does not.
            protocol=2,
            driver_info=None,
        )
    except ValueError:
        # The error's message may quote the URL, which may contain the password.
        raise SettingsError("environment variable REDIS_URL is not a redis:// or rediss:// URL") from None


def _build_credentials(arn: str | None) -> CredentialProvider | None:
    """Return a provider of the secret as the password of every new connection; None where Redis has no password."""
    if not arn:
        return None
    from redis import ConnectionError as RedisConnectionError
    from redis import CredentialProvider

    from shell.aws.secrets import SecretUnavailableError, get_secret

    name = arn

    class Secret(CredentialProvider):
        def get_credentials(self) -> tuple[str]:
            try:
                return (get_secret(name, max_age_s=PASSWORD_AGE_S),)
            except SecretUnavailableError as error:
                raise RedisConnectionError("the password's secret cannot be read") from error

    return Secret()
