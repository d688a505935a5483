"""How Redis is called: errors become one error, an outage is waited out, no request is logged."""

from __future__ import annotations

import io
import ssl
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest
import redis.exceptions
from redis import Redis
from redis.connection import SSLConnection

from core.errors import SettingsError
from shell.observability import logger
from shell.utils.redis_client import OPEN_S, CircuitBreaker, RedisUnavailableError, execute, is_configured
from tests.support.application.cleared_caches import forget_redis

VARIABLES = (
    *("BUCKET", "IMPORT_REQUESTS_QUEUE_URL", "IMPORT_CHUNKS_QUEUE_URL", "IMPORT_COMPLETIONS_QUEUE_URL"),
    *("OUTBOX_WAKE_QUEUE_URL", "PRODUCTION_CHECKS_QUEUE_URL", "EVENTS_TOPIC_ARN"),
)
NOWHERE = "redis://user:pass%40word@127.0.0.1:1/0"
_ERRORS = redis.exceptions
UNREACHABLE: list[Exception] = [
    *(_ERRORS.ConnectionError("no"), _ERRORS.TimeoutError("no"), _ERRORS.BusyLoadingError("no")),
    *(_ERRORS.AuthenticationError("no"), OSError("no")),
]
REFUSALS: list[Exception] = [
    *(_ERRORS.ReadOnlyError("no"), _ERRORS.OutOfMemoryError("no")),
    *(_ERRORS.ResponseError("no"), _ERRORS.DataError("no")),
]

Use = Callable[[str | None], None]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Use]:
    """Sets REDIS_URL, or removes it."""
    for name in VARIABLES:
        monkeypatch.setenv(name, "x")

    def set_url(url: str | None) -> None:
        monkeypatch.setenv("REDIS_URL", url or "")
        forget_redis()

    yield set_url
    monkeypatch.undo()
    forget_redis()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the application's logger writes."""
    stream = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", stream)
    return stream


def failing(error: Exception) -> Callable[[Redis], NoReturn]:
    def call(_: Redis) -> NoReturn:
        raise error

    return call


def connection_of(client: Redis) -> SSLConnection:
    """How it would connect."""
    connection = client.connection_pool.make_connection()
    assert isinstance(connection, SSLConnection)
    return connection


def test_it_is_configured_where_there_is_a_url_and_connects_only_when_used(use: Use) -> None:
    use(None)
    assert not is_configured()
    use(NOWHERE)
    assert is_configured()
    assert execute(lambda _: 7) == 7
    # An error of the caller's own stays what it is.
    with pytest.raises(ZeroDivisionError):
        execute(lambda _: 1 // 0)


@pytest.mark.parametrize("error", UNREACHABLE + REFUSALS, ids=lambda error: type(error).__name__)
def test_whatever_redis_does_wrong_is_one_error_and_an_unreachable_one_is_called_only_on_demand(
    use: Use, error: Exception
) -> None:
    use(NOWHERE)
    with pytest.raises(RedisUnavailableError) as raised:
        execute(failing(error))
    assert raised.value.attempted
    assert raised.value.__cause__ is error
    if error in UNREACHABLE:
        with pytest.raises(RedisUnavailableError) as raised:
            execute(lambda _: 7)
        assert not raised.value.attempted
        assert execute(lambda _: 7, even_if_open=True) == 7
    assert execute(lambda _: 8) == 8


def test_an_outage_is_waited_out_by_a_clock_that_never_goes_back() -> None:
    now = [100.0]
    breaker = CircuitBreaker(lambda: now[0])
    breaker.record_failure(redis.exceptions.ConnectionError())
    now[0] += OPEN_S - 0.01
    assert breaker.is_open()
    now[0] += 0.02
    assert not breaker.is_open()


def test_one_outage_is_one_line_without_the_request(use: Use, written: io.StringIO) -> None:
    use(NOWHERE)
    secret = redis.exceptions.ResponseError("WRONGTYPE 'Smith v. Jones'")
    for _ in range(2):
        with pytest.raises(RedisUnavailableError):
            execute(failing(secret))
    assert written.getvalue().count("Redis is not available") == 1
    assert execute(lambda _: 7) == 7
    with pytest.raises(RedisUnavailableError):
        execute(failing(secret))
    assert written.getvalue().count("Redis is not available") == 2
    assert not any(word in written.getvalue() for word in ("Smith", "word", "127.0.0.1"))


@pytest.mark.parametrize("url", ["http://host", "host:6379", "redis://user:secret@host:port"])
def test_a_malformed_url_is_named_by_its_variable_alone(use: Use, url: str) -> None:
    use(url)
    with pytest.raises(SettingsError, match="REDIS_URL") as raised:
        execute(lambda _: 7)
    assert "secret" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_a_url_with_two_s_speaks_tls_and_checks_who_answers(use: Use) -> None:
    use("rediss://host:6379")
    connection = execute(connection_of)
    assert connection.cert_reqs is ssl.CERT_REQUIRED
    assert connection.check_hostname
