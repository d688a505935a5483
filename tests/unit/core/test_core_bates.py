"""Bates numbers: how they are written, how many there are, and what a page count is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInputError, SequenceExhaustedError
from core.productions.bates import MAX_DIGITS, PREFIX, BatesFormat, NumberRange, parse_page_count, split_numbers

DIGITS = st.integers(1, MAX_DIGITS)
PREFIXES = st.from_regex(re.compile(PREFIX), fullmatch=True).filter(lambda prefix: len(prefix) <= 64)


def test_a_number_has_all_its_digits() -> None:
    assert BatesFormat("ACME", 7).format_number(12) == "ACME0000012"
    assert BatesFormat("A-", 1).format_number(9) == "A-9"
    assert BatesFormat("A", MAX_DIGITS).last == 999_999_999_999


@given(PREFIXES, DIGITS, PREFIXES, DIGITS, st.data())
def test_no_two_numbers_are_written_alike(
    prefix: str, digits: int, other_prefix: str, other_digits: int, data: st.DataObject
) -> None:
    one, other = BatesFormat(prefix, digits), BatesFormat(other_prefix, other_digits)
    first, second = data.draw(st.integers(1, one.last)), data.draw(st.integers(1, other.last))
    same = (prefix, first) == (other_prefix, second) and digits == other_digits
    assert (one.format_number(first) == other.format_number(second)) == same


@given(DIGITS, st.data())
def test_numbers_are_in_the_order_of_their_texts(digits: int, data: st.DataObject) -> None:
    form = BatesFormat("ACME", digits)
    first, second = (data.draw(st.integers(1, form.last)) for _ in range(2))
    assert (first < second) == (form.format_number(first) < form.format_number(second))


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


@pytest.mark.parametrize("column", ["Pages", "Page Count", "PGCOUNT", "PAGE_COUNT", "Num Pages", "number of pages"])
def test_a_page_count_goes_by_many_names(column: str) -> None:
    assert parse_page_count(7, {"Author": "7", column: " 12 "}) == 12


@pytest.mark.parametrize("said", [{}, {"Pages": ""}, {"Pages": "  "}, {"Pages": None}, {"Page": "3"}])
def test_a_document_of_which_nothing_is_said_takes_one_number(said: dict[str, str | None]) -> None:
    assert parse_page_count(7, said) == 1


@pytest.mark.parametrize(("text", "count"), [("1", 1), ("0012", 12), ("100000", 100_000), ("00100000", 100_000)])
def test_a_page_count_may_have_zeros_before_it(text: str, count: int) -> None:
    assert parse_page_count(7, {"Pages": text}) == count


@pytest.mark.parametrize(
    "text", ["0", "00", "-1", "1.5", "1,000", "twelve", "100001", "1000000", "12 p", "\u0661", "1\n2"]
)
def test_rubbish_names_the_exhibit_and_not_the_rubbish(text: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        parse_page_count(7, {"Pages": text})
    assert "exhibit 7" in str(error.value)
    assert text not in str(error.value).replace("1 to 100000", "").replace("exhibit 7", "")
