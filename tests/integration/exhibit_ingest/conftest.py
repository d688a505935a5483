"""A schema for a session that a page shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import URL

from tests.support.servers.provisioned_servers import schema_beside


@pytest.fixture
def schema(schema_url: URL) -> Iterator[str]:
    """A schema for the session of a page alone, on the server of the tests."""
    with schema_beside(schema_url, "readme") as url:
        yield url.render_as_string(hide_password=False)
