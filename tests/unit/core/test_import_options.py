"""Options are checked before a row is written, and a wrong one is named with what it takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FileRefusedError
from core.load_file.field_mapping import FIELDS
from core.load_file.options import NO_CHARACTER, ImportOptions, parse_options

GOOD: list[tuple[dict[str, Any], ImportOptions]] = [
    ({}, ImportOptions()),
    ({"delimiter": None, "encoding": None}, ImportOptions()),
    ({"user_id": "u-1"}, ImportOptions(user_id="u-1")),
    ({"user_id": "x" * 255}, ImportOptions(user_id="x" * 255)),
    ({"delimiter": "255"}, ImportOptions(delimiter="ÿ")),
    ({"encoding": "Windows-1252"}, ImportOptions(encoding="cp1252")),
    ({"delimiter": "20"}, ImportOptions(delimiter="\x14")),
    ({"delimiter": "9"}, ImportOptions(delimiter="\t")),
    ({"delimiter": "Concordance"}, ImportOptions(delimiter="\x14")),
    ({"delimiter": "\\t"}, ImportOptions(delimiter="\t")),
    ({"delimiter": "|"}, ImportOptions(delimiter="|")),
    ({"qualifier": "254"}, ImportOptions(qualifier="þ")),
    ({"qualifier": "None"}, ImportOptions(qualifier=NO_CHARACTER)),
    ({"qualifier": "quote"}, ImportOptions(qualifier='"')),
    ({"newline": "®"}, ImportOptions(newline="®")),
    ({"newline": "none"}, ImportOptions(newline="")),
    ({"header": False}, ImportOptions(header=False)),
    ({"header": False, "cells": 10_000}, ImportOptions(header=False, cells=10_000)),
    ({"line_ends": "cr", "cells": None}, ImportOptions(line_ends="cr")),
    ({"columns": {"1": "title", "Note": "property"}}, ImportOptions(columns={"1": "title", "Note": "property"})),
    (
        {"columns": {"A": "tags", "B": "tags", "C": "property", "D": "property"}},
        ImportOptions(columns={"A": "tags", "B": "tags", "C": "property", "D": "property"}),
    ),
    (
        {"header": False, "columns": {"Column 2": "title"}},
        ImportOptions(header=False, columns={"Column 2": "title"}),
    ),
    ({"qualifier": "none", "newline": "none"}, ImportOptions(qualifier=NO_CHARACTER, newline=NO_CHARACTER)),
    ({"date_order": "DMY"}, ImportOptions(date_order="DMY")),
    ({"date_order": {"date_sent": "DMY", "date_created": None}}, ImportOptions(date_order={"date_sent": "DMY"})),
    ({"time_zone": "Europe/Berlin"}, ImportOptions(time_zone="Europe/Berlin")),
]
BAD_DELIMITERS = ("", ",,", "none", "\n", "13", "0x14", "256", "\0", " ", "\ud800", 44, "53")
BAD_FIELDS = ("subject", "ignore", None, "family_begin", ["title"])
BAD: list[tuple[object, str]] = [
    *(([], "JSON object"), (None, "JSON object"), ("delimiter", "JSON object")),
    *(({"delimiter": value}, "'delimiter'") for value in BAD_DELIMITERS),
    *(({"columns": {"Title": value}}, "control_number") for value in BAD_FIELDS),
    *(({"columns": value}, "'columns'") for value in (["title"], None)),
    *(({"header": value}, "'header'") for value in ("no", None, 0)),
    *(({"header": False, "cells": value}, "'cells'") for value in (0, -1, 10_001, 1.0, "3", True)),
    *(({"cells": 3}, "'cells'"), ({"header": True, "cells": 3}, "only with")),
    *(({"line_ends": value}, "'line_ends'") for value in ("CR", "crlf", "\r", 13)),
    *(({"date_order": value}, "'date_order'") for value in ("dmy", 1, {"date_sent": "dmy"})),
    *(({"date_order": {value: "DMY"}}, "fields of dates") for value in ("title", "date_sold", 1)),
    *(({"time_zone": value}, "America/New_York") for value in ("new york", "America/new_york", "??", "../New_York")),
    *(({"time_zone": value}, "'time_zone'") for value in ("EDT", "Factory", "", 5, "posixrules", "/etc/localtime")),
    *(({"user_id": value}, "'user_id'") for value in ("x" * 256, 7)),
    *(({"delimeter": ","}, "'delimeter'"), ({"qualifier": "''"}, "'qualifier'"), ({"newline": "\\n"}, "'newline'")),
    *(({"delimiter": "comma", name: ","}, f"'{name}'") for name in ("qualifier", "newline")),
    ({"qualifier": "quote", "newline": "34"}, "'newline'"),
    ({"columns": {"A": "title", "2": "title"}}, "'columns'"),
    ({"header": False, "columns": {"1": "control_number", "Title": "title"}}, "'Title'"),
    ({"mode": "overlay", "overlay_key": "bates_begin", "columns": {"A": "control_number"}}, "control_number"),
    *(({"encoding": "utf-7"}, "utf-8"), ({"encoding": ["utf-8"]}, "'encoding'")),
]


@pytest.mark.parametrize(("given_options", "expected"), GOOD, ids=[str(given) for given, _ in GOOD])
def test_options_are_understood(given_options: dict[str, Any], expected: ImportOptions) -> None:
    assert parse_options(given_options) == expected


@pytest.mark.parametrize(("given_options", "named"), BAD, ids=[ascii(given)[:40] for given, _ in BAD])
def test_a_wrong_option_is_refused_and_named(given_options: object, named: str) -> None:
    with pytest.raises(FileRefusedError) as caught:
        parse_options(given_options)
    assert caught.value.code == "BAD_OPTIONS"
    assert named in str(caught.value)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
OPTIONS = st.dictionaries(st.sampled_from([*ImportOptions.__dataclass_fields__, "x"]), ANYTHING, max_size=4)


@given(OPTIONS)
def test_any_json_is_understood_or_refused_with_a_reason(given_options: dict[str, Any]) -> None:
    code = "understood"
    try:
        options = parse_options(given_options)
    except FileRefusedError as error:
        code = error.code
    if code == "understood":
        assert set(options.columns.values()) <= FIELDS
        assert options.delimiter is None or len(options.delimiter) == 1
    assert code in ("understood", "BAD_OPTIONS")
