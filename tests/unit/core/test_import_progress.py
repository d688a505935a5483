"""Rates and times left, and no estimate where nothing is known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.imports.progress import UNKNOWN_PACE, Pace, compute_pace

ROWS = st.integers(min_value=1, max_value=10**10)


@pytest.mark.parametrize(
    ("rows", "seconds", "left", "pace"),
    [
        *((300, 60.0, 300, (5.0, 60.0)), (10, 4.0, 0, (2.5, 0.0))),
        *((0, 10.0, 100, UNKNOWN_PACE), (10, 0.0, 100, UNKNOWN_PACE), (10, -1.0, 100, UNKNOWN_PACE)),
    ],
)
def test_the_time_left_is_that_of_the_rows_so_far(rows: int, seconds: float, left: int, pace: Pace) -> None:
    assert compute_pace(rows, seconds, left) == pace


@given(ROWS, st.floats(min_value=1e-6, max_value=1e9), st.integers(min_value=-5, max_value=10**10))
def test_the_estimate_is_a_finite_number_and_never_negative(rows: int, seconds: float, left: int) -> None:
    reported_pace = compute_pace(rows, seconds, left)
    assert reported_pace.rows_per_second is not None
    assert reported_pace.seconds_left is not None
    assert reported_pace.rows_per_second > 0
    assert 0 <= reported_pace.seconds_left < math.inf
