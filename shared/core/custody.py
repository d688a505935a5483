"""Periods of custody: who held a device from when to when, and which periods overlap.

A period is half-open, `[begin, end)`: one that ends at 15:00 and one that begins at 15:00 touch and do not overlap.
A device that is still held has the end `STILL_HELD`, so that one comparison serves all periods; no real moment lies in
its year (`core.moments`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

STILL_HELD = datetime(9999, 12, 31, tzinfo=UTC).replace(tzinfo=None)


class Span(NamedTuple):
    """A device and a period, wanted or recorded; `id` is what names it: a position in a request, or a row."""

    id: int
    device_id: int
    begin: datetime
    end: datetime


class Conflict(NamedTuple):
    """An element of a request, by its position from 0, overlaps `other`: a recorded period, or another element."""

    element: int
    other: Span
    is_recorded: bool


def kept_end(end: datetime | None) -> datetime:
    """The end as it is recorded."""
    return STILL_HELD if end is None else end


def given_end(end: datetime) -> datetime | None:
    """The end as it is answered: None for a device that is still held."""
    return None if end == STILL_HELD else end


def envelopes(spans: Iterable[Span]) -> dict[int, tuple[datetime, datetime]]:
    """For each device, the first begin and the last end of its spans."""
    found: dict[int, tuple[datetime, datetime]] = {}
    for span in spans:
        first, last = found.get(span.device_id, (span.begin, span.end))
        found[span.device_id] = (min(first, span.begin), max(last, span.end))
    return found


def conflicts_within(wanted: Sequence[Span]) -> Iterator[Conflict]:
    """Each pair of elements that overlap, once, as a conflict of the one that begins later."""
    for spans in _by_device(wanted).values():
        open_spans: list[Span] = []
        for span in spans:
            open_spans = [each for each in open_spans if each.end > span.begin]
            yield from (Conflict(span.id, each, is_recorded=False) for each in open_spans)
            open_spans.append(span)


def conflicts_with(wanted: Sequence[Span], recorded: Sequence[Span]) -> Iterator[Conflict]:
    """Each pair of an element and a recorded period that overlap.

    Takes time in proportion to elements, periods and pairs if, as they do, the recorded ones do not overlap.
    """
    kept = _by_device(recorded)
    for device_id, spans in _by_device(wanted).items():
        periods, first = kept.get(device_id, []), 0
        for span in spans:
            while first < len(periods) and periods[first].end <= span.begin:
                first += 1
            place = first
            while place < len(periods) and periods[place].begin < span.end:
                if periods[place].end > span.begin:
                    yield Conflict(span.id, periods[place], is_recorded=True)
                place += 1


def _by_device(spans: Sequence[Span]) -> Mapping[int, list[Span]]:
    """Each device's spans by their begin."""
    found: defaultdict[int, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda each: (each.device_id, each.begin, each.end, each.id)):
        found[span.device_id].append(span)
    return found
