"""Which spelling of a name is kept does not depend on which chunk was written first."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from core.imports.canonical_names import Correction, MergedName, NameOccurrence, resolve_names

OURS, OTHERS = 7, 3


def seen(
    spelling: str, line: int, *, stored: str, by: int | None = OURS, stored_line: int | None = 1
) -> NameOccurrence:
    return NameOccurrence("custodians", 1, stored, by, stored_line, spelling, line, "Custodian")


def test_a_name_of_this_import_takes_the_spelling_of_its_lowest_line() -> None:
    occurrences = [seen("SMITH", 9, stored="SMITH", stored_line=9), seen("Smith", 4, stored="SMITH", stored_line=9)]
    for arranged in permutations(occurrences):
        corrections, merged = resolve_names(arranged, OURS)
        assert corrections == [Correction(1, "Smith", 4)]
        assert merged == [MergedName("SMITH", "Smith", 9, "Custodian")]


def test_a_name_that_the_case_had_before_keeps_its_spelling() -> None:
    corrections, merged = resolve_names([seen("smith", 2, stored="Smith", by=OTHERS)], OURS)
    assert corrections == []
    assert merged == [MergedName("smith", "Smith", 2, "Custodian")]


def test_a_name_that_nobody_imported_keeps_its_spelling() -> None:
    assert resolve_names([seen("smith", 2, stored="Smith", by=None, stored_line=None)], OURS)[0] == []


def test_a_name_that_is_right_already_is_left_alone() -> None:
    assert resolve_names([seen("Smith", 4, stored="Smith", stored_line=4)], OURS) == ([], [])


def test_a_line_that_is_too_high_is_put_right_also_where_the_spelling_is() -> None:
    assert resolve_names([seen("Smith", 4, stored="Smith", stored_line=8)], OURS)[0] == [Correction(1, "Smith", 4)]


def test_two_spellings_on_one_line_are_settled_alike_every_time() -> None:
    occurrences = [seen("smith", 4, stored="smith"), seen("SMITH", 4, stored="smith")]
    answers = [resolve_names(arranged, OURS) for arranged in permutations(occurrences)]
    assert answers[0] == answers[1]


SPELLINGS = st.sampled_from(["Smith", "SMITH", "smith", "Smíth"])


@st.composite
def sighting_lists(draw: st.DrawFn) -> list[NameOccurrence]:
    """Some names with their rows; a spelling of a name is sighted once, with its lowest line."""
    occurrences = []
    for row in range(draw(st.integers(0, 3))):
        stored, by = draw(SPELLINGS), draw(st.sampled_from([OURS, OTHERS, None]))
        stored_line = draw(st.integers(1, 9)) if by else None
        lines = draw(st.dictionaries(SPELLINGS, st.integers(1, 9)))
        occurrences += [
            NameOccurrence("tags", row, stored, by, stored_line, s, line, "Tags") for s, line in lines.items()
        ]
    return occurrences


@settings(max_examples=200, deadline=None)
@given(sighting_lists(), st.randoms(use_true_random=False))
def test_the_answer_is_the_same_in_any_order(occurrences: list[NameOccurrence], random: st.DataObject) -> None:
    shuffled = list(occurrences)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert resolve_names(shuffled, OURS) == resolve_names(occurrences, OURS)


@settings(max_examples=200, deadline=None)
@given(sighting_lists())
def test_settling_what_was_settled_changes_nothing(occurrences: list[NameOccurrence]) -> None:
    corrections, merged = resolve_names(occurrences, OURS)
    new = {correction.id: correction for correction in corrections}
    settled = [
        s._replace(stored_name=new[s.id].name, stored_line=new[s.id].line_no) if s.id in new else s for s in occurrences
    ]
    assert resolve_names(settled, OURS) == ([], merged)
    assert [name.line_no for name in merged] == sorted(name.line_no for name in merged)
