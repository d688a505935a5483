"""Properties come back as they were stored; what does not fit is dropped whole, largest first, with an account of it.

Every test runs with both values of PROPERTIES_FORMAT.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice, permutations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from shell.db.column_limits import ColumnLimit
from shell.settings import properties_format
from shell.utils import document_properties
from shell.utils.data_sanitizer import utf8_length
from shell.utils.document_properties import (
    TEXT_COLUMN_BYTES,
    Properties,
    _normalize_encoding,
    _sanitize_value,
    _truncate_to_text_column,
    coerce_properties,
    parse_properties,
    remove_emojis,
    serialize_properties,
)

UNICODE = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SOME = st.dictionaries(UNICODE, st.none() | UNICODE, max_size=5)


@pytest.fixture(scope="module", params=["json", "yaml"], autouse=True)
def written_as(request: pytest.FixtureRequest) -> Iterator[str]:
    """The value of PROPERTIES_FORMAT."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROPERTIES_FORMAT", request.param)
        properties_format.cache_clear()
        yield request.param
    properties_format.cache_clear()


def column(octets: int = TEXT_COLUMN_BYTES, charset: str = "utf8mb4") -> ColumnLimit:
    return ColumnLimit(None, octets, charset, f"{charset}_general_ci")


def coerced(properties: Properties, limit: ColumnLimit) -> dict[str, str | None]:
    stored, _ = coerce_properties(properties, limit)
    return parse_properties(stored or serialize_properties({}))


@given(SOME)
def test_what_is_stored_is_read_back_and_is_json_or_a_yaml_scalar_that_holds_it(
    written_as: str, properties: dict[str, str | None]
) -> None:
    stored = serialize_properties(properties)
    assert parse_properties(stored) == properties
    document = yaml.safe_load(stored) if written_as == "yaml" else stored
    assert isinstance(document, str)
    assert json.loads(document) == properties


def test_characters_that_yaml_treats_specially_come_back() -> None:
    for text in ("\x85", "\u2028", "\ufeff", "\x7f", "\x00", "\ufffe", "'", '"', "\\", ": ", "#", "\n...\n"):
        for value in (text, f"a{text}", f"{text}b", f"a {text} b" * 40):
            assert parse_properties(serialize_properties({"x": value, value: "y"})) == {"x": value, value: "y"}


def test_what_was_written_in_the_other_format_is_read(written_as: str) -> None:
    document = json.dumps({"a": "it's", "b": None})
    assert parse_properties(document) == parse_properties(yaml.safe_dump(document)) == {"a": "it's", "b": None}


def test_characters_are_stored_as_themselves() -> None:
    assert "café 日本" in serialize_properties({"x": "café 日本"})


def test_no_properties_are_nothing() -> None:
    assert coerce_properties({}, column()) == (None, [])


def test_what_some_exporters_write_for_nothing_becomes_null() -> None:
    assert coerced({"a": "<nil>", "b": "<NIL>", "c": "x<nil>"}, column()) == {"a": None, "b": "<NIL>", "c": "x<nil>"}
    assert (_sanitize_value("<nil>"), _sanitize_value("x"), _sanitize_value(None)) == (None, "x", None)


def test_lone_surrogates_are_taken_out_for_the_driver_would_refuse_them() -> None:
    assert _normalize_encoding("a\udce9b") == "ab"
    assert coerced({"a": "x\ud800y"}, column()) == {"a": "xy"}
    assert (_normalize_encoding("é"), _normalize_encoding(None)) == ("é", None)


def test_the_largest_in_bytes_are_dropped_first_and_of_equal_ones_the_last_by_name() -> None:
    sizes = {"b": 20_000, "small": 100, "a": 20_000, "largest": 30_000, "empty": 0}
    properties: Properties = {name: "x" * size for name, size in sizes.items()} | {"c": "é" * 10_000}
    for more, gone in (({}, ["largest"]), ({"d": "x" * 20_000}, ["largest", "d"])):
        for arranged in islice(permutations({**properties, **more}.items()), 0, 5_000, 250):
            stored, changes = coerce_properties(dict(arranged), column())
            assert [change.name for change in changes] == gone
            assert parse_properties(stored or "") == {n: v for n, v in dict(arranged).items() if n not in gone}
    assert (changes[0].code, changes[0].stored_bytes) == ("PROPERTY_DROPPED", 0)
    assert "30000 bytes" in changes[0].message


