"""A topic to publish to."""

from __future__ import annotations

import pytest

from shell import sns
from tests.support.database.counted_database import Database
from tests.support.outbox.events import FakeTopic


@pytest.fixture
def topic(database: Database, monkeypatch: pytest.MonkeyPatch) -> FakeTopic:
    """The events topic."""
    made = FakeTopic()
    monkeypatch.setattr(sns, "sns", lambda: made)
    return made
