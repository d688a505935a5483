"""Lines and blank lines of a file, found from its bytes alone: imports nothing of the application."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right


class Places:
    """The physical lines of a file whose characters begin behind a byte order mark of so many bytes."""

    def __init__(self, data: bytes, mark_bytes: int, encoding: str) -> None:
        self._data = data
        line_end, carriage_return = "\n".encode(encoding), "\r".encode(encoding)
        width = len(line_end)
        found = (match.start() for match in re.finditer(b"(?=" + re.escape(line_end) + b")", data[mark_bytes:]))
        self._starts = [0, *(mark_bytes + at + width for at in found if at % width == 0)]
        self._blank = re.compile(b"(?:(?:" + re.escape(carriage_return) + b")?" + re.escape(line_end) + b")*+")

    def line_of(self, place: int) -> int:
        """The line, from 1, that a byte stands on."""
        return bisect_right(self._starts, place)

    def is_blank(self, start: int, end: int) -> bool:
        """Whether nothing but empty lines is there; `start` begins a character."""
        return self._blank.fullmatch(self._data, start, end) is not None

    def digest(self, start: int, end: int) -> bytes:
        """SHA-256 of the bytes."""
        return hashlib.sha256(self._data[start:end]).digest()
