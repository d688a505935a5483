"""The application in this process on a database of its own, for a program that does thousands of things.

S3, SQS and SNS are moto inside this process: as a server they would take most of the time. The environment stays as the
application needs it: the process is for this alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from moto import mock_aws

from local.services.mysql import temporary_server
from shell.observability import logger
from tests.support.application.cleared_caches import forget_caches
from tests.support.application.driver import World
from tests.support.servers import provisioned_servers


@contextmanager
def own_world(server_url: str | None, chunk_rows: int) -> Iterator[World]:
    """A world in a schema of its own, on a server of its own or on the one of that address."""
    if server_url is None:
        with temporary_server() as server, own_world(server, chunk_rows) as world:
            yield world
        return
    import migrate_database

    # Every refusal is logged, as it is to be; here there are thousands.
    logger.setLevel("CRITICAL")
    url = provisioned_servers.fresh_schema(server_url, f"exhibits_own_{os.getpid()}")
    try:
        with mock_aws():
            world = _world(url.render_as_string(hide_password=False), chunk_rows)
            migrate_database.lambda_handler({"RequestType": "Local"}, None)
            yield world
            world.engine.dispose()
    finally:
        provisioned_servers.drop_schema(url)


def _world(database_url: str, chunk_rows: int) -> World:
    for name in ("REDIS_URL", "AWS_ENDPOINT_URL"):
        os.environ.pop(name, None)
    os.environ.update(
        DATABASE_URL=database_url,
        CHUNK_ROWS=str(chunk_rows),
        AWS_ACCESS_KEY_ID="test",
        AWS_SECRET_ACCESS_KEY="test",  # noqa: S106 - moto checks no key
        AWS_DEFAULT_REGION="us-east-1",
        POWERTOOLS_TRACE_DISABLED="1",
        POWERTOOLS_METRICS_DISABLED="1",
    )
    world, names = World.create()
    os.environ.update(names)
    forget_caches()
    return world
