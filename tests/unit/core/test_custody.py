"""Moments are read as the instants they name, or refused; overlaps are found exactly as the definition has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.custody import (
    STILL_HELD,
    Span,
    find_conflicts_with,
    find_conflicts_within,
    find_envelopes,
    to_open_end,
    to_stored_end,
)
from core.timestamps import FIRST_YEAR, LAST_YEAR, TIMESTAMP_PATTERN, format_timestamp, parse_timestamp

THREE = datetime(2026, 11, 21, 15)
TIMESTAMPS = [
    ("2026-11-21T15:00:00Z", THREE),
    ("2026-11-21T15:00Z", THREE),
    ("2026-11-21T16:00+01:00", THREE),
    ("2026-11-21T20:45:00+05:45", THREE),
    ("2026-11-22T05:00+14:00", THREE),
    ("2026-11-21T03:00-12:00", THREE),
    ("2026-11-21T15:00-00:00", THREE),
    *((f"2026-11-21T15:00:00.{'5' * n}Z", THREE.replace(microsecond=int(f"{'5' * n:0<6}"))) for n in range(1, 7)),
    ("2026-11-21T15:00:00.000001Z", THREE.replace(microsecond=1)),
    ("2024-02-29T00:00Z", datetime(2024, 2, 29)),
    ("1000-01-01T00:00Z", datetime(1000, 1, 1)),
    ("0999-12-31T23:30-01:00", datetime(1000, 1, 1, 0, 30)),
    ("9998-12-31T23:59:59.999999Z", datetime(9998, 12, 31, 23, 59, 59, 999_999)),
    ("9999-01-01T00:30+01:00", datetime(9998, 12, 31, 23, 30)),
    # The hour that clocks show twice is two hours.
    ("2026-10-25T02:30+02:00", datetime(2026, 10, 25, 0, 30)),
    ("2026-10-25T02:30+01:00", datetime(2026, 10, 25, 1, 30)),
]


@pytest.mark.parametrize(("text", "timestamp"), TIMESTAMPS)
def test_a_timestamp_is_the_instant_that_its_offset_makes_it(text: str, timestamp: datetime) -> None:
    assert parse_timestamp(text) == timestamp


NO_FORM = [
    *("", "soon", "2026", "2026-11-21", "1795273200", "20261121T150000Z", "2026-W47-6T15:00Z"),
    *("2026-11-21T15:00", "2026-11-21T15:00:00.5", "2026-11-21T15Z", "2026-11-21T15:00:00.Z", "2026-11-21T15:00:00,5Z"),
    *("2026-11-21T15:00:00.1234567Z", "2026-11-21T15:00+01", "2026-11-21T15:00+0100", "2026-11-21T15:00+01:00:30"),
    *("2026-11-21t15:00z", " 2026-11-21T15:00Z", "2026-11-21T15:00Z\n", "12026-11-21T15:00Z", "-2026-11-21T15:00Z"),
    *("2026-11-21T15:00−01:00", "２０２６-11-21T15:00Z", "2026-11-2١T15:00Z"),
    # What no clock shows; Python would read some of it as another timestamp.
    *("2026-11-21T24:00Z", "2026-11-21T24:00:00Z", "2026-11-21T25:00Z", "2026-11-21T15:60Z", "2026-12-31T23:59:60Z"),
    *("2026-11-21T15:00+24:00", "2026-11-21T15:00+05:60", "2026-11-21T15:00-00:99"),
]
NO_TIMESTAMP = [
    *("2026-02-30T00:00Z", "2025-02-29T00:00Z", "2026-13-01T00:00Z", "2026-00-10T00:00Z", "2026-11-00T00:00Z"),
    *("0000-01-01T00:00Z", "0001-01-01T00:00+14:00", "9999-12-31T23:30-01:00"),
]
NO_YEAR = ["9999-01-01T00:00Z", "9998-12-31T23:30-01:00", "0999-12-31T23:59:59Z", "1000-01-01T00:30+01:00"]


REFUSED = {
    r"^send an ISO 8601 timestamp with an offset, such as ": NO_FORM,
    r"^this date does not exist; send ": NO_TIMESTAMP,
    r"^send a timestamp between the years 1000 and 9998 \(UTC\)": NO_YEAR,
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_no_timestamp_that_can_be_recorded_is_refused_with_the_reason(message: str) -> None:
    for text in REFUSED[message]:
        with pytest.raises(ValueError, match=message):
            parse_timestamp(text)


@pytest.mark.parametrize(("text", "is_reported"), [("2026-11-21T15:00 01:00", True), ("2026-11-21T15:00", False)])
def test_a_plus_that_became_a_space_is_reported(text: str, is_reported: bool) -> None:
    with pytest.raises(ValueError, match="send an ISO 8601 timestamp") as refused:
        parse_timestamp(text)
    assert ("%2B" in str(refused.value)) == is_reported


RECORDABLE = st.datetimes(datetime(FIRST_YEAR, 1, 2), datetime(LAST_YEAR, 12, 30))


@given(RECORDABLE, st.integers(-1_439, 1_439))
def test_every_timestamp_is_read_back_to_the_microsecond_from_any_offset(timestamp: datetime, minutes: int) -> None:
    there = timestamp.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))
    assert parse_timestamp(there.isoformat()) == timestamp
    assert parse_timestamp(format_timestamp(timestamp)) == timestamp
    assert format_timestamp(THREE) == "2026-11-21T15:00:00Z"


@given(st.from_regex(TIMESTAMP_PATTERN, fullmatch=True) | st.text(max_size=30))
def test_a_text_gives_a_timestamp_that_can_be_recorded_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert FIRST_YEAR <= parse_timestamp(text).year <= LAST_YEAR


def test_a_device_that_is_still_held_ends_after_every_moment() -> None:
    assert (to_stored_end(None), to_open_end(STILL_HELD)) == (STILL_HELD, None)
    assert to_stored_end(THREE) == to_open_end(THREE) == THREE
    assert parse_timestamp(f"{LAST_YEAR}-12-31T23:59:59.999999Z") < STILL_HELD


GAPS, LENGTHS = (st.integers(least, 4).map(lambda days: timedelta(days=days)) for least in (0, 1))
BEGINS = st.integers(0, 12).map(lambda days: THREE + timedelta(days=days))
DEVICES = (1, 2)


@st.composite
def requests(draw: st.DrawFn) -> list[Span]:
    """Elements of a request, which may overlap each other; some are still held."""
    spans = st.tuples(st.sampled_from(DEVICES), BEGINS, LENGTHS | st.none())
    drawn = enumerate(draw(st.lists(spans, max_size=12)))
    return [Span(n, device, begin, begin + length if length else STILL_HELD) for n, (device, begin, length) in drawn]


@st.composite
def tables(draw: st.DrawFn) -> list[Span]:
    """Recorded periods, of which none of a device overlap; some touch. In no order."""
    found: list[Span] = []
    for device in DEVICES:
        end = THREE
        for gap, length in draw(st.lists(st.tuples(GAPS, LENGTHS), max_size=4)):
            begin, end = end + gap, end + gap + length
            found.append(Span(100 + len(found), device, begin, end))
        if end > THREE and draw(st.booleans()):
            found.append(found.pop()._replace(end=STILL_HELD))
    return draw(st.permutations(found))


def overlap(a: Span, b: Span) -> bool:
    """The definition."""
    return a.device_id == b.device_id and a.begin < b.end and b.begin < a.end


@given(requests())
def test_each_pair_of_elements_that_overlap_is_found_once(elements: list[Span]) -> None:
    found = list(find_conflicts_within(elements))
    pairs = Counter(frozenset((each.element, each.other.id)) for each in found)
    assert pairs == Counter(frozenset((a.id, b.id)) for a, b in combinations(elements, 2) if overlap(a, b))
    assert all(elements[each.other.id] == each.other and not each.is_recorded for each in found)
    assert all(elements[each.element].begin >= each.other.begin for each in found)


@given(requests(), tables())
def test_each_recorded_period_that_overlaps_is_found_once_and_lies_in_an_envelope(
    elements: list[Span], kept: list[Span]
) -> None:
    found = list(find_conflicts_with(elements, kept))
    pairs = Counter((each.element, each.other) for each in found)
    assert pairs == Counter((a.id, b) for a, b in product(elements, kept) if overlap(a, b))
    assert all(each.is_recorded for each in found)
    around = find_envelopes(elements)
    for device, (begin, end) in around.items():
        ours = [each for each in elements if each.device_id == device]
        assert (begin, end) == (min(each.begin for each in ours), max(each.end for each in ours))
    near = [each for each in kept if any(overlap(each, Span(0, device, *edges)) for device, edges in around.items())]
    assert Counter(find_conflicts_with(elements, near)) == Counter(found)


def days(number: int, first: int, last: int) -> Span:
    return Span(number, 1, THREE + timedelta(days=first), THREE + timedelta(days=last))


def naive_conflicts(spans: Sequence[Span]) -> list[tuple[int, int]]:
    """A twin that compares each with the one before it."""
    return [(b.id, a.id) for a, b in pairwise(sorted(spans, key=lambda each: each.begin)) if overlap(a, b)]


def test_comparing_neighbours_alone_misses_what_a_long_period_holds() -> None:
    spans = [days(0, 0, 9), days(1, 1, 2), days(2, 3, 4)]
    assert [(each.element, each.other.id) for each in find_conflicts_within(spans)] == [(1, 0), (2, 0)]
    assert naive_conflicts(spans) == [(1, 0)]
