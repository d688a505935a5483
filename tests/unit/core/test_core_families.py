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


def test_a_document_alone_has_no_family() -> None:
    assert find_families(members(("A", None), ("B", "elsewhere"), ("C", "C"), ("D", ""))) == {}
    assert find_families([]) == {}


def test_a_family_goes_from_its_first_to_its_last_number() -> None:
    found = find_families(members(("A", None), ("A.1", "A"), ("A.2", "A"), ("B", None)))
    assert found == {
        "A": Family("B000", "B005", ""),
        "A.1": Family("B000", "B005", "B000"),
        "A.2": Family("B000", "B005", "B000"),
    }


def test_a_circle_is_one_family() -> None:
    found = find_families(members(("A", "C"), ("B", "A"), ("C", "B"), ("D", "C"), ("E", None)))
    assert [found[number].parent for number in "ABCD"] == ["B004", "B000", "B002", "B004"]
    assert "E" not in found
    assert {(each.begin, each.end) for each in found.values()} == {("B000", "B007")}


def test_a_long_chain_is_one_family() -> None:
    chain = members(*((f"{number:06}", f"{number + 1:06}") for number in range(5_000)))
    assert len({(each.begin, each.end) for each in find_families(chain).values()}) == 1


NUMBERS = [f"D{number}" for number in range(8)]


@given(st.lists(st.sampled_from([*NUMBERS, "not here", None]), min_size=8, max_size=8))
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
    """Whoever can be reached over parents and children."""
    kin = {number}
    while True:
        more = {each for each in parents if parents[each] in kin} | {parents[each] for each in kin} & parents.keys()
        if more <= kin:
            return kin
        kin |= {each for each in more if each is not None}
