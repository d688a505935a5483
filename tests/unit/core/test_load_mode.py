"""The options of an overlay: their defaults, what they exclude, and how they are stored."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from core.errors import FileRefusedError
from core.load_mode import (
    OVERLAY_OPTIONS,
    Blanks,
    LoadMode,
    Mode,
    MultiValues,
    OverlayKey,
    check_overlay_key,
    parse_load_mode,
)

OVERLAY = LoadMode(Mode.OVERLAY)
GOOD: list[tuple[dict[str, Any], LoadMode]] = [
    ({}, LoadMode()),
    ({"mode": None, "blanks": None}, LoadMode()),
    ({"mode": "append"}, LoadMode()),
    ({"mode": "overlay"}, OVERLAY),
    ({"mode": "append_overlay"}, LoadMode(Mode.APPEND_OVERLAY)),
    ({"mode": "overlay", "overlay_key": "bates_begin"}, LoadMode(Mode.OVERLAY, OverlayKey.BATES_BEGIN)),
    ({"mode": "append_overlay", "overlay_key": "control_number"}, LoadMode(Mode.APPEND_OVERLAY)),
    ({"mode": "overlay", "blanks": "clear"}, LoadMode(Mode.OVERLAY, blanks=Blanks.CLEAR)),
    ({"mode": "overlay", "multi_values": "replace"}, LoadMode(Mode.OVERLAY, multi_values=MultiValues.REPLACE)),
    ({"mode": "overlay", "blanks": "keep", "multi_values": "merge"}, OVERLAY),
]
BAD: list[tuple[dict[str, Any], str]] = [
    *(({"mode": value}, "append, overlay, append_overlay") for value in ("Overlay", "", "both", 1, ["overlay"], True)),
    *(({"mode": "overlay", "overlay_key": value}, "control_number, bates_begin") for value in ("id", "", 5)),
    *(({"mode": "overlay", "blanks": value}, "keep, clear") for value in ("delete", "", False)),
    *(({"mode": "overlay", "multi_values": value}, "merge, replace") for value in ("add", "", 0)),
    ({"blanks": "clear"}, "'blanks' is only for an overlay"),
    ({"mode": "append", "multi_values": "merge"}, "'multi_values' is only for an overlay"),
    ({"overlay_key": "control_number"}, "'overlay_key' is only for an overlay"),
    ({"mode": "append_overlay", "overlay_key": "bates_begin"}, "a new document needs a control number"),
]


@pytest.mark.parametrize(("options", "expected"), GOOD)
def test_options_that_are_accepted(options: dict[str, Any], expected: LoadMode) -> None:
    assert parse_load_mode(options) == expected


@pytest.mark.parametrize(("options", "message"), BAD)
def test_options_that_are_refused_name_what_is_possible(options: dict[str, Any], message: str) -> None:
    with pytest.raises(FileRefusedError, match="Option") as refused:
        parse_load_mode(options)
    assert message in str(refused.value)


def _list_modes() -> list[LoadMode]:
    every = product(Mode, OverlayKey, Blanks, MultiValues)
    return [LoadMode(*each) for each in every if Mode.APPEND not in each and each[1] is OverlayKey.CONTROL_NUMBER]


@pytest.mark.parametrize("mode", [LoadMode(), LoadMode(Mode.OVERLAY, OverlayKey.BATES_BEGIN), *_list_modes()])
def test_a_mode_is_the_same_after_it_was_stored_or_said_again(mode: LoadMode) -> None:
    assert parse_load_mode(mode.as_options()) == mode
    assert LoadMode.from_stored(mode.as_options()) == mode
    assert set(mode.as_options()) == (set() if mode == LoadMode() else {"mode", *OVERLAY_OPTIONS})


@pytest.mark.parametrize(
    ("mode", "overlays", "creates"),
    [(Mode.APPEND, False, True), (Mode.OVERLAY, True, False), (Mode.APPEND_OVERLAY, True, True)],
)
def test_a_mode_changes_or_creates_or_does_both(mode: Mode, overlays: bool, creates: bool) -> None:
    assert (LoadMode(mode).is_overlay, LoadMode(mode).creates) == (overlays, creates)


def test_a_column_of_control_numbers_excludes_the_key_of_bates_numbers() -> None:
    names, by_bates = ("Doc ID", "Bates Begin"), LoadMode(Mode.OVERLAY, OverlayKey.BATES_BEGIN)
    with pytest.raises(FileRefusedError, match="'Doc ID'"):
        check_overlay_key(by_bates, ("control_number", "bates_begin"), names)
    check_overlay_key(by_bates, ("property", "bates_begin"), names)
    check_overlay_key(OVERLAY, ("control_number", "bates_begin"), names)
