"""What the tests of volumes need beside the world: pages and units of a few files, worker processes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.application.handler_processes import Workers, running


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listings of two versions a page, units of two entries."""
    monkeypatch.setattr("shell.aws.object_versions.PAGE", 2)
    monkeypatch.setattr("core.volumes.zip_directory.UNIT_ENTRIES", 2)


@pytest.fixture(scope="session")
def workers(migrated: dict[str, str]) -> Iterator[Workers]:
    """Two processes that run handlers."""
    with running(migrated, 2) as made:
        yield made
