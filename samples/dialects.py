"""Delimiters, qualifiers and encodings of load files, and the writing of one record.

Guarantees: a strict reader reads back every cell that `render` writes, if `can_hold` is true of all cells.
Does not guarantee: anything about a record that is damaged on purpose (`unclosed`).
"""

import codecs
import enum
from collections.abc import Sequence
from dataclasses import dataclass

THORN = "þ"
NEWLINE_MARK = "®"


@dataclass(frozen=True)
class Dialect:
    """A delimiter and a qualifier; with an empty qualifier no cell is quoted."""

    name: str
    delimiter: str
    qualifier: str

    @property
    def converts_marks(self) -> bool:
        """Whether ® stands for a newline unless the options say otherwise."""
        return self.qualifier == THORN


CONCORDANCE = Dialect("concordance", "\x14", THORN)
COMMA = Dialect("comma", ",", '"')
TAB = Dialect("tab", "\t", '"')
PIPE = Dialect("pipe", "|", "")
PIPE_QUOTE = Dialect("pipe_quote", "|", '"')
PIPE_CARET = Dialect("pipe_caret", "|", "^")
SEMICOLON_THORN = Dialect("semicolon_thorn", ";", THORN)
DIALECTS = (CONCORDANCE, COMMA, TAB, PIPE, PIPE_QUOTE, PIPE_CARET, SEMICOLON_THORN)


class Quoting(enum.Enum):
    """The cells that are quoted."""

    ALL = "all"
    MINIMAL = "minimal"
    FIRST_TWO = "first_two"


BOMS = {
    "utf-8": b"",
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "cp1252": b"",
}
ENCODINGS = tuple(BOMS)


def encode(text: str, encoding: str) -> bytes:
    """Return the bytes of `text`, without a byte order mark."""
    return text.encode("utf-8" if encoding == "utf-8-sig" else encoding)


def can_quote(dialect: Dialect, quoting: Quoting, index: int) -> bool:
    """Return whether the cell at `index` (from 0) can hold delimiters and newlines."""
    return bool(dialect.qualifier) and (quoting is not Quoting.FIRST_TWO or index < 2)


def can_hold(dialect: Dialect, quoting: Quoting, index: int, text: str) -> bool:
    """Return whether `text` can be written at `index` and read back unchanged."""
    if can_quote(dialect, quoting, index):
        return True
    starts_quoted = bool(dialect.qualifier) and text.startswith(dialect.qualifier)
    return not starts_quoted and not any(mark in text for mark in (dialect.delimiter, "\n", "\r"))


def _is_quoted(dialect: Dialect, quoting: Quoting, index: int, text: str) -> bool:
    if not can_quote(dialect, quoting, index):
        return False
    needed = any(mark in text for mark in (dialect.delimiter, dialect.qualifier, "\n", "\r"))
    return quoting is not Quoting.MINIMAL or needed


def render(cells: Sequence[str], dialect: Dialect, quoting: Quoting, unclosed: int | None = None) -> str:
    """Return one record without its newline; the cell at index `unclosed` has an opening qualifier only."""
    written = []
    for index, text in enumerate(cells):
        quote = dialect.qualifier
        doubled = text.replace(quote, quote * 2) if quote else text
        if index == unclosed:
            written.append(quote + doubled)
        elif _is_quoted(dialect, quoting, index, text):
            written.append(quote + doubled + quote)
        else:
            written.append(text)
    return dialect.delimiter.join(written)


def header_quoting(dialect: Dialect, quoting: Quoting) -> Quoting:
    """Return the header's quoting. Thorns and carets must appear in the header, or they cannot be detected."""
    is_detected = dialect.qualifier in ("", '"')
    return Quoting.ALL if quoting is Quoting.MINIMAL and not is_detected else quoting
