"""Cycles of rows that name each other are those of a graph that is searched from every row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.families.cycles import StatingRow, find_cycles
from core.families.kinds import FamilyKind, Stated
from core.families.unread import describe_cycles

NUMBERS = ["A", "B", "C", "D"]
KINDS = st.sampled_from([FamilyKind.BEGIN, FamilyKind.RANGE, FamilyKind.GROUP])
statements = st.lists(st.builds(Stated, KINDS, st.sampled_from([*NUMBERS, "X"])), max_size=2)


@given(st.lists(statements, min_size=4, max_size=4), st.permutations(range(4)))
def test_every_row_that_leads_back_to_itself_is_in_one_cycle(stated: list[list[Stated]], order: list[int]) -> None:
    rows = [StatingRow(2 + n, NUMBERS[n], None, stated[n]) for n in range(4)]
    parents = {}
    for row in rows:
        named = [each for kind in FamilyKind for each in row.stated if each.kind is kind and each.key in NUMBERS]
        parents[row.control_number] = next((each.key for each in named if each.key != row.control_number), None)

    def leads_back(number: str) -> bool:
        at: str | None = number
        for _ in NUMBERS:
            at = parents.get(at or "")
            if at == number:
                return True
        return False

    found = find_cycles([rows[n] for n in order])
    numbers = [number for each in found for number, _ in each.places]
    assert sorted(numbers) == [number for number in NUMBERS if leads_back(number)]
    assert [each.places[0][1] for each in found] == sorted(min(line for _, line in each.places) for each in found)


def test_a_long_cycle_is_named_by_its_first_rows() -> None:
    rows = [StatingRow(n + 2, f"D{n}", None, [Stated(FamilyKind.BEGIN, f"D{(n + 1) % 5}")]) for n in range(5)]
    [(column, message)] = describe_cycles(find_cycles(rows), {"family_begin": "BEGATTACH"})
    assert column == "BEGATTACH"
    assert "such as D0 (line 2) and D1 (line 3) and D2 (line 4) and 2 more. Find" in message
