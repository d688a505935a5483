"""Count the steps that Python's engine of regular expressions takes, so that tests of their growth need no clock.

Guaranteed: `StepCounter` matches as `re` does, by the same backtracking in the same order, and raises AssertionError if
its result is not that of `re`. A step is a comparison of one character or an assertion at one place. The engine's own
optimisations save some of them; they do not make a pattern of quadratic steps linear.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

# What the parser returns is not public; the types and names are the same in Python 3.11 to 3.14.
_parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")
_SINGLE = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY"})
_Match = Callable[[int], "int | None"]


def _find_spans(pattern: re.Pattern[Any], method: str, text: Any) -> list[tuple[int, int]]:
    if method in {"match", "fullmatch", "search"}:
        found = getattr(pattern, method)(text)
        return [found.span()] if found else []
    return [found.span() for found in pattern.finditer(text)]


def parse(pattern: re.Pattern[Any]) -> Any:
    """Return the nodes of a pattern; their `state` has the flags."""
    return _parser.parse(pattern.pattern, pattern.flags)


def compile_node(node: Any, flags: int, empty: Any) -> re.Pattern[Any]:
    """Return the pattern of one node alone, so that `re` itself tells which character or place it matches."""
    state = _parser.State()
    state.flags, state.str = flags, empty
    found: re.Pattern[Any] = _compiler.compile(_parser.SubPattern(state, [node]), flags)
    return found


@contextmanager
def _deep_recursion(limit: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, limit))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class StepCounter:
    """Run a pattern and count; each of its nodes is a function from a place to the end of the match or None."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._pattern, self._empty = pattern, pattern.pattern[:0]
        self._text, self._steps, self._forbidden = self._empty, 0, -1
        parsed = parse(pattern)
        self._part = self._compile_all(parsed, parsed.state.flags, lambda end: None if end == self._forbidden else end)
        self._whole = self._compile_all(parsed, parsed.state.flags, lambda end: end if end == len(self._text) else None)

    def count(self, method: str, text: Any) -> int:
        """Return the steps of a method on a text: match, fullmatch, search, or any that finds all matches."""
        self._text, self._steps, self._forbidden = text, 0, -1
        with _deep_recursion(40 * len(text) + 2_000):
            if method in {"match", "fullmatch"}:
                end = (self._whole if method == "fullmatch" else self._part)(0)
                spans = [] if end is None else [(0, end)]
            else:
                spans = list(self._find(once=method == "search"))
        assert spans == _find_spans(self._pattern, method, text), (self._pattern.pattern, method, text)
        return self._steps

    def _find(self, *, once: bool) -> Iterator[tuple[int, int]]:
        """Yield the spans of the first match or of all; after an empty match the next one is not empty there."""
        place = 0
        while place <= len(self._text):
            self._steps += 1
            end = self._part(place)
            if end is None:
                place += 1
                continue
            yield place, end
            if once:
                return
            self._forbidden, place = (end if end == place else -1), end

    def _compile_all(self, nodes: Any, flags: int, then: _Match) -> _Match:
        for operation, argument in reversed(list(nodes)):
            then = self._compile(str(operation), (operation, argument), flags, then)
        return then

    def _compile(self, name: str, node: Any, flags: int, then: _Match) -> _Match:
        if name in _SINGLE:
            return self._compile_single(self._compile_test(node, flags), then)
        if name == "BRANCH":
            return _first_of([self._compile_all(nodes, flags, then) for nodes in node[1][1]])
        if name == "SUBPATTERN":
            _, added, removed, nodes = node[1]
            return self._compile_all(nodes, (flags | added) & ~removed, then)
        if name == "AT":
            return self._compile_position(compile_node(node, flags, self._empty), then)
        if name in {"ASSERT", "ASSERT_NOT"}:
            return self._compile_look(name == "ASSERT", node[1], flags, then)
        if name == "ATOMIC_GROUP":
            return self._compile_atomic(self._compile_all(node[1], flags, lambda place: place), then)
        if name.endswith("_REPEAT"):
            return self._compile_repeat(name, node[1], flags, then)
        raise NotImplementedError(f"{name}: add it to this counter")

    def _compile_test(self, node: Any, flags: int) -> Callable[[int], bool]:
        pattern, known = compile_node(node, flags, self._empty), dict[Any, bool]()

        def test(place: int) -> bool:
            self._steps += 1
            text = self._text
            if place >= len(text):
                return False
            character = text[place : place + 1]
            if character not in known:
                known[character] = pattern.fullmatch(character) is not None
            return known[character]

        return test

    def _compile_single(self, test: Callable[[int], bool], then: _Match) -> _Match:
        return lambda place: then(place + 1) if test(place) else None

    def _compile_position(self, pattern: re.Pattern[Any], then: _Match) -> _Match:
        def check(place: int) -> int | None:
            self._steps += 1
            return then(place) if pattern.match(self._text, place) else None

        return check

    def _compile_look(self, expected: bool, argument: Any, flags: int, then: _Match) -> _Match:
        direction, nodes = argument
        inner, back = self._compile_all(nodes, flags, lambda place: place), nodes.getwidth()[0] if direction < 0 else 0

        def look(place: int) -> int | None:
            found = place >= back and inner(place - back) is not None
            return then(place) if found is expected else None

        return look

    def _compile_atomic(self, inner: _Match, then: _Match) -> _Match:
        def enter(place: int) -> int | None:
            end = inner(place)
            return None if end is None else then(end)

        return enter

    def _compile_repeat(self, name: str, argument: Any, flags: int, then: _Match) -> _Match:
        least, most, nodes = argument
        if name == "POSSESSIVE_REPEAT":
            return self._compile_possessive(least, most, self._compile_all(nodes, flags, lambda place: place), then)
        if len(nodes) == 1 and str(nodes[0][0]) in _SINGLE:
            test = self._compile_test(nodes[0], flags)
            return _lazy_run(least, most, test, then) if name == "MIN_REPEAT" else _run(least, most, test, then)
        return self._compile_group(name == "MIN_REPEAT", least, most, nodes, flags, then)

    def _compile_possessive(self, least: int, most: int, inner: _Match, then: _Match) -> _Match:
        def repeat(place: int) -> int | None:
            count = 0
            while count < most:
                end = inner(place)
                if end is None:
                    break
                count += 1
                if end == place:
                    count = max(count, least)
                    break
                place = end
            return then(place) if count >= least else None

        return repeat

    def _compile_group(self, lazy: bool, least: int, most: int, nodes: Any, flags: int, then: _Match) -> _Match:
        bodies: list[_Match] = []
        starts: list[int] = []

        def enter(place: int, count: int) -> int | None:
            # An iteration that matched nothing is not followed by another one, as in `re`.
            more = count < most and (count < least or count == 0 or place != starts[count - 1])
            enough, end = count >= least, None
            if enough and lazy:
                end = then(place)
            if end is None and more:
                end = iterate(place, count)
            return then(place) if end is None and enough and not lazy else end

        def iterate(place: int, count: int) -> int | None:
            if len(bodies) == count:
                bodies.append(self._compile_all(nodes, flags, lambda end: enter(end, count + 1)))
                starts.append(-1)
            before, starts[count] = starts[count], place
            end = bodies[count](place)
            starts[count] = before
            return end

        return lambda place: enter(place, 0)


def _first_of(ways: list[_Match]) -> _Match:
    return lambda place: next((end for way in ways if (end := way(place)) is not None), None)


def _run(least: int, most: int, test: Callable[[int], bool], then: _Match) -> _Match:
    def repeat(place: int) -> int | None:
        count = 0
        while count < most and test(place + count):
            count += 1
        return next((end for n in range(count, least - 1, -1) if (end := then(place + n)) is not None), None)

    return repeat


def _lazy_run(least: int, most: int, test: Callable[[int], bool], then: _Match) -> _Match:
    def repeat(place: int) -> int | None:
        count = 0
        while True:
            if count >= least and (end := then(place + count)) is not None:
                return end
            if count >= most or not test(place + count):
                return None
            count += 1

    return repeat
