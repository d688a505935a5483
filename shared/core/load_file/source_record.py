"""A record of a load file with its place."""

from __future__ import annotations

from typing import NamedTuple


class SourceRecord(NamedTuple):
    """A record of the file: its first physical line, its number of lines, its bytes and its cells.

    `cells` is None if the quoting is damaged; `original_line` is then the first number at the end of one of its lines,
    if it is of an error file and has one. There, a number before the last line shows that the quoting is damaged.
    """

    line_no: int
    line_count: int
    byte_start: int
    byte_len: int
    cells: list[str] | None
    original_line: int | None = None
