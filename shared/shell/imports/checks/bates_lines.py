"""Bates ranges as lines of text that sort in the order of a sweep: by series, first number, last number and line."""

from __future__ import annotations

from collections.abc import Iterator

from core.checks.bates import BatesRange
from core.checks.bates_entry import BatesEntry
from core.checks.facts import CELL_END
from shell.utils.external_sort import ExternalSort

# A number is written after a character for its number of digits, so that texts are in the order of the numbers.
_LENGTHS = tuple(chr(48 + length) for length in range(256))


def format_entry(
    numbers: BatesRange, line: int, kind: str, control_number: str, begin: str, family: BatesRange | None
) -> str:
    """Return the line of a range; `family` is in its series. A control number that equals `begin` is left out."""
    suffix, prefix, first, last, width = numbers
    start, end, e = str(first), str(last), CELL_END
    own = "" if control_number == begin else control_number
    stated = f"{e}{family[2]}{e}{family[3]}" if family else ""
    return (
        f"{suffix}{e}{prefix}{e}{_LENGTHS[len(start)]}{start}{e}{_LENGTHS[len(end)]}{end}{e}{line:012d}{e}"
        f"{kind}{e}{width}{e}{own}{stated}"
    )


def format_again(entry: BatesEntry) -> str:
    """Return the line of an entry."""
    suffix, prefix, first, last, line, kind, width, number, start, end = entry
    family = None if start is None or end is None else BatesRange(suffix, prefix, start, end, width)
    return format_entry(BatesRange(suffix, prefix, first, last, width), line, kind, number, "", family)


def format_member(entry: BatesEntry) -> str:
    """Return the line of a member of a family; members sort by family, then as entries."""
    start, end, e = str(entry.family_first), str(entry.family_last), CELL_END
    family = f"{_LENGTHS[len(start)]}{start}{e}{_LENGTHS[len(end)]}{end}"
    return f"{entry.suffix}{e}{entry.prefix}{e}{family}{e}{format_again(entry)}"


def parse_member(text: str) -> BatesEntry:
    """Return the entry of a member's line."""
    return parse_entry(text.split(CELL_END, 4)[4])


def parse_entry(text: str) -> BatesEntry:
    """Return the entry of a line."""
    suffix, prefix, first, last, line, kind, width, own, *family = text.split(CELL_END)
    if not family:
        return BatesEntry(suffix, prefix, int(first[1:]), int(last[1:]), int(line), kind, int(width), own)
    numbers = (suffix, prefix, int(first[1:]), int(last[1:]), int(line), kind, int(width), own, *map(int, family))
    return BatesEntry._make(numbers)


def read_entries(lines: ExternalSort) -> Iterator[BatesEntry]:
    """Yield the entries of sorted lines."""
    for batch in lines.read():
        yield from map(parse_entry, batch)
