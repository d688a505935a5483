"""Which spelling of a name is kept does not depend on which chunk was written first."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.imports.canonical_names import Correction, MergedName, NameOccurrence, resolve_names

OURS, OTHERS = 7, 3


def seen(
    spelling: str, line: int, *, stored: str, by: int | None = OURS, stored_line: int | None = 1
) -> NameOccurrence:
    return NameOccurrence("custodians", 1, stored, by, stored_line, spelling, line, "Custodian")


MERGED = MergedName("smith", "Smith", 2, "Custodian")
CASES = {
    "of this import: the spelling of its lowest line": (
        [seen("SMITH", 9, stored="SMITH", stored_line=9), seen("Smith", 4, stored="SMITH", stored_line=9)],
        ([Correction(1, "Smith", 4)], [MergedName("SMITH", "Smith", 9, "Custodian")]),
    ),
    "of the case before": ([seen("smith", 2, stored="Smith", by=OTHERS)], ([], [MERGED])),
    "not imported": ([seen("smith", 2, stored="Smith", by=None, stored_line=None)], ([], [MERGED])),
    "right already": ([seen("Smith", 4, stored="Smith", stored_line=4)], ([], [])),
    "a line that is too high": ([seen("Smith", 4, stored="Smith", stored_line=8)], ([Correction(1, "Smith", 4)], [])),
    "two on one line": (
        [seen("smith", 4, stored="smith"), seen("SMITH", 4, stored="smith")],
        ([Correction(1, "SMITH", 4)], [MergedName("smith", "SMITH", 4, "Custodian")]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_spelling_that_is_kept(name: str) -> None:
    occurrences, expected = CASES[name]
    for arranged in permutations(occurrences):
        assert resolve_names(arranged, OURS) == expected


SPELLINGS = st.sampled_from(["Smith", "SMITH", "smith", "Smíth"])


@st.composite
def occurrence_lists(draw: st.DrawFn) -> list[NameOccurrence]:
    """Some names with their rows; a spelling of a name occurs once, with its lowest line."""
    occurrences = []
    for row in range(draw(st.integers(0, 3))):
        stored, by = draw(SPELLINGS), draw(st.sampled_from([OURS, OTHERS, None]))
        stored_line = draw(st.integers(1, 9)) if by else None
        lines = draw(st.dictionaries(SPELLINGS, st.integers(1, 9)))
        occurrences += [
            NameOccurrence("tags", row, stored, by, stored_line, s, line, "Tags") for s, line in lines.items()
        ]
    return occurrences


@given(occurrence_lists(), st.randoms(use_true_random=False))
def test_names_are_resolved_alike_in_any_order_and_once_for_all(
    occurrences: list[NameOccurrence], random: st.DataObject
) -> None:
    shuffled = list(occurrences)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    corrections, merged = resolve_names(occurrences, OURS)
    assert resolve_names(shuffled, OURS) == (corrections, merged)
    new = {correction.id: correction for correction in corrections}
    corrected = [
        s._replace(stored_name=new[s.id].name, stored_line=new[s.id].line_no) if s.id in new else s for s in occurrences
    ]
    assert resolve_names(corrected, OURS) == ([], merged)
    assert [name.line_no for name in merged] == sorted(name.line_no for name in merged)
