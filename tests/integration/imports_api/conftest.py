"""The fixtures of the import flow, and queues that are empty at the beginning."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.imports.conftest import chunk_rows, other
from tests.support.workers import Workers, running, start_alone
from tests.support.world import World, request_messages

__all__ = ["chunk_rows", "other"]


@pytest.fixture(autouse=True)
def _no_requests(world: World) -> None:
    """None is left of another test."""
    request_messages()


@pytest.fixture(scope="session", autouse=True)
def _processes_start_quickly(migrated: dict[str, str]) -> None:
    """What all processes are forked from is started before a test's time is taken."""
    start_alone(migrated, "start_import", {}).join(timeout=60)


@pytest.fixture(scope="session")
def workers(migrated: dict[str, str]) -> Iterator[Workers]:
    """Four processes that run handlers, and have started before a test's time is taken."""
    with running(migrated, 4) as made:
        made.at_once("start_import", [{}] * made.count)
        made.at_once("import_chunk", [{}] * made.count)
        yield made
