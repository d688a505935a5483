"""Find the first matches of a lead by the zones of a case, in the order of control numbers or in reverse.

Guaranteed: what is returned are the first matches, however the zones overlap. An exhibit whose zone is not read comes
after the border, which is where the next zone begins: what is found before it is complete.
Not guaranteed: that zones help. If the exhibits of each zone are spread over the case, no page is found by few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from shell.zones.zone_map import SizedZone

# How much more is read each time for a page that is not full, before zones are given up.
_GROWTHS = (1, 4, 16, 64)
_GROUPS = 16
Ids = list[tuple[int, int]]
# Count the lead's exhibits with ids of each group, each up to a limit.
Count = Callable[[Sequence[Sequence[SizedZone]], int], Sequence[int]]
T = TypeVar("T")


class _Chosen(NamedTuple):
    """Zones that are read, and the place of the first one in order that is not: those before it have no exhibits."""

    zones: list[SizedZone]
    following: int


def walk_zones(
    zones: Sequence[SizedZone], most: int, count: Count, read: Callable[[Ids, SizedZone | None], list[T]]
) -> list[T] | None:
    """Return the first `most` matches; None if too many exhibits would be read for them.

    The zones are in the order of reading. `read` returns the first matches that have some ids and come before a zone.
    """
    chosen = _choose(zones, 2 * most, count)
    for growth in _GROWTHS:
        end = chosen.following + (growth - 1) * max(1, len(chosen.zones))
        part = [*chosen.zones, *zones[chosen.following : end]]
        found = read(merge_ids(part), zones[end] if end < len(zones) else None) if part else []
        if len(found) == most or end >= len(zones):
            return found
    return None


def _choose(zones: Sequence[SizedZone], needed: int, count: Count) -> _Chosen:
    """Return the first zones that have so many exhibits of the lead together, without groups that have none."""
    kept, place, groups = list[SizedZone](), 0, _grow(zones)
    while groups:
        counts, counted, groups = count(groups, needed), groups, []
        for group, found in zip(counted, counts, strict=True):
            if found >= needed and len(group) > 1:
                groups = _split(group)
                break
            kept += group if found else []
            place += len(group)
            needed -= found
            if needed <= 0:
                break
    return _Chosen(kept, place)


def _grow(zones: Sequence[SizedZone]) -> list[Sequence[SizedZone]]:
    """Return the zones in groups that get larger: of most leads the first exhibits are in the first zones."""
    groups, begin, size = list[Sequence[SizedZone]](), 0, 1
    while begin < len(zones):
        groups.append(zones[begin : begin + size])
        begin, size = begin + size, 3 * size
    return groups


def _split(zones: Sequence[SizedZone]) -> list[Sequence[SizedZone]]:
    size = -(-len(zones) // _GROUPS)
    return [zones[begin : begin + size] for begin in range(0, len(zones), size)]


def merge_ids(zones: Sequence[SizedZone]) -> Ids:
    """Return the ranges of ids of the zones, in order and disjoint."""
    merged: Ids = []
    for first, last in sorted((each.zone.first_exhibit, each.zone.last_exhibit) for each in zones):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
