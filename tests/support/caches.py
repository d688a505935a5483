"""Forgetting what the application keeps for the life of a process, once a test has changed its environment."""

from __future__ import annotations

from shell.settings import settings
from shell.utils import aws, column_limits, db_session, redis_client


def forget_caches() -> None:
    """Everything: settings, clients, the engine and what is known of the columns."""
    for cached in (aws.s3, aws.sqs, aws.sns, aws.functions, db_session.engine, column_limits.column_limits):
        cached.cache_clear()
    forget_redis()


def forget_redis() -> None:
    """The settings, and the connection to the Redis that they named."""
    settings.cache_clear()
    redis_client.forget()
