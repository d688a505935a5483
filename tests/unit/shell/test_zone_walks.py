"""A page that is read by zones, compared with the sorted list, and how much of the case is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from shell.zones.zone_map import SizedZone, Zone, build_zone
from shell.zones.zone_walks import Ids, merge_ids, walk_zones

# Control numbers by chunk; the ids follow the chunks. Those with a vowel are of the lead.
CHUNKS = st.lists(st.lists(st.text("aeixyz", min_size=1, max_size=3), min_size=1, max_size=8), max_size=40)


def build(chunks: Sequence[Sequence[str]]) -> tuple[list[SizedZone], dict[int, str]]:
    """The zones in the order of reading, and the control numbers by id."""
    ids = count(1)
    created = [[(number, next(ids)) for number in chunk] for chunk in chunks]
    zones = [SizedZone(zone, len(chunk)) for chunk in created if (zone := build_zone(chunk))]
    return sorted(zones, key=lambda each: each.zone.first_number), {at: n for chunk in created for n, at in chunk}


class Case:
    """A case whose zones are read; `ids` are those that were read."""

    def __init__(self, chunks: Sequence[Sequence[str]], start: str) -> None:
        zones, self.numbers = build(chunks)
        self.zones, self.start, self.read_ids = [each for each in zones if each.zone.last_number >= start], start, 0

    def list_lead(self, ids: Ids) -> list[str]:
        """The control numbers of the lead's exhibits with some ids."""
        numbers = [self.numbers[at] for first, last in ids for at in range(first, last + 1)]
        return [number for number in numbers if set(number) & set("aei")]

    def count(self, groups: Sequence[Sequence[SizedZone]], needed: int) -> list[int]:
        return [min(needed, len(self.list_lead(merge_ids(group)))) for group in groups]

    def walk(self, most: int) -> list[str] | None:
        def read(ids: Ids, following: SizedZone | None) -> list[str]:
            self.read_ids += len(self.list_lead(ids))
            numbers = sorted(each for each in self.list_lead(ids) if each >= self.start)
            return [n for n in numbers if following is None or n < following.zone.first_number][:most]

        return walk_zones(self.zones, most, self.count, read)


@given(chunks=CHUNKS, start=st.text("aeixyz", max_size=2), most=st.integers(1, 6))
def test_a_page_by_zones_is_that_of_the_sorted_list(chunks: list[list[str]], start: str, most: int) -> None:
    case = Case(chunks, start)
    found = case.walk(most)
    expected = sorted(n for n in case.numbers.values() if n >= start and set(n) & set("aei"))[:most]
    assert found is None or found == expected


def test_exhibits_that_lie_together_far_from_the_start_are_found_by_a_few_zones() -> None:
    chunks = [[f"{'x' if chunk < 240 else 'a'}{chunk:04}{line:04}" for line in range(50)] for chunk in range(300)]
    chunks = [[f"{chunk:04}{number}" for number in numbers] for chunk, numbers in enumerate(chunks)]
    case = Case(chunks, "0000")
    assert case.walk(101) == sorted(n for chunk in chunks[240:] for n in chunk)[:101]
    assert case.read_ids <= 1_000


def test_zones_that_each_span_the_case_are_given_up() -> None:
    # The first exhibit of each is not of the lead.
    case = Case([[f"{line:04}x{chunk:04}{'a' if line else ''}" for line in range(10)] for chunk in range(2000)], "")
    assert case.walk(101) is None


def test_the_zone_of_numbers_that_servers_order_otherwise_is_not_known() -> None:
    assert build_zone([("A\x01", 1), ("B", 2)]) is None
    assert build_zone([]) is None
    assert build_zone([("b", 3), ("a", 7)]) == Zone("a", "b", 3, 7)
