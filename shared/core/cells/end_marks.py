"""Find what old programs write after the last record: the end-of-file mark of DOS, and NUL characters.

Guaranteed: only whole lines of nothing else are cut; in a line with anything else, these characters are data.
"""

from __future__ import annotations

NUL = "\0"
_LINE_ENDS = "\r\n"
_MARKS = f"\x1a{NUL}{_LINE_ENDS}"


def cut_end_marks(raw: bytes, encoding: str, *, cr_ends: bool) -> tuple[int, int]:
    """Return the number of bytes before the marks at the end of a file, and the number of NUL characters after them.

    `raw` are the last bytes of the file, from the beginning of a line on; `cr_ends`: a CR alone ends a line.
    """
    start = _find_end_start(raw, encoding)
    text = raw[start:].decode(encoding)
    marks = text.lstrip(_LINE_ENDS)
    before = text[: len(text) - len(marks)]
    begins_line = before.endswith("\n") or (cr_ends and before.endswith("\r")) or (not start and not before)
    if not marks or not begins_line:
        return len(raw), 0
    return start + len(before.encode(encoding)), marks.count(NUL)


def _find_end_start(raw: bytes, encoding: str) -> int:
    """Return where the characters at the end begin that can be marks or line ends."""
    width = len(NUL.encode(encoding))
    if width == 1:
        return len(raw.rstrip(_MARKS.encode(encoding)))
    start, marks = len(raw), {mark.encode(encoding) for mark in _MARKS}
    while start >= width and raw[start - width : start] in marks:
        start -= width
    return start
