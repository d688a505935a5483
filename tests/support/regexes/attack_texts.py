"""Derive from a pattern the texts on which its time could grow: what leads to a repetition, then a long run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.support.regexes.step_counts import compile_node, parse

# Runs of these are tried after every beginning, whatever the pattern has.
CHARACTERS = (" ", "a", "A", "1", ",", ";", '"', ".", "-", "/", "\\", "\r", "\n", ":", "\u00fe")
# What follows the run: nothing, something that no pattern ends with, and something that its end could match.
ENDS = ("", "!", "\n", "a1", '"x')
_BEGINNINGS = ("", '"', ",", "1/1/2020 10:00", "@V;d;f.tif;2,")
_TAKEN = 10


class Attack(NamedTuple):
    """A beginning, a unit that is repeated, and an end."""

    beginning: Any
    unit: Any
    end: Any

    def build(self, count: int) -> Any:
        """Return the text with the unit repeated `count` times."""
        return self.beginning + self.unit * count + self.end


def list_attacks(pattern: re.Pattern[Any]) -> list[Attack]:
    """Return attacks on a pattern of text or bytes, without repetition."""
    found = [*_walk(pattern, take_options=False), *_walk(pattern, take_options=True)]
    beginnings = dict.fromkeys([*(beginning for beginning, _ in found), *_BEGINNINGS])
    units = dict.fromkeys([*(unit for _, unit in found if unit), *CHARACTERS])
    attacks = (Attack(beginning, unit, end) for beginning in beginnings for unit in units for end in ENDS)
    if isinstance(pattern.pattern, bytes):
        return [Attack(*(part.encode("latin-1") for part in attack)) for attack in attacks]
    return list(attacks)


def _walk(pattern: re.Pattern[Any], *, take_options: bool) -> Iterator[tuple[str, str]]:
    """Yield for each repetition without a small bound what leads to it, and one round of it."""
    parsed = parse(pattern)
    yield from _Walk(isinstance(pattern.pattern, bytes), take_options).walk(parsed, parsed.state.flags, "")


class _Walk:
    def __init__(self, is_bytes: bool, take_options: bool) -> None:
        self._is_bytes, self._take_options = is_bytes, take_options

    def walk(self, nodes: Any, flags: int, beginning: str) -> Iterator[tuple[str, str]]:
        for node in nodes:
            yield from self._walk_node(str(node[0]), node[1], flags, beginning)
            beginning += self._write_node(node, flags)

    def _walk_node(self, name: str, argument: Any, flags: int, beginning: str) -> Iterator[tuple[str, str]]:
        if name == "BRANCH":
            for nodes in argument[1]:
                yield from self.walk(nodes, flags, beginning)
        elif name == "SUBPATTERN":
            yield from self.walk(argument[3], (flags | argument[1]) & ~argument[2], beginning)
        elif name == "ATOMIC_GROUP":
            yield from self.walk(argument, flags, beginning)
        elif name.endswith("_REPEAT"):
            if argument[1] > _TAKEN:
                yield beginning, self._write(argument[2], flags)
            yield from self.walk(argument[2], flags, beginning)

    def _write(self, nodes: Any, flags: int) -> str:
        return "".join(self._write_node(node, flags) for node in nodes)

    def _write_node(self, node: Any, flags: int) -> str:
        """Return a short text that the node matches."""
        name, argument = str(node[0]), node[1]
        writers: dict[str, Callable[[], str]] = {
            "BRANCH": lambda: self._write(argument[1][0], flags),
            "SUBPATTERN": lambda: self._write(argument[3], (flags | argument[1]) & ~argument[2]),
            "ATOMIC_GROUP": lambda: self._write(argument, flags),
        }
        if name in writers:
            return writers[name]()
        if name.endswith("_REPEAT"):
            return self._write(argument[2], flags) * max(int(argument[0]), int(self._take_options))
        return "" if name in {"AT", "ASSERT", "ASSERT_NOT"} else self._write_character(node, flags)

    def _write_character(self, node: Any, flags: int) -> str:
        if str(node[0]) == "LITERAL":
            return chr(node[1])
        test = compile_node(node, flags, b"" if self._is_bytes else "")
        return next(
            character
            for character in (*CHARACTERS, *map(chr, range(256)), "\u202a", "\ud800", "\udc80", "\U0001f600")
            if test.fullmatch(character.encode("latin-1") if self._is_bytes else character)
        )
