"""What is planted in a file is found, each once and nothing else, whatever the order of its chunks."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.checks.facts import RowFacts, pack_facts, unpack_facts
from core.checks.findings import Finding, Severity
from core.checks.limits import DEFAULT_LIMITS, Limits
from core.codes import CheckCode
from core.errors import UnavailableError
from shell.imports.checks.file_findings import find_file_findings
from shell.imports.checks.id_groups import CaseRow
from shell.imports.checks.similar_names import CUSTODIANS, TAGS, find_similar_names
from tests.unit.shell.checks_reference import find_expected, identify, match, name_lines, pairs
from tests.unit.shell.lacking_reference import find_lacking

TINY = Limits(lines=3, entries=2, families=1, parents=1)
HASHES = ["", "", "a" * 32, "b" * 40, "c" * 64]


def find(
    rows: Sequence[RowFacts],
    case: Sequence[CaseRow] = (),
    in_case: Sequence[str] = (),
    *,
    seed: int = 0,
    size: int = 3,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Finding]:
    """The findings of rows whose chunks have up to `size` rows and come in an order that depends on the seed."""
    chunks = [pack_facts(rows[start : start + size]) for start in range(0, len(rows), size)]
    random.Random(seed).shuffle(chunks)

    def look_up(numbers: Sequence[str]) -> set[str]:
        assert 1 <= len(set(numbers)) == len(numbers) <= 1_000
        return set(in_case) & set(numbers)

    with tempfile.TemporaryDirectory() as folder:
        found = list(find_file_findings(chunks, case, look_up, folder, limits=limits))
        assert list(Path(folder).iterdir()) == []
    assert all(finding.severity is Severity.WARNING for finding in found)
    return found


def codes(found: Sequence[Finding]) -> Counter[str]:
    return Counter(finding.code for finding in found)


@st.composite
def bates(draw: st.DrawFn) -> str:
    prefix = draw(st.sampled_from(["A", "A", "A", "B-", "A1."]))
    suffix = draw(st.sampled_from(["", "", "", "", "x"]))
    return f"{prefix}{draw(st.integers(0, 25)):0{draw(st.sampled_from([2, 2, 2, 3]))}d}{suffix}"


NUMBERS = bates() | bates() | bates() | st.sampled_from(["", "none", "A\n1", "A\x1f2"])


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, str]:
    """The first and last number of a range, in most cases of one series."""
    first = draw(st.integers(0, 15))
    last = first + draw(st.sampled_from([0, 0, 1, 2, 9]))
    return draw(st.sampled_from([(f"A{first:02d}", f"A{last:02d}"), (f"B-{first}", f"B-{last}")]))


SPANS = spans() | spans() | spans() | st.tuples(NUMBERS, NUMBERS)


@st.composite
def rows_of_a_file(draw: st.DrawFn) -> list[RowFacts]:
    ids = draw(st.lists(NUMBERS.filter(bool) | st.sampled_from(["D1", "d1", "D01", "P\x01"]), max_size=14, unique=True))
    parents = st.sampled_from(["", *ids, *ids, "gone", "held"])
    with_ends = draw(st.booleans())
    families = draw(st.lists(SPANS, min_size=1, max_size=3))
    rows = []
    for position, number in enumerate(ids):
        begin, end = draw(SPANS)
        rows.append(
            RowFacts(
                *(7 + 2 * position, number, begin, end if with_ends else "", draw(parents)),
                *(draw(st.sampled_from(HASHES)), draw(st.none() | st.integers(1, 3))),
                *draw(st.sampled_from(families)),
            )
        )
    return rows


CASE = st.lists(
    st.builds(
        CaseRow,
        bates() | st.sampled_from(["D1", "C1", "C2"]),
        NUMBERS | st.none(),
        NUMBERS | st.none(),
        is_claim=st.just(False),
    ),
    max_size=8,
    unique_by=lambda row: row.control_number,
)


@given(rows_of_a_file(), CASE, st.integers(0, 99), st.integers(1, 5), st.sampled_from([TINY, DEFAULT_LIMITS]))
def test_everything_is_found_that_a_comparison_of_all_rows_finds(
    rows: list[RowFacts], case: list[CaseRow], seed: int, size: int, limits: Limits
) -> None:
    in_case = ["held", *(row.control_number for row in case)]
    found = find(rows, case, in_case, seed=seed, size=size, limits=limits)
    expected = find_expected(rows, case, in_case) + Counter(find_lacking(rows, case))
    invented, missed = match(found, expected)
    assert (invented, missed) == (Counter(), Counter())


@given(rows_of_a_file(), st.integers(0, 99))
def test_every_row_that_shares_a_number_is_named_by_an_overlap(rows: list[RowFacts], seed: int) -> None:
    rows = [row for row in rows if not row.bates_begin.endswith("x") and not row.bates_end.endswith("x")]
    overlaps = [each for each in find(rows, seed=seed) if each.code is CheckCode.BATES_OVERLAP]
    assert {line for each in overlaps for line in name_lines(rows, each)} == pairs(rows)


TEXT = st.text(st.characters() | st.sampled_from("\x01\n\x1e\x1fa"), max_size=6)


@given(st.lists(st.builds(RowFacts, st.integers(1, 2**40), TEXT, TEXT, TEXT, TEXT, TEXT, st.none() | st.integers(1))))
def test_packed_facts_are_read_as_they_were_written(rows: list[RowFacts]) -> None:
    assert unpack_facts(pack_facts(rows)) == rows
    assert pack_facts(rows) == pack_facts(tuple(rows))


def test_damaged_or_unknown_facts_are_refused() -> None:
    packed = pack_facts([RowFacts(1, f"A{number}") for number in range(99)])
    for damaged in (packed[:-1], packed[:20], packed[:40] + b"xy" + packed[42:]):
        with pytest.raises(UnavailableError, match="damaged"):
            unpack_facts(damaged)
    with pytest.raises(UnavailableError, match="unknown version"):
        unpack_facts(b"facts 1\n" + packed)


def number(value: int) -> str:
    return f"ABC{value:07d}"


def build(position: int) -> RowFacts:
    """A row of a file without faults: three pages, families of four documents."""
    head, begin = position - position % 4, position * 3 + 1
    parent = number(head * 3 + 1) if position != head else ""
    family = (number(head * 3 + 1), number(head * 3 + 12))
    return RowFacts(
        2 + position, number(begin), number(begin), number(begin + 2), parent, f"{position:032x}", 3, *family
    )


def test_one_wrong_end_is_one_finding_and_hides_no_other_overlap() -> None:
    rows = [build(position)._replace(family_begin="", family_end="") for position in range(400)]
    rows[10] = rows[10]._replace(bates_end=number(10 * 3 + 3 + 148 * 3), page_count=None)
    rows[50] = rows[50]._replace(bates_end=number(50 * 3 + 4), page_count=None)
    found = [each for each in find(rows, size=50) if each.code is CheckCode.BATES_OVERLAP]
    assert sorted(map(identify, found), key=str) == [
        (CheckCode.BATES_OVERLAP, 12, number(31), None, "148", "13"),
        (CheckCode.BATES_OVERLAP, 53, number(154), "52", None, None),
    ]


def test_a_file_without_faults_has_no_findings() -> None:
    rows = [build(position) for position in range(4_000)]
    assert find(rows, size=500, limits=Limits(lines=1_000)) == []


def test_planted_faults_across_the_borders_of_chunks_are_found_and_nothing_else() -> None:
    rows = [build(position) for position in range(4_000)]
    # A gap of one family at the border of chunks, two rows in a circle of different chunks, a width, an overlap.
    del rows[2_000:2_004]
    rows[10] = rows[10]._replace(parent_control_number=rows[3_001].control_number)
    rows[3_001] = rows[3_001]._replace(parent_control_number=rows[10].control_number, family_begin="", family_end="")
    rows[500] = rows[500]._replace(bates_begin="ABC01501", bates_end="ABC01503", family_begin="", family_end="")
    rows[999] = rows[999]._replace(bates_end=number(3_001), page_count=4)
    found = find(rows, size=500, limits=Limits(lines=1_000))
    assert codes(found) == {
        CheckCode.BATES_GAP: 1,
        CheckCode.BATES_OVERLAP: 1,
        CheckCode.BATES_WIDTH: 2,
        CheckCode.PARENT_CYCLE: 2,
        # Row 999 goes beyond its family; rows 10 and 3001 have parents of other families.
        CheckCode.FAMILY_RANGE: 3,
        # What rows 500 and 3001 no longer state.
        CheckCode.FAMILY_GAP: 2,
    }
    (gap,) = [each.message for each in found if each.code is CheckCode.BATES_GAP]
    (hole, _) = [each.message for each in found if each.code is CheckCode.FAMILY_GAP]
    assert all("Look first whether a rejected row has" in message for message in (gap, hole))
    assert "12 missing: ABC0006001 to ABC0006012, between line 2001 and line 2006" in gap


def test_a_long_chain_of_parents_is_not_a_cycle_and_its_circle_is() -> None:
    chain = [RowFacts(line, f"N{line}", parent_control_number=f"N{line + 1}") for line in range(1, 5_001)]
    end = RowFacts(5_001, "N5001")
    assert find([*chain, end], size=900, limits=TINY._replace(lines=700)) == []
    found = find([*chain, end._replace(parent_control_number="N4001")], size=900)
    assert codes(found) == {CheckCode.PARENT_CYCLE: 1_001}
    assert "4001, 4002" in found[0].message
    assert "and 981 more" in found[0].message


def test_numbers_without_ends_have_gaps_if_most_follow_each_other() -> None:
    by_document = [RowFacts(line, f"D{line}", number(line)) for line in range(1, 20) if line != 9]
    assert codes(find(by_document)) == {CheckCode.BATES_GAP: 1}
    by_page = [RowFacts(line, f"D{line}", number(5 * line)) for line in range(1, 20)]
    assert find(by_page) == []


def test_a_document_of_the_case_is_not_compared_with_itself() -> None:
    rows = [RowFacts(2, "D1", "A1", "A5"), RowFacts(3, "D2", "A6", "A9")]
    assert find(rows, [CaseRow("D1", "A1", "A7")]) == []
    found = find(rows, [CaseRow("D1", "A1", "A7"), CaseRow("X", "A5", "A6")])
    assert [identify(each)[:3] for each in found] == [
        (CheckCode.BATES_OVERLAP_CASE, 2, "D1"),
        (CheckCode.BATES_OVERLAP_CASE, 3, "D2"),
    ]


def similar(*names: tuple[str, str, int]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        return [each.message for each in find_similar_names(names, folder, TINY)]


def test_names_that_differ_in_signs_or_order_are_similar() -> None:
    assert similar(
        (CUSTODIANS, "Smith, John", 9),
        (CUSTODIANS, "John Smith", 4),
        (CUSTODIANS, "JOHN-SMITH", 0),
        (CUSTODIANS, "Smith, J.", 5),
        (CUSTODIANS, "Smith, John, Jr.", 6),
        (TAGS, "Smith, John", 7),
        (TAGS, "John Smith", 8),
        (TAGS, "Hot\\Cold", 1),
        (TAGS, "HotCold", 2),
        (TAGS, "++", 3),
        (TAGS, "--", 3),
        (TAGS, "Hot / Cold", 3),
        (CUSTODIANS, "Acme", 0),
        (CUSTODIANS, "A.C.M.E.", 0),
    ) == [
        (
            "Line 4: 3 custodians are probably one: 'JOHN-SMITH' (in the case), 'John Smith' (line 4), 'Smith, John'"
            " (line 9). Use one spelling."
        ),
        "Line 2: 2 tags are probably one: 'HotCold' (line 2), 'Hot / Cold' (line 3). Use one spelling.",
    ]
