"""The application on a database server of its own, for programs that import by the thousand.

S3, SQS and SNS are moto inside this process: as a server they would take most of the time.
Guaranteed: nothing is left running, and the environment is as it was before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from moto import mock_aws

from local.services.mysql import temporary_server
from shell.observability import logger
from tests.support import servers
from tests.support.caches import forget_caches
from tests.support.world import World

CHUNK_ROWS = 7


@contextmanager
def own_world(database_url: str | None = None) -> Iterator[World]:
    """A migrated schema on a server of its own, or on the one of that address, and a bucket with queues."""
    if database_url is None:
        with temporary_server() as server, _on(server) as world:
            yield world
    else:
        with _on(database_url) as world:
            yield world


@contextmanager
def _on(server: str) -> Iterator[World]:
    import migrate_database

    url = servers.fresh_schema(server, f"exhibits_mutated_{os.getpid()}")
    level, before = logger.log_level, dict(os.environ)
    # Every refusal is logged, as it is to be; here there are thousands.
    logger.setLevel("CRITICAL")
    try:
        with mock_aws():
            world = _world(url.render_as_string(hide_password=False))
            migrate_database.lambda_handler({"RequestType": "Local"}, None)
            yield world
            world.engine.dispose()
    finally:
        logger.setLevel(level)
        os.environ.clear()
        os.environ.update(before)
        forget_caches()
        servers.drop_schema(url)


def _world(database_url: str) -> World:
    for name in ("REDIS_URL", "AWS_ENDPOINT_URL"):
        os.environ.pop(name, None)
    os.environ.update(
        DATABASE_URL=database_url,
        AWS_ACCESS_KEY_ID="test",
        AWS_SECRET_ACCESS_KEY="test",  # noqa: S106 - moto asks nobody
        AWS_DEFAULT_REGION="us-east-1",
        POWERTOOLS_TRACE_DISABLED="1",
        POWERTOOLS_METRICS_DISABLED="1",
        CHUNK_ROWS=str(CHUNK_ROWS),
    )
    world, names = World.create()
    os.environ.update(names)
    forget_caches()
    return world
