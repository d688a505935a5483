"""The two ways of locking devices."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shell.settings import settings
from tests.integration.custody.custody_values import WAYS


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The test is run under each; ask for it before a database."""
    monkeypatch.setenv("CUSTODY_LOCKING", request.param)
    settings.cache_clear()
    yield request.param
    monkeypatch.undo()
    settings.cache_clear()
