"""Boundary commands of an LFP by the rules of docs/load-files.md, tried in every order: slow, plain, and without
anything of the application.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import NamedTuple

SPACE = " \t\x0b\x0c"
FLAGS = ("", "C", "D", "F", "B", "S")
COMMANDS = ("BF", "BM", "BR")


class RefusedError(Exception):
    """The commands of a file cannot be applied."""


class Line(NamedTuple):
    """A line: its text (None if it is too long), and for one of a page its image key and whether it states a flag."""

    text: str | None
    is_page: bool
    key: str
    starts: bool


def find_flags(lines: Sequence[Line]) -> list[str]:
    """Return the flag of each page, in the order of their lines. Raises RefusedError."""
    pages = [line for line in lines if line.is_page]
    commands = [found for line in lines if not line.is_page and (found := _read(line.text or ""))]
    return _find_flags(pages, commands)


def has_commands(lines: Sequence[Line]) -> bool:
    """Return whether a line is a boundary command, well written or not."""
    return any(_get_name(line.text or "") in COMMANDS for line in lines if not line.is_page)


def _get_name(text: str) -> str:
    return text.split(",")[0].strip(SPACE).upper()


def _read(text: str) -> list[str] | None:
    name, *columns = [column.strip(SPACE) for column in text.split(",")]
    if name.upper() not in COMMANDS:
        return None
    keys = 2 if name.upper() == "BR" else 1
    if len(columns) <= keys or any(columns[keys + 1 :]) or not all(columns[:keys]):
        raise RefusedError(text)
    flag = columns[keys].upper()
    if flag not in FLAGS or (keys == 2 and not flag):
        raise RefusedError(text)
    return [name.upper(), *columns[:keys], flag]


def _find_flags(pages: Sequence[Line], commands: Sequence[list[str]]) -> list[str]:
    places: dict[str, list[int]] = {}
    for number, page in enumerate(pages):
        if page.key:
            places.setdefault(page.key, []).append(number)
    effects: list[set[tuple[str, int]]] = [set() for _ in pages]
    prefixes = set[str]()
    for name, *keys, flag in commands:
        level = FLAGS.index(flag)
        if any(len(places.get(key, ())) != 1 for key in keys):
            raise RefusedError(keys)
        first, last = places[keys[0]][0], places[keys[-1]][0]
        if name != "BR":
            effects[first].add(("set" if name == "BF" or not level else "raise", level))
            continue
        if last < first:
            raise RefusedError(keys)
        prefixes |= {found[1] for key in keys if (found := re.fullmatch(r"(.*?)[0-9]{1,15}", key, re.DOTALL))}
        effects[first].add(("raise", level))
        for inside in range(first + 1, last + 1):
            effects[inside].add(("cut", level))
        if last + 1 < len(pages):
            effects[last + 1].add(("raise", level))
    _refuse_disorder(pages, prefixes)
    return [FLAGS[_try_orders(_read_level(page), found)] for page, found in zip(pages, effects, strict=True)]


def _refuse_disorder(pages: Sequence[Line], prefixes: set[str]) -> None:
    last: dict[str, int] = {}
    for page in pages:
        found = re.fullmatch(r"(.*?)([0-9]{1,15})", page.key, re.DOTALL)
        if found and found[1] in prefixes:
            if int(found[2]) < last.get(found[1], 0):
                raise RefusedError(page.key)
            last[found[1]] = int(found[2])


def _read_level(page: Line) -> int:
    return FLAGS.index((page.text or "").split(",")[2].strip(SPACE).upper()) if page.starts else 0


CHANGES: dict[str, Callable[[int, int], int]] = {
    "set": lambda level, stated: stated,
    "raise": max,
    "cut": lambda level, stated: level if level <= stated else 0,
}


def _try_orders(level: int, effects: set[tuple[str, int]]) -> int:
    found = set()
    for order in permutations(effects):
        result = level
        for change, stated in order:
            result = CHANGES[change](result, stated)
        found.add(result)
    if len(found) > 1:
        raise RefusedError(sorted(found))
    return found.pop()
