"""The load files of one seed, and what their uploaders do. Drawn from the seed and nothing else.

Every seed has a file that is checked before it is imported, in a case of its own: what the check says can then be
compared with what the import does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from samples.dialects import DIALECTS, ENCODINGS
from samples.spec import STRUCTURAL, Fault, FaultKind, Spec, SpecError, check, supports
from samples.strategies import quotings
from samples.words import Alphabet
from tests.torture.faults.injection_points import CHECKED_CASE


@dataclass(frozen=True)
class CheckPlan:
    """What happens to a file that was checked: it is left, or run by one client or two; the run may be cancelled."""

    is_run: bool = True
    is_run_by_two: bool = False
    is_run_cancelled: bool = False


@dataclass(frozen=True)
class FilePlan:
    """A load file: how it comes in, and what its uploader does meanwhile.

    With `check` it is checked first, and with `is_twice` also imported before that; what is cancelled, and retried, is
    then the check.
    """

    case: str
    spec: Spec
    is_announced: bool
    is_twice: bool
    is_cancelled: bool
    check: CheckPlan | None = None


def draw_file(draw: random.Random, number: int) -> FilePlan:
    """Draw a file that is imported without a check."""
    is_twice = draw.random() < 0.25
    return FilePlan(
        case=f"Case {number}",
        spec=_spec(draw),
        is_announced=draw.random() < 0.5,
        is_twice=is_twice,
        is_cancelled=not is_twice and draw.random() < 0.25,
    )


def draw_checked_files(draw: random.Random) -> Iterator[FilePlan]:
    """Draw a file that is checked and run, and in some seeds a second one that is checked and never run."""
    run = CheckPlan(is_run_by_two=draw.random() < 0.5, is_run_cancelled=draw.random() < 0.25)
    yield replace(draw_file(draw, 0), case=CHECKED_CASE, check=run)
    if draw.random() < 0.4:
        yield replace(draw_file(draw, 1), case="Checked 1", is_twice=False, check=CheckPlan(is_run=False))


def _spec(draw: random.Random) -> Spec:
    """A file of any dialect and encoding, clean or damaged; drawn again where there can be no such file."""
    while True:
        made = _any_spec(draw)
        try:
            check(made)
        except SpecError:
            continue
        return made


def _any_spec(draw: random.Random) -> Spec:
    dialect = draw.choice(DIALECTS)
    bare = Spec(
        rows=draw.randint(8, 40),
        seed=draw.randrange(2**32),
        dialect=dialect,
        quoting=draw.choice(quotings(dialect)),
        encoding=draw.choice(ENCODINGS),
        newline=draw.choice(("\r\n", "\n")),
        header=draw.random() < 0.8,
        alphabets=frozenset(draw.sample(list(Alphabet), draw.randint(0, 3))),
        embedded_newlines=draw.random() < 0.5,
        custodians=draw.randint(1, 6),
        hot_custodian=draw.choice((None, "Hot, Harriet")),
    )
    kinds = [kind for kind in FaultKind if kind is not FaultKind.HUGE_PROPERTY and supports(bare, kind)]
    faults = draw.choices(kinds, k=draw.randint(0, 4)) if kinds else []
    return replace(bare, faults=tuple(Fault(kind) for kind in faults if bare.header or kind not in STRUCTURAL))
