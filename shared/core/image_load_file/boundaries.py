"""Boundary commands of an IPRO file: BF sets the flag of a page, BM raises it, BR groups a range of pages.

Guaranteed: the flags that pages have in the end do not depend on the order of the commands. Where they would, the
commands are a conflict with the lines of two of them.

Source: Ipro eCapture User Guide (2014), Appendix D, "Changing Boundaries". There, a command changes what those before
it left; the sequence of the lines of a file does not matter (docs.zylab.com, IPRO), which only holds without conflicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from typing import NamedTuple

from core.image_load_file.page_lines import WHITESPACE

BOUNDARY_COMMANDS = frozenset(("BF", "BM", "BR"))
# By level: a page that begins nothing, a child, a document, a folder, a box and a source.
FLAGS = ("", "C", "D", "F", "B", "S")
PAGE = 0
_LEVELS = {flag: level for level, flag in enumerate(FLAGS)}
_SHOWN = 60
# Fifteen digits fit every number of SQLite.
_NUMBERED = re.compile("(?P<prefix>.*?)(?P<number>[0-9]{1,15})", re.DOTALL)


class BoundaryCommand(NamedTuple):
    """A command: its name, the image key, the last key of a range (blank without one), and the level it states."""

    name: str
    key: str
    last_key: str
    level: int


class Action(Enum):
    """What a command does to a page: set its level, raise it to a level, or begin a range."""

    SET = "set"
    RAISE = "raise"
    GROUP = "group"


class Effect(NamedTuple):
    """What the command of a line does to a page; `last_page` is the end of the range that begins there.

    Pages are numbered from 0 in the order of their lines.
    """

    page: int
    action: Action
    level: int
    line_no: int
    last_page: int = 0


_NO_EFFECTS: tuple[int, Iterable[Effect]] = (-1, ())


class Conflict(NamedTuple):
    """A page whose flag depends on the order of two commands: its line, and theirs."""

    line_no: int
    commands: tuple[int, int]


class _Stated(NamedTuple):
    """A level, and the line of the command that states it."""

    level: int
    line_no: int


class _Range(NamedTuple):
    """The last page of a range, and the line of its command."""

    last_page: int
    line_no: int


@dataclass
class _PageEffects:
    """What the commands of a page come to: the lowest and highest level that it is set to, the highest raise.

    `ranges` are those that begin at the page, the longest of each level.
    """

    lowest: _Stated | None = None
    highest: _Stated | None = None
    raised: _Stated | None = None
    ranges: dict[int, _Range] = field(default_factory=dict)

    def add(self, effect: Effect) -> None:
        stated = _Stated(effect.level, effect.line_no)
        if effect.action is Action.SET:
            self.lowest = min(self.lowest or stated, stated)
            self.highest = max(self.highest or stated, stated)
            return
        self.raised = max(self.raised or stated, stated)
        if effect.action is Action.GROUP:
            found = _Range(effect.last_page, effect.line_no)
            self.ranges[effect.level] = max(self.ranges.get(effect.level, found), found)


def read_level(flag: str) -> int | None:
    """Return the level of a boundary flag, None if it is not one."""
    return _LEVELS.get(flag.strip(WHITESPACE).upper())


def read_page_level(text: str) -> int:
    """Return the level that a line of a page states; that of a page if its flag cannot be read."""
    columns = text.split(",", 3)
    return (read_level(columns[2]) or PAGE) if len(columns) > 2 else PAGE


def parse_boundary(text: str) -> BoundaryCommand | str:
    """Return the command that a line of BF, BM or BR states; a message if it cannot be read."""
    name, *columns = [column.strip(WHITESPACE) for column in text.split(",")]
    name, expected = name.upper(), 3 if name.upper() == "BR" else 2
    if name not in BOUNDARY_COMMANDS:
        return "The line is not a boundary command."
    form = "BR,first key,last key,flag" if name == "BR" else f"{name},key,flag"
    while len(columns) > expected and not columns[-1]:
        columns.pop()
    level = read_level(columns[-1]) if len(columns) == expected else None
    if level is None:
        return f"The line is not written as {form} with one of the flags C, D, F, B and S."
    if not all(columns[:-1]):
        return "The image key is blank."
    if name == "BR" and level == PAGE:
        return "The range has no boundary flag."
    return BoundaryCommand(name, columns[0], columns[1] if name == "BR" else "", level)


def split_key(key: str) -> tuple[str, int] | None:
    """Return the prefix and the number that an image key ends in; None without a number."""
    found = _NUMBERED.fullmatch(key)
    return (found["prefix"], int(found["number"])) if found else None


def show_key(key: str) -> str:
    """Return a key for a message."""
    return key if len(key) <= _SHOWN else f"{key[:_SHOWN]} …"


def resolve_levels(pages: Iterable[tuple[int, int]], effects: Iterable[Effect]) -> Iterator[int | Conflict]:
    """Yield the level of each page, or the conflict of its commands.

    `pages` are (level, line) as the lines of the pages state them; `effects` come in the order of their pages.
    """
    groups = groupby(effects, key=lambda effect: effect.page)
    page, effects_of_page = next(groups, _NO_EFFECTS)
    ranges: dict[int, _Range] = {}
    for number, (level, line_no) in enumerate(pages):
        found = _PageEffects()
        if number == page:
            for effect in effects_of_page:
                found.add(effect)
            page, effects_of_page = next(groups, _NO_EFFECTS)
        yield _apply(level, line_no, found, _find_cut(ranges, number))
        for each, new in found.ranges.items():
            ranges[each] = max(ranges.get(each, new), new)


def _find_cut(ranges: dict[int, _Range], page: int) -> _Stated | None:
    """Return the lowest level of the ranges that a page is inside of, other than at their beginning."""
    return min((_Stated(level, each.line_no) for level, each in ranges.items() if each.last_page >= page), default=None)


def _apply(level: int, line_no: int, found: _PageEffects, cut: _Stated | None) -> int | Conflict:
    """Return the level of a page; within a range, one that is higher than the range's becomes that of a page."""
    stated, raised = found.lowest, found.raised
    if stated is not None:
        against = found.highest if found.highest and found.highest.level > stated.level else None
        against = against or (raised if raised and raised.level > stated.level else None)
        against = against or (cut if cut and stated.level > cut.level else None)
        return Conflict(line_no, (stated.line_no, against.line_no)) if against else stated.level
    if cut and raised and max(level, raised.level) > cut.level:
        return Conflict(line_no, (raised.line_no, cut.line_no))
    if cut and level > cut.level:
        return PAGE
    return max(level, raised.level) if raised else level
