"""Where the first exhibit can be that a list looks for, by zones that overlap in any way."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from shell.zones.zone_map import SizedZone, Zone, build_zone
from shell.zones.zone_walks import Ids, find_first

CHUNKS = st.lists(st.lists(st.integers(0, 400), min_size=1, max_size=6, unique=True), max_size=60)


def build(chunks: Sequence[Sequence[int]], *, is_descending: bool) -> list[SizedZone]:
    """Zones in the order of reading, of exhibits whose control numbers are drawn and whose ids are in order."""
    zones, next_id = list[SizedZone](), 1
    for chunk in chunks:
        zone = build_zone((f"{number:03}", next_id + place) for place, number in enumerate(chunk))
        next_id += len(chunk)
        assert zone is not None
        zones.append(SizedZone(zone, len(chunk)))
    if is_descending:
        return sorted(zones, key=lambda each: each.zone.last_number, reverse=True)
    return sorted(zones, key=lambda each: each.zone.first_number)


def has(ids: Ids, linked: set[int]) -> bool:
    """Whether one of the linked exhibits is in the ranges."""
    return any(first <= each <= last for each in linked for first, last in ids)


@given(chunks=CHUNKS, linked=st.sets(st.integers(1, 360)), is_descending=st.booleans())
def test_nothing_linked_is_before_the_first_zone(
    chunks: list[list[int]], linked: set[int], is_descending: bool
) -> None:
    zones = build(chunks, is_descending=is_descending)
    rounds: list[int] = []

    def has_any(groups: Sequence[Ids]) -> list[bool]:
        rounds.append(len(groups))
        return [has(ids, linked) for ids in groups]

    place = find_first(zones, has_any)
    own = [has([(each.zone.first_exhibit, each.zone.last_exhibit)], linked) for each in zones]
    assert place == (own.index(True) if True in own else None)
    assert len(rounds) <= 4
    assert all(size <= 16 for size in rounds)


def test_exhibits_that_lose_the_link_meanwhile_end_no_list() -> None:
    zones = build([[number] for number in range(40)], is_descending=False)
    answers = iter([[False, False, True, True], [False] * 9])
    assert find_first(zones, lambda _: next(answers)) == 4
    assert find_first([], lambda _: []) is None


def test_the_zone_of_numbers_that_servers_order_otherwise_is_not_known() -> None:
    assert build_zone([("A\x01", 1), ("B", 2)]) is None
    assert build_zone([]) is None
    assert build_zone([("b", 3), ("a", 7)]) == Zone("a", "b", 3, 7)
