"""Two played stacks, between which a tenant moves."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from sqlalchemy import make_url

from shell.aws import clients
from tests.support.application.driver import World, empty_bucket
from tests.support.servers.provisioned_servers import OBJECTS
from tests.support.tenants.moves import KEY, OTHER, TENANT
from tests.support.tenants.two_schemas import INCREMENT, Place, same_schema


@pytest.fixture
def places(world: World) -> Iterator[tuple[Place, Place]]:
    """A source with two tenants, and a target with one of them, whose rows are others there."""
    url, storage = make_url(world.environment["DATABASE_URL"]), os.environ[OBJECTS]
    # It is there already after the first test of this process.
    clients.s3().create_bucket(Bucket="target")
    empty_bucket("target")
    clients.s3().put_bucket_versioning(Bucket="target", VersioningConfiguration={"Status": "Enabled"})
    with same_schema(url, "target") as beside:
        source, target = Place(url, 0, world.bucket, storage), Place(beside, 3, "target", storage)
        source.fill(TENANT, 10 * INCREMENT + 1)
        source.fill(OTHER, 50_000 * INCREMENT + 1)
        target.fill(OTHER, 10 * INCREMENT + 4)
        for body in (b"first", b"second"):
            clients.s3().put_object(Bucket=world.bucket, Key=KEY, Body=body)
        clients.s3().delete_object(Bucket=world.bucket, Key=KEY)
        yield source, target
