"""Periods of custody: who held a device from when to when, and which periods overlap.

A period is half-open, `[begin, end)`: one that ends at 15:00 and one that begins at 15:00 touch and do not overlap.
Moments are UTC without a zone, to the microsecond. A device that is still held has the end `STILL_HELD`, so that one
comparison serves all periods; the year of `STILL_HELD` is kept for it, and no real moment lies there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

STILL_HELD = datetime(9999, 12, 31, tzinfo=UTC).replace(tzinfo=None)
# What a DATETIME column promises to hold begins here.
FIRST_YEAR, LAST_YEAR = 1000, STILL_HELD.year - 1
# Spelled out, for Python's own reader takes +00:99, and in some versions 24:00, for other moments.
_TIME_OF_DAY = "([01][0-9]|2[0-3]):[0-5][0-9]"
MOMENT = (
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_TIME_OF_DAY}(:[0-5][0-9](\.[0-9]{{1,6}})?)?"
    rf"(Z|[+-]{_TIME_OF_DAY})"
)
_HOW = "write a moment as 2026-11-21T15:00:00Z or 2026-11-21T16:00:00+01:00, with at most six digits of a second"


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


def parse_moment(text: str) -> datetime:
    """The moment in UTC; raises ValueError, saying what to write, for anything but ISO 8601 with an offset."""
    if not re.fullmatch(MOMENT, text, re.ASCII):
        raise ValueError(f"{_HOW} (in a query string a plus is %2B)" if " " in text else _HOW)
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError) as exc:
        raise ValueError(f"there is no such moment; {_HOW}") from exc
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"moments from the year {FIRST_YEAR} to {LAST_YEAR} (UTC) can be recorded")
    return moment


def written(moment: datetime) -> str:
    """The moment as ISO 8601 in UTC; microseconds only where there are any."""
    return f"{moment.isoformat()}Z"


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
                yield Conflict(span.id, periods[place], is_recorded=True)
                place += 1


def _by_device(spans: Sequence[Span]) -> Mapping[int, list[Span]]:
    """Each device's spans by their begin."""
    found: defaultdict[int, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda each: (each.device_id, each.begin, each.end, each.id)):
        found[span.device_id].append(span)
    return found
