"""Families of documents, against a slow way of finding them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.productions.families import Family, FamilyMember, find_families


def members(*pairs: tuple[str, str | None]) -> list[FamilyMember]:
    """Documents and their parents, each of two numbers."""
    return [
        FamilyMember(number, parent, f"B{place * 2:03}", f"B{place * 2 + 1:03}")
        for place, (number, parent) in enumerate(pairs)
    ]


def test_a_long_chain_is_one_family() -> None:
    chain = members(*((f"{number:06}", f"{number + 1:06}") for number in range(5_000)))
    assert len({(each.begin, each.end) for each in find_families(chain).values()}) == 1


NUMBERS = [f"D{number}" for number in range(8)]


@given(st.lists(st.sampled_from([*NUMBERS, "not here", "", None]), min_size=8, max_size=8))
def test_families_are_what_is_joined_by_parents(parents: list[str | None]) -> None:
    everybody = members(*zip(NUMBERS, parents, strict=True))
    begins_of = {member.control_number: member.begin for member in everybody}
    found = find_families(everybody)
    for member in everybody:
        kin = _kin(member.control_number, dict(zip(NUMBERS, parents, strict=True)))
        if len(kin) == 1:
            assert member.control_number not in found
        else:
            begins = [each.begin for each in everybody if each.control_number in kin]
            ends = [each.end for each in everybody if each.control_number in kin]
            parent = begins_of.get(member.parent or "", "")
            assert found[member.control_number] == Family(min(begins), max(ends), parent)


def _kin(number: str, parents: dict[str, str | None]) -> set[str]:
    """Documents that can be reached over parents and children."""
    kin = {number}
    while True:
        more = {each for each in parents if parents[each] in kin} | {parents[each] for each in kin} & parents.keys()
        if more <= kin:
            return kin
        kin |= {each for each in more if each is not None}
