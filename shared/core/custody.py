"""Custody periods: who held a device from when to when, and which periods overlap.

A period is half-open, `[begin, end)`: a period that ends at 15:00 and one that begins at 15:00 do not overlap. The
period of a device that is still held ends at `STILL_HELD`, so that one comparison serves all periods; no real timestamp
lies in that year (`core.timestamps`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

STILL_HELD = datetime(9999, 12, 31, tzinfo=UTC).replace(tzinfo=None)


class Span(NamedTuple):
    """A device and a period, requested or recorded. `id` is the position in a request, or the id of a row."""

    id: int
    device_id: int
    begin: datetime
    end: datetime


class PeriodConflict(NamedTuple):
    """An overlap of an element of a request, by its position from 0, with a recorded period or another element."""

    element: int
    other: Span
    is_recorded: bool


def to_stored_end(end: datetime | None) -> datetime:
    """Return the end as it is stored: `STILL_HELD` for None."""
    return STILL_HELD if end is None else end


def to_open_end(end: datetime) -> datetime | None:
    """Return the stored end as the API returns it: None for a device that is still held."""
    return None if end == STILL_HELD else end


def find_envelopes(spans: Iterable[Span]) -> dict[int, tuple[datetime, datetime]]:
    """Return the first begin and the last end of each device's spans."""
    found: dict[int, tuple[datetime, datetime]] = {}
    for span in spans:
        first, last = found.get(span.device_id, (span.begin, span.end))
        found[span.device_id] = (min(first, span.begin), max(last, span.end))
    return found


def find_conflicts_within(requested: Sequence[Span]) -> Iterator[PeriodConflict]:
    """Yield each pair of overlapping elements once, as a conflict of the one that begins later."""
    for spans in _group_by_device(requested).values():
        open_spans: list[Span] = []
        for span in spans:
            open_spans = [each for each in open_spans if each.end > span.begin]
            yield from (PeriodConflict(span.id, each, is_recorded=False) for each in open_spans)
            open_spans.append(span)


def find_conflicts_with(requested: Sequence[Span], recorded: Sequence[Span]) -> Iterator[PeriodConflict]:
    """Yield each pair of an element and a recorded period that overlap.

    Takes time linear in elements, periods and pairs, provided that the recorded periods do not overlap each other.
    """
    recorded_by_device = _group_by_device(recorded)
    for device_id, spans in _group_by_device(requested).items():
        periods, first = recorded_by_device.get(device_id, []), 0
        for span in spans:
            while first < len(periods) and periods[first].end <= span.begin:
                first += 1
            index = first
            while index < len(periods) and periods[index].begin < span.end:
                if periods[index].end > span.begin:
                    yield PeriodConflict(span.id, periods[index], is_recorded=True)
                index += 1


def _group_by_device(spans: Sequence[Span]) -> Mapping[int, list[Span]]:
    """Return each device's spans, ordered by their begin."""
    found: defaultdict[int, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda each: (each.device_id, each.begin, each.end, each.id)):
        found[span.device_id].append(span)
    return found
