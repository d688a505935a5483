"""Cursors come back as they were given out, and nothing else is taken for one."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInputError
from core.pagination import Order, Page, build_page, decode_cursor, encode_cursor, open_window, paginate

NUMBERS = st.integers(min_value=0, max_value=2**63 - 1)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=50)


def forged(value: Any) -> str:
    """A text that is encoded as a cursor is, whatever it holds."""
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()


@given(st.tuples(NUMBERS, TEXTS, NUMBERS))
def test_a_cursor_comes_back_as_it_was_given_out_and_needs_no_quoting_in_an_address(
    values: tuple[int, str, int],
) -> None:
    cursor = encode_cursor(*values)
    assert decode_cursor(cursor, (int, str, int)) == values
    assert re.fullmatch("[A-Za-z0-9_-]+", cursor)


@given(st.text())
def test_what_is_no_cursor_is_an_invalid_input_and_nothing_worse(text: str) -> None:
    with pytest.raises(InvalidInputError, match="`next` from the previous page"):
        decode_cursor(text, (int, int, int, str))


@pytest.mark.parametrize(
    "value",
    [[], [1, 2], ["1"], [True], [None], [1.0], [-1], [2**63], [10**400], [[1]], {"0": 1}, 1, "1", None, float("nan")],
)
def test_a_cursor_of_other_values_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError):
        decode_cursor(forged(value), (int,))


TEXTS_OF_NO_LIST = ["[" * 5_000, "9" * 5_000, '["\\ud800"]', "[1] ", '["a"]x', "\xff"]
GIVEN_OUT = encode_cursor(7, "A-1")


@pytest.mark.parametrize(
    ("cursor", "kinds"),
    [
        *((base64.urlsafe_b64encode(each.encode("latin-1")).decode().rstrip("="), (str,)) for each in TEXTS_OF_NO_LIST),
        # Changed on their way.
        *((each, (int, str)) for each in (f"{GIVEN_OUT}=", f" {GIVEN_OUT}", f"{GIVEN_OUT[:4]}\n{GIVEN_OUT[4:]}")),
    ],
    ids=range(9),
)
def test_what_was_not_given_out_is_refused(cursor: str, kinds: tuple[type[int | str], ...]) -> None:
    with pytest.raises(InvalidInputError):
        decode_cursor(cursor, kinds)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_page_ends_the_list_unless_there_is_one_row_too_many(count: int) -> None:
    page, following = paginate(["a", "b", "c"][:count], 2, lambda row: (row, 7))
    assert page == ["a", "b"][:count]
    assert following == (encode_cursor("b", 7) if count == 3 else None)


@dataclass(frozen=True)
class PageOf:
    """A page that a client asks for."""

    limit: int
    after: str | None = None
    before: str | None = None
    order: Order = "asc"


def read(keys: list[int], requested: PageOf) -> Page[int]:
    """The page of a list of keys, read as a database would."""
    window = open_window(requested, (int,))
    rows = sorted(keys, reverse=window.reads_down)
    if window.start is not None:
        start = window.start[0]
        rows = [key for key in rows if (key < start if window.reads_down else key > start)]
    return build_page(rows[: window.limit + 1], window, lambda key: (key,))


@given(st.sets(st.integers(0, 50)), st.integers(1, 7), st.sampled_from(["asc", "desc"]))
def test_a_list_is_read_to_its_end_and_back(keys: set[int], limit: int, order: Order) -> None:
    page = read([*keys], PageOf(limit, order=order))
    assert page.prev is None
    there = [list(page.items)]
    while page.next:
        page = read([*keys], PageOf(limit, after=page.next, order=order))
        there.append(list(page.items))
    back = [list(page.items)]
    while page.prev:
        page = read([*keys], PageOf(limit, before=page.prev, order=order))
        back.append(list(page.items))
        assert page.next is not None
    assert [key for items in there for key in items] == sorted(keys, reverse=order == "desc")
    assert back == there[::-1]
