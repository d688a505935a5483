"""Which arguments a semaphore refuses."""

from __future__ import annotations

import math
from typing import Any

import pytest

from shell.utils.semaphore import with_semaphore_lock

NONSENSE: list[dict[str, Any]] = [
    *({"ttl": value} for value in (0, -1, math.nan, math.inf)),
    *({"limit": value} for value in (0, -1)),
    *({"wait_s": value} for value in (-1, math.nan)),
    *({"namespace": value} for value in ("", "a{b}", "a\0b", "n" * 65)),
]


@pytest.mark.parametrize("nonsense", NONSENSE, ids=str)
def test_arguments_without_a_meaning_are_refused(nonsense: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(nonsense))), with_semaphore_lock("key", **nonsense):
        pass
