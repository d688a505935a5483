"""Decode bytes into lines of text in which every undecodable byte stays visible in exactly one line.

Guaranteed: lines end only at LF (not at U+0085, U+2028 or a bare CR) or, with `cr_ends`, at LF, CR and CRLF; the sizes
of the lines add up to the number of bytes; and the same bytes give the same lines whether they are read in one piece or
in chunks that end at line ends.
Undecodable bytes become lone surrogates, which valid text cannot contain: `has_surrogates` finds them.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from io import BytesIO, StringIO

UTF_8, UTF_16_LE, UTF_16_BE, CP1252 = "utf-8", "utf-16-le", "utf-16-be", "cp1252"
# One character per byte: finds structure that is all ASCII before the encoding is known.
BYTEWISE = "latin-1"
SUPPORTED = (UTF_8, UTF_16_LE, UTF_16_BE, CP1252)

BOMS = ((codecs.BOM_UTF8, UTF_8), (codecs.BOM_UTF16_LE, UTF_16_LE), (codecs.BOM_UTF16_BE, UTF_16_BE))
_NAMES = {
    "utf8": UTF_8,
    "utf8sig": UTF_8,
    "ascii": UTF_8,
    "utf16le": UTF_16_LE,
    "utf16be": UTF_16_BE,
    "cp1252": CP1252,
    "windows1252": CP1252,
    "ansi": CP1252,
    "iso88591": CP1252,
    "latin1": CP1252,
}

REPLACEMENT = "\ufffd"
_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPED_BYTES = re.compile("[\udc80-\udcff]+")
_BARE_CR = re.compile("\r(?!\n)")
_BARE_CR_BYTE = re.compile(b"\r(?!\n)")
_NOT_ASCII = bytes(range(128, 256))
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Lines:
    """Physical lines with their line ends, and the size of each line in the source, in bytes.

    `bare_cr`: some line has a CR inside, which is not followed by LF. `mark` is the byte order mark if some line begins
    with one, else None; a reader removes it where the line begins a record.
    """

    texts: list[str]
    sizes: list[int]
    bare_cr: bool = False
    mark: str | None = None

    def slice_from(self, first: int) -> Lines:
        """Return the lines from index `first` on."""
        return Lines(self.texts[first:], self.sizes[first:], self.bare_cr, self.mark)


def find_encoding(name: str) -> str | None:
    """Return the supported encoding with this name or alias, in any spelling, or None."""
    return _NAMES.get(re.sub(r"[^a-z0-9]", "", name.lower()))


def detect_byte_order_mark(head: bytes) -> tuple[str | None, int]:
    """Return the encoding of the byte order mark and its length in bytes; (None, 0) without a mark."""
    return next(((name, len(bom)) for bom, name in BOMS if head.startswith(bom)), (None, 0))


def is_wide(encoding: str) -> bool:
    """Return whether every character takes at least two bytes."""
    return encoding in (UTF_16_LE, UTF_16_BE)


def decode(raw: bytes, encoding: str) -> str:
    """Return the text, with a lone surrogate for every undecodable byte or code unit."""
    if not is_wide(encoding):
        return raw.decode(encoding, "surrogateescape")
    odd = len(raw) % 2
    text = raw[: len(raw) - odd].decode(encoding, "surrogatepass")
    return text + chr(0xDC00 + raw[-1]) if odd else text


def split_lines(raw: bytes, encoding: str, cr_ends: bool = False) -> Lines:
    """Return the physical lines of the bytes, which begin at a line start; the last line may lack its line end."""
    if cr_ends:
        return _split_at_cr(raw, encoding)
    if encoding == UTF_8:
        # No multi-byte character contains the byte of LF: to decode line by line is cheaper than to measure the text.
        pieces = BytesIO(raw).readlines()
        texts = [str(piece, UTF_8, "surrogateescape") for piece in pieces]
        return Lines(
            texts, list(map(len, pieces)), _BARE_CR_BYTE.search(raw) is not None, _find_mark(texts, raw, UTF_8)
        )
    text = decode(raw, encoding)
    texts = [line + "\n" for line in text.split("\n")]
    _correct_last_line(texts)
    sizes = _wide_sizes(texts, text, encoding, len(raw)) if is_wide(encoding) else list(map(len, texts))
    return Lines(texts, sizes, _BARE_CR.search(text) is not None, _find_mark(texts, raw, encoding))


def _split_at_cr(raw: bytes, encoding: str) -> Lines:
    if is_wide(encoding):
        text = decode(raw, encoding)
        texts = StringIO(text, newline="").readlines()
        return Lines(texts, _wide_sizes(texts, text, encoding, len(raw)), mark=_find_mark(texts, raw, encoding))
    # Lines of bytes end at CR, LF and CRLF only, unlike lines of text.
    pieces = raw.splitlines(keepends=True)
    texts = [decode(piece, encoding) for piece in pieces]
    return Lines(texts, list(map(len, pieces)), mark=_find_mark(texts, raw, encoding))


def get_byte_order_mark(encoding: str) -> str:
    """Return the byte order mark as it is decoded inside a file; one of UTF-8 is three characters of cp1252."""
    return "\ufeff" if encoding == UTF_8 or is_wide(encoding) else codecs.BOM_UTF8.decode(BYTEWISE)


def skip_marks(text: str, mark: str | None, start: int = 0) -> int:
    """Return the position after the byte order marks at a position of a text."""
    while mark and text.startswith(mark, start):
        start += len(mark)
    return start


def _find_mark(texts: list[str], raw: bytes, encoding: str) -> str | None:
    mark = get_byte_order_mark(encoding)
    return mark if mark.encode(encoding) in raw and any(text.startswith(mark) for text in texts) else None


def _correct_last_line(texts: list[str]) -> None:
    """Remove the line end that was added to the text after the last LF, and that line if it is empty."""
    last = texts.pop()[:-1]
    if last:
        texts.append(last)


def _wide_sizes(texts: list[str], text: str, encoding: str, total: int) -> list[int]:
    if _BEYOND_BMP.search(text):
        sizes = [len(line.encode(encoding, "surrogatepass")) for line in texts]
    else:
        sizes = [2 * len(line) for line in texts]
    if sizes:
        # An odd last byte was decoded as a whole code unit.
        sizes[-1] -= sum(sizes) - total
    return sizes


def find_last_line_end(raw: bytes, encoding: str, cr_ends: bool = False) -> int:
    """Return the position after the last line end, in bytes; 0 without a line end.

    A CR at the very end is not a line end: LF may follow.
    """
    end = _find_last("\n", raw, len(raw), encoding)
    if not cr_ends:
        return end
    decided = len(raw) - count_undecided_bytes(raw, encoding, cr_ends)
    return max(end, _find_last("\r", raw, decided, encoding, end))


def _find_last(character: str, raw: bytes, end: int, encoding: str, start: int = 0) -> int:
    mark = character.encode(encoding)
    position = raw.rfind(mark, start, end)
    while position >= 0 and position % len(mark):
        position = raw.rfind(mark, start, position + len(mark) - 1)
    return position + len(mark) if position >= 0 else 0


def count_undecided_bytes(raw: bytes, encoding: str, cr_ends: bool) -> int:
    """Return the number of last bytes that the next ones give a meaning: half a code unit, a CR that ends lines."""
    width = 2 if is_wide(encoding) else 1
    half = len(raw) % width
    return half + width * (cr_ends and raw.endswith("\r".encode(encoding), 0, len(raw) - half))


def has_surrogates(text: str) -> bool:
    """Return whether the text has a lone surrogate, that is, came from bytes that could not be decoded."""
    return not text.isascii() and _SURROGATES.search(text) is not None


def replace_surrogates(text: str) -> str:
    """Return the text with U+FFFD in place of every lone surrogate."""
    return _SURROGATES.sub(REPLACEMENT, text) if has_surrogates(text) else text


def describe_undecoded_bytes(text: str) -> str:
    """Return the first undecodable bytes of a text in hexadecimal, for a message."""
    found = _ESCAPED_BYTES.search(text)
    if not found:
        return "an unpaired surrogate"
    return " ".join(f"0x{ord(character) - 0xDC00:02X}" for character in found.group()[:8])


def _find_multi_byte_line(raw: bytes) -> int:
    """Return the index of the first line that has a valid UTF-8 multi-byte character."""
    lines = BytesIO(raw).readlines()
    return next(index for index, line in enumerate(lines) if not line.decode(UTF_8, "ignore").isascii())


@dataclass
class Utf8Evidence:
    """Counts over a file with ASCII structure: valid UTF-8 multi-byte characters, and bytes that are not UTF-8.

    `first_line` is the line that has the first of these characters, 0 if there are none.
    """

    valid: int = 0
    invalid: int = 0
    first_line: int = 0

    def add(self, raw: bytes, line: int = 1) -> None:
        """Count the characters and bytes of complete lines, the first of which is the file's line `line`."""
        if raw.isascii():
            return
        try:
            characters, invalid = len(raw.decode(UTF_8)), 0
        except UnicodeDecodeError:
            text = raw.decode(UTF_8, "surrogateescape")
            characters, invalid = len(text), sum(map(len, _ESCAPED_BYTES.findall(text)))
        self.invalid += invalid
        # The byte order mark of a part of the file is not a character of its text.
        valid = characters - len(raw.translate(None, _NOT_ASCII)) - invalid - raw.count(codecs.BOM_UTF8)
        if valid and not self.valid:
            self.first_line = line + _find_multi_byte_line(raw)
        self.valid += valid

    @property
    def is_utf8(self) -> bool:
        """Whether there are characters beyond ASCII, and all of them are valid UTF-8."""
        return self.valid > 0 and self.invalid == 0

    def choose_encoding(self) -> str:
        """Return UTF-8 if all bytes are UTF-8 or valid characters outnumber invalid bytes, else cp1252.

        In a UTF-8 file with invalid bytes, the rows that contain them are rejected.
        """
        return UTF_8 if self.invalid == 0 or self.valid > self.invalid else CP1252
