"""Divide a sequence into slices that are processed one after another, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")


def slice_by_size(
    items: Iterable[_Item], measure: Callable[[_Item], int], most: int, most_items: int | None = None
) -> Iterator[list[_Item]]:
    """Yield lists of consecutive items whose sizes add up to `most` at the most, or of one item that is larger alone.

    A list has at most `most_items` items. All items are yielded, in their order.
    """
    part: list[_Item] = []
    size = 0
    for item in items:
        more = measure(item)
        if part and (len(part) == most_items or size + more > most):
            yield part
            part, size = [], 0
        part.append(item)
        size += more
    if part:
        yield part
