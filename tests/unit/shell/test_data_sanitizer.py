"""Text is cut where a reader sees a boundary, measured as the column measures it, and every cut is reported."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInputError
from shell.db.column_limits import ColumnLimit
from shell.utils.data_sanitizer import coerce_text, remove_four_byte_characters, utf8_length
from shell.utils.key_validation import key_error, validate_key

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
FLAGS = "🇩🇪🇫🇷"
ACCENT = "e\u0301"
ZALGO = "Z" + "\u0301\u0323\u0335" * 40


def varchar(characters: int, charset: str = "utf8mb4") -> ColumnLimit:
    return ColumnLimit(characters, None, charset, f"{charset}_bin")


def text_column(octets: int, charset: str = "utf8mb4") -> ColumnLimit:
    return ColumnLimit(None, octets, charset, f"{charset}_bin")


def coerced(value: str, limit: ColumnLimit) -> str:
    return coerce_text(value, limit)[0]


def test_varchar_counts_characters_and_text_counts_bytes() -> None:
    assert coerced("éééé", varchar(4)) == "éééé"
    assert coerced("éééé", text_column(4)) == "éé"
    assert coerced("日本語", varchar(2)) == "日本"
    assert coerced("日本語", text_column(8)) == "日本"
    # The negative control: cut to as many characters as the column has bytes, it would overflow.
    value = "é" * 70_000
    assert utf8_length(value[:65_535]) > 65_535
    assert utf8_length(coerced(value, text_column(65_535))) == 65_534


def test_cutting_code_points_would_split_a_family() -> None:
    """The negative control: a slice leaves a smaller family, that is not in the text."""
    assert ("x" + FAMILY)[:4] == "x👨\u200d👩"
    assert coerced("x" + FAMILY, varchar(4)) == "x"


CHANGED: list[tuple[str, ColumnLimit, str, list[tuple[str, int]]]] = [
    ("a😀b𝒳c日", varchar(50), "a😀b𝒳c日", []),
    ("a😀b𝒳c日", varchar(50, "utf8mb3"), "abc日", [("CHARACTERS_REMOVED", 6)]),
    # What fits once it was cleaned is not cut.
    ("abc😀", varchar(3, "utf8mb3"), "abc", [("CHARACTERS_REMOVED", 3)]),
    ("😀abcdef", varchar(3, "utf8mb3"), "abc", [("CHARACTERS_REMOVED", 6), ("VALUE_TRUNCATED", 3)]),
]


@pytest.mark.parametrize(("value", "limit", "clean", "expected_changes"), CHANGED)
def test_every_change_is_reported(
    value: str, limit: ColumnLimit, clean: str, expected_changes: list[tuple[str, int]]
) -> None:
    found, changes = coerce_text(value, limit)
    assert (found, [(change.code, change.stored_bytes) for change in changes]) == (clean, expected_changes)


def test_messages_hold_lengths_and_not_the_value() -> None:
    _, changes = coerce_text("secret " * 9 + "😀😀", varchar(5, "utf8mb3"))
    assert [change.message.partition(" characters ")[0] for change in changes] == ["2", "The value of 63"]
    assert not any("secret" in change.message for change in changes)


LIMITS = st.builds(varchar, st.integers(1, 12), st.sampled_from(["utf8mb3", "utf8mb4"])) | st.builds(
    text_column, st.integers(4, 30), st.sampled_from(["utf8mb3", "utf8mb4"])
)
PIECES = st.sampled_from(
    [FAMILY, FLAGS, ACCENT, ZALGO, "👍🏽", "각", "नि", "a", "é", "日", "😀", "\u200d", "\u0301", "\r\n", " "]
)
VALUES = st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=20)


@given(VALUES, LIMITS)
def test_what_comes_back_fits_and_is_as_long_a_beginning_of_the_value_as_can_be(value: str, limit: ColumnLimit) -> None:
    found, changes = coerce_text(value, limit)
    cleaned = value if limit.takes_four_bytes else remove_four_byte_characters(value)[0]
    assert cleaned.startswith(found)
    assert len(found) <= (limit.characters or len(found))
    assert utf8_length(found) <= (limit.bytes or utf8_length(found))
    assert limit.takes_four_bytes or all(ord(character) < 0x10000 for character in found)
    assert bool(changes) == (found != value)
    clusters, kept = regex.findall(r"\X", cleaned), regex.findall(r"\X", found)
    if kept != clusters[: len(kept)]:
        # What a reader sees as one is split only where it alone is longer than the column.
        assert clusters[0].startswith(found)
        clusters, kept = list(clusters[0]), list(found)
    if len(kept) < len(clusters):
        longer = found + clusters[len(kept)]
        fits = len(longer) <= limit.characters if limit.characters else utf8_length(longer) <= (limit.bytes or 0)
        assert not fits


def test_a_key_is_refused_and_never_changed() -> None:
    too_long, wide = key_error("x" * 256, varchar(255)), key_error("A😀", varchar(255, "utf8mb3"))
    assert too_long is not None
    assert wide is not None
    assert (too_long[0], wide[0]) == ("KEY_TOO_LONG", "KEY_NOT_STORABLE")
    assert "256" in too_long[1]
    assert "utf8mb3" in wide[1]


def test_a_key_that_fits_is_taken_as_it_is() -> None:
    assert key_error("é" * 255, varchar(255, "utf8mb3")) is None
    assert key_error("😀" * 255, varchar(255)) is None
    validate_key("A", varchar(1))
    with pytest.raises(InvalidInputError, match="KEY_TOO_LONG"):
        validate_key("AB", varchar(1))
