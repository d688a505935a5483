"""Forgetting what the application keeps for the life of a process, once a test has changed its environment."""

from __future__ import annotations

from shell.aws import clients, secrets
from shell.db import column_limits, session
from shell.settings import settings
from shell.tenants.first_use import forget_tenants
from shell.utils import redis_client


def forget_caches() -> None:
    """Everything: settings, clients, the engine and what is known of the columns."""
    # First: what is made anew meanwhile must not be made of old settings.
    settings.cache_clear()
    for cached in (
        clients.s3,
        clients.sqs,
        clients.wake_sqs,
        clients.sns,
        clients.lambda_client,
        session.engine,
        column_limits.column_limits,
    ):
        cached.cache_clear()
    forget_tenants()
    forget_redis()


def forget_redis() -> None:
    """The settings, and the connection to the Redis that they named."""
    settings.cache_clear()
    close_redis()


def close_redis() -> None:
    """The connection to Redis, and what is known of its outages."""
    if redis_client._client.cache_info().currsize:
        redis_client._client().close()
    redis_client._client.cache_clear()
    redis_client._circuit_breaker.cache_clear()


def forget_secrets() -> None:
    """What Secrets Manager answered."""
    secrets._provider.cache_clear()
    secrets._last_read.clear()
