"""What an oracle found: kinds that the last line of a run counts, and one sentence each."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

LOST, DOUBLED, BOTH, MISPLACED, OVERLAP, EARLY, UNFINISHED, WRONG = KINDS = (
    *("lost", "doubled", "in both places", "misplaced", "overlaps", "events before commit", "unfinished"),
    "wrong answers",
)


class Finding(NamedTuple):
    """A violation."""

    kind: str
    what: str


def asserted(kind: str, what: str, check: Callable[[], object]) -> Iterator[Finding]:
    """The check's assertion as a finding, if it fails; one without a message is described by its source line."""
    try:
        check()
    except (AssertionError, KeyError, IndexError, ValueError) as error:
        message = str(error) or traceback.extract_tb(error.__traceback__)[-1].line or ""
        yield Finding(kind, f"{what}: {type(error).__name__}: {' '.join(message.split())[:600]}")


def compare(what: str, expected: Counter[Any], got: Counter[Any]) -> Iterator[Finding]:
    """What is missing is lost; what is there too often is doubled, and what is there and not expected is misplaced."""
    if missing := expected - got:
        yield Finding(LOST, f"{what}: {sorted(missing, key=repr)[:5]} are missing")
    for each in sorted(got - expected, key=repr)[:5]:
        yield Finding(DOUBLED if expected[each] else MISPLACED, f"{what}: {each} is there {got[each]} times")
