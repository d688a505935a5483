"""A stack for the tests of uploads."""

from __future__ import annotations

import pytest

from tests.support.uploads.fake_stack import FakeStack


@pytest.fixture
def stack() -> FakeStack:
    """A stack in memory, whose answers a test can change."""
    return FakeStack()
