"""One stack and one browser for the tests of the console; no longer, because a running browser has an event loop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from sqlalchemy import URL

from local.stack import LocalStack, StackOptions
from local.time_scale import TimeScale
from tests.support.console.browser import chromium
from tests.support.servers.provisioned_servers import schema_beside


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def console_stack(browser: Browser, schema_url: URL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """A served stack; it needs the browser first, so that nothing is started where that is missing."""
    with schema_beside(schema_url, "console") as url:
        options = StackOptions(
            database_url=url.render_as_string(hide_password=False),
            time_scale=TimeScale(0.05, shortest_timeout=float("inf")),
        )
        with LocalStack(tmp_path_factory.mktemp("console"), options) as stack:
            yield stack
