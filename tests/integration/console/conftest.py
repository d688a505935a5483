"""One stack and one browser for the tests of the console; no longer, because a running browser has an event loop.

They are skipped where Playwright is not installed or the console is not built; `make test` does both if it can.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import URL

from local.stack import LocalStack, StackOptions
from local.stack.options import REPOSITORY
from local.time_scale import TimeScale
from tests.support.servers.provisioned_servers import schema_beside

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_IS_BUILT = (REPOSITORY / "functions" / "console_files" / "index.html").is_file()
collect_ignore_glob = [] if find_spec("playwright") and _IS_BUILT else ["test_*.py"]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    from tests.support.console.browser import chromium

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
