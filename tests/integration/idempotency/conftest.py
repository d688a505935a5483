"""Effects that are counted."""

from __future__ import annotations

import pytest

from tests.support.effects import Effects
from tests.support.world import World


@pytest.fixture
def effects(world: World) -> Effects:
    """The effects of a clean world."""
    return Effects(world)
