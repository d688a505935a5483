"""A tenant's case with exhibits, for whoever calls the API."""

from __future__ import annotations

import pytest

from tests.support.cases import Matter, matter
from tests.support.world import World

__all__ = ["Matter"]


@pytest.fixture
def acme(world: World) -> Matter:
    """A case with three exhibits."""
    return matter(world, 3)
