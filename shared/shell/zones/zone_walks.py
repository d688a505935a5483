"""Find by the zones of a case where the first exhibit can be that a list looks for.

Guaranteed: no exhibit that matches comes before the zone that is returned, however the zones overlap.
Not guaranteed: that zones help. If the exhibits of each zone are spread over the case, the first one is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shell.zones.zone_map import SizedZone

_GROUPS = 16
Ids = list[tuple[int, int]]
# Whether exhibits are there with the ids of each group.
HasAny = Callable[[Sequence[Ids]], Sequence[bool]]


def find_first(zones: Sequence[SizedZone], has_any: HasAny) -> int | None:
    """Return the place of the first zone that has an exhibit; None if none has.

    The zones are in the order of reading, which is that of their first or of their last control numbers.
    """
    groups, place, is_known = _grow(zones), 0, False
    while groups:
        found = list(has_any([merge_ids(group) for group in groups]))
        # What a group was found to have may be gone by now; then its begin is as good.
        if True not in found and not is_known:
            return None
        number = found.index(True) if True in found else 0
        place += sum(map(len, groups[:number]))
        if len(groups[number]) == 1:
            break
        groups, is_known = _split(groups[number]), True
    return place if groups else None


def _grow(zones: Sequence[SizedZone]) -> list[Sequence[SizedZone]]:
    """Return the zones in groups that get larger: the first exhibits are mostly in the first zones."""
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
