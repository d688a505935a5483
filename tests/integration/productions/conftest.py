"""How many of the places at which a saga can be disturbed are tried."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def fewer(race_counts: int) -> int:
    """By what counts are divided of which one is a whole production: 30, or 1 under `make test-full`."""
    return 1 if race_counts == 1 else 3 * race_counts
