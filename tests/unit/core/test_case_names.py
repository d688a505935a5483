"""Names of cases that may be meant by another name."""

from __future__ import annotations

import pytest

from core import case_names
from core.case_names import find_similar_names


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Smith v. Jones", "SMITH V JONES"),
        ("Smith v. Jones", "Smith  v.  Jones"),
        ("Smith v. Jones", "Smith_v_Jones"),
        ("Smith v. Jones", "Smithv.Jones"),
        ("Smith v. Jones", "Smith v. Jonse"),
        ("Smith v. Jones", "Smith v. Jones (2024)"),
        ("Smith", "Smith v. Jones"),
        ("Straße", "STRASSE"),
        ("Ａｃｍｅ", "acme"),
        ("Smith v. Jones 12", "Smith v. Jonse 12"),
        ("Case 12", "Case 012"),
        ("Case 12", "Case 12, appeal 3"),
        ("2024-0123 Smith", "2024-0132 Smith"),
    ],
)
def test_a_misspelling_is_similar_both_ways(name: str, other: str) -> None:
    assert find_similar_names(name, [other, "Quite another matter"]) == [other]
    assert find_similar_names(other, [name]) == [name]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("acme", "acorn"), ("Smith", "Smithson v. Doe"), ("a", "b"), ("a", "...")),
        *(
            ("Case 12", "Case 13"),
            ("Case12", "Case21"),
            ("2024-0123", "2024-0132"),
            ("Smith v. Jones 1", "Smith v. Jones 10"),
            ("Smith v. Jones 00", "Smith v. Jones 01"),
            ("Smith v. Jones ١٢", "Smith v. Jones ١٣"),
        ),
    ],
)
def test_another_name_is_not_similar(name: str, other: str) -> None:
    assert find_similar_names(name, [other, name]) == []


def test_the_most_similar_come_first_and_no_more_than_requested() -> None:
    names = ["Acme v. Doe two", "ACME V DOE", "Acme v. Dof", *(f"Acme v. Doe {number}" for number in range(9))]
    assert find_similar_names("Acme v. Doe", names, 3) == ["ACME V DOE", "Acme v. Doe 0", "Acme v. Doe 1"]


def test_of_many_names_those_with_the_most_characters_in_common_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, rate = list[str](), case_names._rate

    def record(name: str, other: str) -> float:
        compared.append(other)
        return rate(name, other)

    monkeypatch.setattr(case_names, "_rate", record)
    monkeypatch.setattr(case_names, "MOST_COMPARED", 10)
    name = "abcde" * 20
    others = [f"edcba{'edcba' * 19}{'z' * number}" for number in range(1, 20)]
    assert find_similar_names(name, [*others, f"{name}f"]) == [f"{name}f"]
    assert compared == [f"{name}f", *others[:9]]
