"""The application in this process on a database of its own, for programs that do thousands of things.

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


@contextmanager
def own_world(server_url: str | None, chunk_rows: int) -> Iterator[World]:
    """A world in a schema of its own, on a server of its own or on the one of that address."""
    if server_url is None:
        with temporary_server() as server, own_world(server, chunk_rows) as world:
            yield world
        return
    url = servers.fresh_schema(server_url, f"exhibits_own_{os.getpid()}")
    try:
        with world_on(url.render_as_string(hide_password=False), chunk_rows) as world:
            yield world
    finally:
        servers.drop_schema(url)


@contextmanager
def world_on(database_url: str, chunk_rows: int, **environment: str) -> Iterator[World]:
    """The schema of that address, migrated, and a bucket with queues."""
    import migrate_database

    level, before = logger.log_level, dict(os.environ)
    # Every refusal is logged, as it is to be; here there are thousands.
    logger.setLevel("CRITICAL")
    aws = mock_aws()
    # A moto server in this process, as pytest's workers have one, has the same queues and buckets: they stay.
    aws.start(reset=False)
    try:
        world = _world(database_url, {"CHUNK_ROWS": str(chunk_rows), **environment})
        migrate_database.lambda_handler({"RequestType": "Local"}, None)
        yield world
        world.engine.dispose()
    finally:
        aws.stop(remove_data=False)
        logger.setLevel(level)
        os.environ.clear()
        os.environ.update(before)
        forget_caches()


def _world(database_url: str, more: dict[str, str]) -> World:
    for name in ("REDIS_URL", "AWS_ENDPOINT_URL"):
        os.environ.pop(name, None)
    os.environ.update(
        DATABASE_URL=database_url,
        AWS_ACCESS_KEY_ID="test",
        AWS_SECRET_ACCESS_KEY="test",  # noqa: S106 - moto asks nobody
        AWS_DEFAULT_REGION="us-east-1",
        POWERTOOLS_TRACE_DISABLED="1",
        POWERTOOLS_METRICS_DISABLED="1",
        **more,
    )
    world, names = World.create()
    os.environ.update(names)
    forget_caches()
    return world
