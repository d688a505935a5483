"""What comes out of the index of spellings, in lists of any size, resolves the names as all occurrences at once do."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from core.imports.canonical_names import Correction, MergedName, NameOccurrence, resolve_names
from shell.imports.completing.spelling_index import spelling_index

OURS, OTHERS, KINDS = 7, 3, ("custodians", "tags")
SPELLINGS = st.sampled_from(["Smith", "SMITH", "smith", "Sm\u00edth"])
LINES = st.lists(st.integers(1, 9), min_size=24, max_size=24)
Resolved = dict[str, tuple[list[Correction], list[MergedName]]]


@st.composite
def pages(draw: st.DrawFn) -> list[list[NameOccurrence]]:
    """Pages of occurrences: the lines of each are above those before, and a page has a spelling once."""
    rows = {}
    for kind in KINDS:
        for number in range(1, draw(st.integers(0, 3)) + 1):
            by = draw(st.sampled_from([OURS, OTHERS, None]))
            rows[kind, number] = (f"{draw(SPELLINGS)} {number}", by, draw(st.integers(1, 9)) if by else None)
    made = []
    for page in range(draw(st.integers(0, 4)) if rows else 0):
        seen = draw(st.lists(st.tuples(st.sampled_from(sorted(rows)), SPELLINGS), unique=True))
        made.append(
            [
                NameOccurrence(kind, number, *rows[kind, number], f"{spelling} {number}", 10 * page + line, "Column")
                for ((kind, number), spelling), line in zip(seen, draw(LINES), strict=False)
            ]
        )
    return made


def lowest(occurrences: list[NameOccurrence]) -> list[NameOccurrence]:
    """Each spelling of a name once, with its lowest line."""
    first: dict[tuple[str, int, str], NameOccurrence] = {}
    for each in sorted(occurrences, key=lambda each: each.first_line):
        first.setdefault((each.kind, each.id, each.spelling), each)
    return list(first.values())


def of_kind(kind: str, occurrences: list[NameOccurrence]) -> list[NameOccurrence]:
    """Those of custodians, or of tags."""
    return [each for each in occurrences if each.kind == kind]


@given(pages(), st.integers(1, 5))
def test_names_come_whole_in_the_order_of_their_ids_and_resolve_as_all_at_once(
    made: list[list[NameOccurrence]], size: int
) -> None:
    expected = {kind: resolve_names(of_kind(kind, lowest(list(chain(*made)))), OURS) for kind in KINDS}
    found: Resolved = {kind: ([], []) for kind in KINDS}
    names: list[tuple[str, int]] = []
    with spelling_index() as index:
        for page in made:
            index.add(page)
        for batch in index.list_unresolved(OURS, size):
            names += dict.fromkeys((each.kind, each.id) for each in batch)
            for kind in KINDS:
                corrections, merged = resolve_names(of_kind(kind, batch), OURS)
                found[kind][0].extend(corrections)
                found[kind][1].extend(merged)
                index.add_merged(kind, merged)
        listed = list(index.list_merged(size))
    assert names == sorted(set(names))
    assert {kind: (corrections, sorted(merged)) for kind, (corrections, merged) in found.items()} == {
        kind: (corrections, sorted(merged)) for kind, (corrections, merged) in expected.items()
    }
    assert_whole_lines(listed, expected)


def assert_whole_lines(listed: list[list[tuple[str, MergedName]]], expected: Resolved) -> None:
    """The merged names come by line, kind and spelling, and no line is in two lists."""
    everything = [each for batch in listed for each in batch]
    assert everything == sorted(everything, key=lambda each: (each[1].line_no, each[0], each[1].spelling))
    assert sorted(everything) == sorted((kind, name) for kind in KINDS for name in expected[kind][1])
    lines = [{name.line_no for _, name in batch} for batch in listed]
    assert sum(map(len, lines)) == len(set().union(*lines))
