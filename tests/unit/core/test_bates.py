"""Bates numbers: how they are written, how many there are, and what a page count is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInputError, SequenceExhaustedError
from core.productions.bates import MAX_DIGITS, PREFIX, BatesFormat, NumberRange, parse_page_count, split_numbers

# Few characters and digits: numbers of different prefixes come close to each other.
FORMATS = st.builds(
    BatesFormat, st.text("A1-", min_size=1, max_size=4).filter(re.compile(PREFIX).match), st.integers(1, 4)
)


def test_a_number_has_all_its_digits() -> None:
    assert BatesFormat("ACME", 7).format_number(12) == "ACME0000012"
    assert BatesFormat("A-", 1).format_number(9) == "A-9"
    assert BatesFormat("A", MAX_DIGITS).last == 999_999_999_999


@given(FORMATS, FORMATS, st.data())
def test_no_two_numbers_are_written_alike_and_their_order_is_that_of_their_texts(
    one: BatesFormat, other: BatesFormat, data: st.DataObject
) -> None:
    first, second = data.draw(st.integers(1, one.last)), data.draw(st.integers(1, other.last))
    assert (one.format_number(first) == other.format_number(second)) == ((one, first) == (other, second))
    third = data.draw(st.integers(1, one.last))
    assert (first < third) == (one.format_number(first) < one.format_number(third))


def test_the_last_number_is_given_out_and_none_after_it() -> None:
    form = BatesFormat("A", 2)
    assert form.take(90, 10) == NumberRange(90, 99)
    for next_number, count, left in ((90, 11, 10), (99, 2, 1), (100, 1, 0), (5_000, 3, 0)):
        with pytest.raises(SequenceExhaustedError) as error:
            form.take(next_number, count)
        assert (error.value.requested, error.value.available) == (count, left)


@given(st.integers(1, 1000), st.lists(st.integers(1, 50)))
def test_ranges_follow_each_other_without_gaps(first: int, sizes: list[int]) -> None:
    found = list(split_numbers(first, sizes))
    numbers = [number for each in found for number in range(each.first, each.last + 1)]
    assert numbers == list(range(first, first + sum(sizes)))
    assert [each.last - each.first + 1 for each in found] == sizes


NAMES = ("Pages", "Page Count", "PGCOUNT", "PAGE_COUNT", "Num Pages", "number of pages")


@pytest.mark.parametrize(
    ("properties", "count"),
    [
        *(({"Author": "7", name: " 12 "}, 12) for name in NAMES),
        *(({"Pages": text}, count) for text, count in (("1", 1), ("0012", 12), ("00100000", 100_000))),
        *((said, 1) for said in ({}, {"Pages": ""}, {"Pages": "  "}, {"Pages": None}, {"Page": "3"})),
    ],
)
def test_a_page_count_is_what_a_column_of_its_name_says_and_else_one(
    properties: dict[str, str | None], count: int
) -> None:
    assert parse_page_count(7, properties) == count


@pytest.mark.parametrize(
    "text", ["0", "00", "-1", "1.5", "1,000", "twelve", "100001", "1000000", "12 p", "\u0661", "1\n2"]
)
def test_rubbish_names_the_exhibit_and_not_the_rubbish(text: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        parse_page_count(7, {"Pages": text})
    assert "exhibit 7" in str(error.value)
    assert text not in str(error.value).replace("1 to 100000", "").replace("exhibit 7", "")
