"""The table of imports is read in a narrow terminal too."""

from __future__ import annotations

import io
from typing import Any

import pytest

from exhibit_ingest.catalog.import_table import print_imports

COUNTS = {"rows_seen": 123_456, "imported": 100_000, "unchanged": 0, "updated": 0, "rejected": 17, "warnings": 1_200}
ROW: dict[str, Any] = {
    "id": 12,
    "file_name": "a-production-of-the-second-volume.dat",
    "status": "completed_with_rejections",
    "phase": "import",
    "started_at": "2026-11-26T11:54:01.123456Z",
    **COUNTS,
}


class Terminal(io.StringIO):
    """An output that is a terminal."""

    def isatty(self) -> bool:
        return True


def print_at(width: int, **changes: Any) -> list[str]:
    """Return the lines that are printed in a terminal of this width, without the bold heading."""
    output = Terminal()
    print_imports([ROW | changes], output, width)
    return output.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_numbers_and_words_are_whole_at_any_width(width: int) -> None:
    lines = print_at(width)
    words = " ".join(lines).split()
    assert {"12", "completed", "rejections", "imported", "100,000", "rejected", "17"} <= set(words)
    assert ("2026-11-26 11:54" in " ".join(words)) == (width >= 80)
    assert max(len(line.rstrip()) for line in lines if not line.startswith("(")) <= width


def test_columns_without_room_are_named_those_with_zeros_first() -> None:
    note = "(A wider terminal has room for: {}. --json prints them too.)"
    assert print_at(100)[-1] == note.format("unchanged")
    assert print_at(100, unchanged=5)[-1] == note.format("updated")
    assert not print_at(140)[-1].startswith("(")


def test_the_counts_of_a_check_are_in_parentheses() -> None:
    printed = " ".join(print_at(140, phase="check"))
    assert "123,456" in printed
    assert "(100,000)" in printed
    assert "(Numbers in parentheses are from a check: nothing was imported.)" in printed
