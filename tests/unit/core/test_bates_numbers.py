"""Bates numbers as a prefix and a number."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from core.bates_numbers import BatesNumber, describe_change, parse_bates_number
from core.contracts.exhibit_queries import ExhibitQuery


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SMITH0000012", BatesNumber("SMITH", 12)),
        ("7", BatesNumber("", 7)),
        ("AB-1.0002", BatesNumber("AB-1.", 2)),
        ("A" + "9" * 18, BatesNumber("A", 10**18 - 1)),
        ("A\n1", BatesNumber("A\n", 1)),
    ],
)
def test_the_last_digits_are_the_number(text: str, expected: BatesNumber) -> None:
    assert parse_bates_number(text) == expected


@pytest.mark.parametrize("text", ["", "ABC", "ABC1x", "A1 ", "A" + "9" * 19, "A٣", "A٣1", "1\n"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="ends in 1 to 18 digits"):
        parse_bates_number(text)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"batesFrom": "A1", "batesTo": "B2"}, "batesTo must"),
        ({"batesFrom": "A10", "batesTo": "A009"}, "batesTo must"),
        ({"batesTo": "A"}, "ends in 1 to 18 digits"),
        ({"dateFrom": "2019-12-31", "dateTo": "2019-12-30"}, "dateTo must"),
        ({"dateFrom": "20191231"}, "send a day"),
        ({"dateFrom": "2019-02-30"}, "send a day"),
        ({"dateTo": "0999-12-31"}, "send a day"),
        ({"dateTo": "2019-12-31T00:00:00"}, "send a day"),
        ({"hasNative": "yes"}, "send true or false"),
        ({"importId": "+1"}, "digits only"),
        ({"title": " "}, "1 to 10 words"),
        ({"title": "a " * 11}, "1 to 10 words"),
    ],
)
def test_a_filter_in_another_form_is_refused(filters: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ExhibitQuery.model_validate({"case": "c", **filters})


def test_the_message_about_another_range_shows_both_and_fits() -> None:
    message = describe_change(("A1", "A3"), ("B1", None))
    assert message.startswith("The document had A1 to A3 and has B1 now. ")
    assert describe_change((None, "A3"), (None, None)).startswith(
        "The document had an end A3 without a begin and has no"
    )
    assert len(describe_change(("A" * 255, "B" * 255), ("C" * 255, "D" * 255))) <= 1_000
    assert "A" * 200 + "[cut]" in describe_change(("A" * 201, None), ("C", None))
