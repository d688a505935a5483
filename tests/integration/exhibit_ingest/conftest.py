"""A schema for a session that a page shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import URL

from tests.support.servers import provisioned_servers


@pytest.fixture
def schema(schema_url: URL) -> Iterator[str]:
    """A schema for the session of a page alone, on the server of the tests."""
    url = provisioned_servers.fresh_schema(
        schema_url.render_as_string(hide_password=False), f"{schema_url.database}_readme"
    )
    yield url.render_as_string(hide_password=False)
    provisioned_servers.drop_schema(url)
