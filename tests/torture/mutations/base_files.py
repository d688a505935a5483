"""The sound files, and some with faults, that are damaged.

Guaranteed: every dialect, way of quoting, encoding and newline is among enough of them. Nothing here imports the
application.
"""

from __future__ import annotations

import random
from itertools import product

from samples.columns import IdStyle
from samples.dates import DateFormat
from samples.dialects import DIALECTS, ENCODINGS, Dialect, Quoting
from samples.generator import Generated, generate
from samples.spec import Fault, FaultKind, Spec, supports
from samples.strategies import quotings
from samples.words import Alphabet, build_random

MOST_ROWS = 40
# A cell of 70,000 characters makes every file slow, and shows nothing that one of 200 does not.
_FAULTS = tuple(kind for kind in FaultKind if kind is not FaultKind.HUGE_PROPERTY)


def base_files(seed: int, most: int) -> list[Generated]:
    """Sound files, and some with faults, of every dialect, way of quoting, encoding and newline, in any order."""
    rng = build_random(seed, "bases")
    kinds = [
        (*kind, quoting) for kind in product(DIALECTS, ENCODINGS, ("\r\n", "\n", "\r")) for quoting in quotings(kind[0])
    ]
    rng.shuffle(kinds)
    return [generate(_spec(rng, *kinds[number % len(kinds)])) for number in range(most)]


def _spec(rng: random.Random, dialect: Dialect, encoding: str, newline: str, quoting: Quoting) -> Spec:
    header = rng.random() < 0.8
    bare = Spec(
        rows=rng.randint(1, MOST_ROWS),
        seed=rng.getrandbits(32),
        dialect=dialect,
        quoting=quoting,
        encoding=encoding,
        newline=newline,
        header=header,
        trailing_delimiter=header and rng.random() < 0.2,
        final_newline=rng.random() < 0.7,
        blank_lines=rng.random() < 0.2,
        id_style=rng.choice(list(IdStyle)),
        id_position=rng.randint(0, 2),
        padded_ids=rng.random() < 0.2,
        spaced_values=rng.random() < 0.3,
        alphabets=frozenset(rng.sample(list(Alphabet), 2)),
        date_format=rng.choice(list(DateFormat)),
        embedded_newlines=rng.random() < 0.5,
        embedded_lf=rng.random() < 0.3,
        explicit_dialect=rng.random() < 0.2,
        convert_marks=rng.choice((None, None, True, False)),
    )
    faults = [Fault(kind) for kind in rng.choices(_FAULTS, k=rng.choice((0, 0, 1, 3))) if supports(bare, kind)]
    return Spec(**{**vars(bare), "faults": tuple(faults)})