@pytest.mark.parametrize("filling", ["x", "é", "'", '"', "\\", "\n", "\u2028", "x'\"\\é "], ids=ascii)
@pytest.mark.parametrize("count", [10, 300])
def test_no_entry_is_dropped_that_would_have_fitted(filling: str, count: int) -> None:
    properties = {f"column {number:04}": filling * (2 * TEXT_COLUMN_BYTES // count) for number in range(count)}
    stored, changes = coerce_properties(properties, column())
    dropped = [change.name for change in changes]
    assert len(parse_properties(stored or "")) == count - len(dropped)
    with_it = {name: value for name, value in properties.items() if name not in dropped[:-1]}
    assert utf8_length(serialize_properties(with_it)) > TEXT_COLUMN_BYTES >= utf8_length(stored or "")


def test_what_fits_is_found_without_writing_all_of_it_for_every_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def serialize(properties: Properties) -> str:
        written.append(len(properties))
        return serialize_properties(properties)

    monkeypatch.setattr(document_properties, "serialize_properties", serialize)
    properties = {f"column {number:04}": "x" * 400 for number in range(5_000)}
    _, changes = coerce_properties(properties, column())
    assert [change.name for change in changes] == sorted(properties, reverse=True)[: len(changes)]
    assert len(written) == 2


def test_a_value_that_just_fits_is_kept_and_one_byte_more_is_not() -> None:
    room = utf8_length(serialize_properties({"a": "x" * 1000}))
    assert coerce_properties({"a": "x" * 1000}, column(room))[1] == []
    assert len(coerce_properties({"a": "x" * 1001}, column(room))[1]) == 1


def test_bytes_are_counted_on_the_stored_form(written_as: str) -> None:
    """Negative control: to count the JSON would overflow the column by what YAML doubles."""
    properties = {"a": "'" * 40_000, "b": "small"}
    assert utf8_length(json.dumps(properties, ensure_ascii=False)) < TEXT_COLUMN_BYTES
    stored, changes = coerce_properties(properties, column())
    assert utf8_length(stored or "") <= TEXT_COLUMN_BYTES
    assert [change.name for change in changes] == (["a"] if written_as == "yaml" else [])


@given(SOME, st.integers(20, 120), st.sampled_from(["utf8mb3", "utf8mb4"]))
def test_what_comes_back_fits_and_every_change_is_reported(
    properties: dict[str, str | None], room: int, charset: str
) -> None:
    stored, changes = coerce_properties(properties, column(room, charset))
    kept = parse_properties(stored) if stored else {}
    assert utf8_length(stored or "") <= room
    dropped = [change.name for change in changes if change.code == "PROPERTY_DROPPED"]
    assert len(kept) + len(dropped) == len(properties)
    assert charset == "utf8mb4" or not any(ord(c) > 0xFFFF for c in (stored or ""))
    changed = {change.name for change in changes if change.code == "CHARACTERS_REMOVED"}
    wide = {name for name, value in properties.items() if remove_emojis(value or "") != (value or "")}
    assert changed == (wide if charset == "utf8mb3" else set())


def test_wide_characters_are_removed_where_the_column_lacks_them_and_kept_where_not() -> None:
    properties = {"a": "x😀y", "b": "日"}
    assert coerced(properties, column()) == properties
    stored, changes = coerce_properties(properties, column(charset="utf8mb3"))
    assert parse_properties(stored or "") == {"a": "xy", "b": "日"}
    assert [(change.code, change.name, change.stored_bytes) for change in changes] == [("CHARACTERS_REMOVED", "a", 2)]


def test_a_column_whose_name_loses_an_emoji_hides_no_other() -> None:
    for arranged in permutations([("Note", "1"), ("Note😀", "2"), ("Note🎉", "3")]):
        found = coerced(dict(arranged), column(charset="utf8mb3"))
        assert found["Note"] == "1"
        assert sorted(map(str, found.values())) == ["1", "2", "3"]


def test_only_what_is_dropped_is_taken_out_of_a_text_column() -> None:
    properties: dict[str, str | None] = {"a": "x" * 70_000, "b": "y", "c": None}
    assert _truncate_to_text_column(properties) == {"b": "y", "c": None}
    assert len(properties) == 3
    assert _truncate_to_text_column({"b": "y"}) == {"b": "y"}


def test_emojis_are_what_utf8mb3_cannot_hold() -> None:
    assert remove_emojis("a😀b𠮷é日\u200d") == "abé日\u200d"
