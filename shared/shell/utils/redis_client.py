"""One lazy Redis client a process, and one way to ask it that ends in an answer or in RedisUnavailableError.

Guaranteed: importing opens nothing; connecting and answering take half a second each at most (the password, where there
is one, is read from its secret before that); once Redis could not be reached, nobody in this process waits for it again
for 5 s; a server that turned read-only under a failover is not asked again on the old connection; neither keys nor
values are logged, and one outage is one line.
Not guaranteed: that a command runs once. One whose connection turns out to be dead is sent a second time, and one whose
answer did not come may have run: ask only what may be repeated. Answers are bytes.
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

# Imported where it is asked: a deployment without Redis does without it, and so does a request that changes nothing.
if TYPE_CHECKING:
    from redis import CredentialProvider, Redis

R = TypeVar("R")

CONNECT_TIMEOUT_S, ANSWER_TIMEOUT_S = 0.5, 0.5
PASSWORD_AGE_S = 300
REST_S = 5.0


class RedisUnavailableError(Exception):
    """Redis did not answer, or refused; every caller has something else to do then.

    `asked` says whether the command was attempted at all: if so, it may have taken effect.
    """

    def __init__(self, *, asked: bool) -> None:
        super().__init__("Redis is not available")
        self.asked = asked


class Outage:
    """Remembers that Redis failed, by a clock of seconds that never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rests_until = -math.inf
        self._told = False

    def resting(self) -> bool:
        """Whether Redis could not be reached a moment ago."""
        return self._clock() < self._rests_until

    def failed(self, error: Exception) -> None:
        """Note a failure; the first since the last answer is logged, and an unreachable server is left alone."""
        from redis import exceptions

        if isinstance(error, (exceptions.ConnectionError, exceptions.TimeoutError, OSError)):
            self._rests_until = self._clock() + REST_S
        if not self._told:
            logger.warning("Redis is not available", extra={"error": type(error).__name__})
        self._told = True

    def over(self) -> None:
        """Redis has answered."""
        self._rests_until, self._told = -math.inf, False


def configured() -> bool:
    """Whether this deployment has a Redis."""
    return settings().redis_url is not None


def ask(call: Callable[[Redis], R], *, even_if_resting: bool = False) -> R:
    """The answer to what `call` asks of the client; with `even_if_resting` also right after a failure.

    Raises RedisUnavailableError for whatever Redis or the way to it does wrong, and SettingsError for a malformed URL.
    """
    from redis import RedisError

    outage = _outage()
    if outage.resting() and not even_if_resting:
        raise RedisUnavailableError(asked=False)
    client = _client()
    try:
        answer = call(client)
    except (RedisError, OSError) as error:
        outage.failed(error)
        if _is_replica(error):
            client.connection_pool.disconnect()
        raise RedisUnavailableError(asked=True) from error
    outage.over()
    return answer


def forget() -> None:
    """Close the client and forget outages, for whoever changes the settings of a living process."""
    if _client.cache_info().currsize:
        _client().close()
    _client.cache_clear()
    _outage.cache_clear()


def _is_replica(error: Exception) -> bool:
    from redis import ReadOnlyError, ResponseError

    # Before version 7 a script's READONLY stands inside of another error's text.
    return isinstance(error, ReadOnlyError) or (isinstance(error, ResponseError) and "READONLY" in str(error))


@lru_cache(maxsize=1)
def _outage() -> Outage:
    return Outage()


@lru_cache(maxsize=1)
def _client() -> Redis:
    """`rediss://` speaks TLS and checks the certificate; redis-py itself leaves processes that fork a pool each."""
    from redis import ConnectionError as RedisConnectionError
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    try:
        return Redis.from_url(
            settings().redis_url or "",
            socket_connect_timeout=CONNECT_TIMEOUT_S,
            socket_timeout=ANSWER_TIMEOUT_S,
            socket_keepalive=True,
            credential_provider=_secret(settings().redis_secret_arn),
            retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
            # Every handshake is a round trip more, under a time-out of its own: version 2 needs none.
            protocol=2,
            driver_info=None,
        )
    except ValueError:
        # The error's own text may quote the URL, and with it the password.
        raise SettingsError("environment variable REDIS_URL is not a redis:// or rediss:// address") from None


def _secret(arn: str | None) -> CredentialProvider | None:
    """What shows the secret as the password of every new connection; None where Redis asks for none."""
    if not arn:
        return None
    from redis import ConnectionError as RedisConnectionError
    from redis import CredentialProvider

    from shell.utils.secrets_manager import SecretUnavailableError, secret

    name = arn

    class Secret(CredentialProvider):
        def get_credentials(self) -> tuple[str]:
            try:
                return (secret(name, max_age_s=PASSWORD_AGE_S),)
            except SecretUnavailableError as error:
                raise RedisConnectionError("the password is not to be had") from error

    return Secret()
