"""A schema for a session that a page shows, and a stack with a small case for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import URL

from tests.support.exhibits.stocked_stack import StockedStack, run_stocked_stack
from tests.support.servers.provisioned_servers import schema_beside


@pytest.fixture
def schema(schema_url: URL) -> Iterator[str]:
    """A schema for the session of a page alone, on the server of the tests."""
    with schema_beside(schema_url, "readme") as url:
        yield url.render_as_string(hide_password=False)


@pytest.fixture(scope="module")
def stocked(schema_url: URL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StockedStack]:
    """A running stack with one case, which the tests of a module share."""
    with run_stocked_stack(schema_url, tmp_path_factory.mktemp("stocked")) as stack:
        yield stack
