"""Slices keep all items in order and within both limits, and are as full as they can be."""

from __future__ import annotations

from itertools import chain, pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.slices import slice_by_size


@given(st.lists(st.integers(0, 12)), st.integers(1, 10), st.none() | st.integers(1, 4))
def test_slices_are_within_their_limits_and_full(sizes: list[int], most: int, most_items: int | None) -> None:
    slices = list(slice_by_size(sizes, lambda size: size, most, most_items))
    assert list(chain.from_iterable(slices)) == sizes
    assert all(each for each in slices)
    assert all(sum(each) <= most or len(each) == 1 for each in slices)
    assert all(most_items is None or len(each) <= most_items for each in slices)
    for one, following in pairwise(slices):
        assert len(one) == most_items or sum(one) + following[0] > most
