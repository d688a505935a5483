"""The values of cells of custodians and tags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.load_file.list_values import ListSigns
from core.load_file.options import parse_options

QUOTED = {
    '"Lee; Ann"; Ray, Bob': ["Lee; Ann", "Ray, Bob"],
    'Ray;"Lee; Ann" ': ["Ray", "Lee; Ann"],
    '"a ""b"" c";d': ['a "b" c', "d"],
    '"a;b': ['"a', "b"],
    '5" disk; 6" disk': ['5" disk', '6" disk'],
    '"x" y; z': ['"x" y', "z"],
    '"x";': ["x", ""],
    "": [""],
}


@pytest.mark.parametrize("text", QUOTED)
def test_a_quoted_value_stays_whole_if_the_separator_is_stated(text: str) -> None:
    signs = parse_options({"multi_value_separator": "semicolon"}).lists
    assert [*signs.split(text, has_levels=False)] == QUOTED[text]


@given(st.text(st.sampled_from('ab;"| \\/\t'), max_size=12))
def test_without_options_cells_are_split_as_before(text: str) -> None:
    assert [*ListSigns().split(text, has_levels=True)] == [part.strip(" \t\r\n\x0b\x0c") for part in text.split(";")]


@given(st.lists(st.text(st.sampled_from('ab;| "'), min_size=1, max_size=6), min_size=1, max_size=4))
def test_values_that_are_quoted_come_back(values: list[str]) -> None:
    cell = "; ".join('"' + value.replace('"', '""') + '"' for value in values)
    assert [*ListSigns(has_quotes=True).split(cell, has_levels=False)] == [value.strip() for value in values]


def test_a_tag_is_named_by_its_path_whatever_separates_its_levels() -> None:
    signs = parse_options({"multi_value_separator": "|", "nested_separator": "/"}).lists
    assert [*signs.split("Hot/ Really Hot|Later", has_levels=True)] == ["Hot\\Really Hot", "Later"]
    assert [*signs.split("IT/Legal", has_levels=False)] == ["IT/Legal"]
    assert parse_options({**signs.as_options()}).lists == signs


@pytest.mark.parametrize("given", [{"nested_separator": ";"}, {"multi_value_separator": "ab"}])
def test_signs_that_contradict_each_other_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(FileRefusedError) as refused:
        parse_options(given)
    assert refused.value.code is FileFailure.BAD_OPTIONS
