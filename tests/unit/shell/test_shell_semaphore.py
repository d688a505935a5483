"""What a semaphore refuses to be asked, and what its answers are."""

from __future__ import annotations

import math
from typing import Any

import pytest

from shell.utils.semaphore import SemaphoreOutcome, Slot, with_semaphore_lock


@pytest.mark.parametrize(
    "nonsense",
    [
        {"ttl": 0},
        {"ttl": -1},
        {"ttl": math.nan},
        {"ttl": math.inf},
        {"limit": 0},
        {"limit": -1},
        {"wait_s": -1},
        {"wait_s": math.nan},
        {"namespace": ""},
        {"namespace": "a{b}"},
        {"namespace": "a\0b"},
        {"namespace": "n" * 65},
    ],
    ids=str,
)
def test_arguments_without_a_meaning_are_refused(nonsense: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(nonsense))), with_semaphore_lock("key", **nonsense):
        pass


@pytest.mark.parametrize("outcome", SemaphoreOutcome)
def test_only_an_acquired_slot_is_true(outcome: SemaphoreOutcome) -> None:
    assert bool(Slot(outcome)) is (outcome is SemaphoreOutcome.ACQUIRED)
    assert Slot(outcome).retry_after_s >= 1
