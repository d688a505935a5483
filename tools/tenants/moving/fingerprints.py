"""Compare the rows of two databases without bringing them together.

Guaranteed: two tables have equal fingerprints if they have the same rows, in whatever order; if not, they differ but by
a chance of 1 in 2**256, unless the rows were made for it. Rows are counted and hashed in groups by what they belong to,
so that a difference says where to look.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

_MODULUS = 2**256
# Documents and page sets: ids ascend by 1,000 in a cell, so that a group has up to 10,000 of them.
_GROUP = 10_000_000


class Fingerprint:
    """The count and the sum of hashes of rows, by group."""

    def __init__(self) -> None:
        self._groups: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, group: str, line: bytes) -> None:
        """Add a row."""
        found = self._groups[group]
        found[0] += 1
        found[1] = (found[1] + int.from_bytes(hashlib.sha256(line).digest())) % _MODULUS

    def describe(self) -> dict[str, list[Any]]:
        """Return count and hash by group, as JSON has them."""
        return {group: [count, f"{total:064x}"] for group, (count, total) in sorted(self._groups.items())}


def name_group(column: str, value: bytes | None) -> str:
    """Return the group of a row whose scope's column has this value."""
    if column == "tenant_id" or value is None:
        return "all"
    number = int(value)
    return (
        f"{column} from {number // _GROUP * _GROUP}"
        if column in ("exhibit_id", "page_set_id")
        else f"{column} {number}"
    )


def count_rows(groups: Mapping[str, list[Any]]) -> int:
    """Return how many rows groups have."""
    return sum(count for count, _ in groups.values())


def compare_groups(table: str, expected: Mapping[str, list[Any]], found: Mapping[str, list[Any]]) -> Iterator[str]:
    """Yield a line for each group that differs."""
    for group in sorted({*expected, *found}):
        one, other = expected.get(group, [0, ""]), found.get(group, [0, ""])
        if one[0] != other[0]:
            yield f"{table}, {group}: {other[0]:,} rows instead of {one[0]:,}"
        elif one != other:
            yield f"{table}, {group}: rows with other values"
