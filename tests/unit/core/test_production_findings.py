"""Which tags say that documents are privileged."""

from __future__ import annotations

import pytest

from core.productions.findings import says_privileged


@pytest.mark.parametrize(
    "tag", ["Privileged", "PRIVILEGED\\Attorney-Client", "Review\\AC privilege", "Priv", "priv - log", "Hot/Priv."]
)
def test_a_tag_says_privileged(tag: str) -> None:
    assert says_privileged(tag)


@pytest.mark.parametrize(
    "tag", ["Not Privileged", "non-privileged", "Nonprivileged", "NOT_PRIVILEGED", "Unprivileged", "Private", "Hot"]
)
def test_a_tag_says_something_else(tag: str) -> None:
    assert not says_privileged(tag)
