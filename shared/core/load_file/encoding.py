"""Bytes to lines of text, so that every byte that cannot be decoded stays visible in exactly one line.

Guaranteed: lines end at LF and nowhere else (not at U+0085, U+2028 or a bare CR), the sizes of the lines add up to the
bytes, and the same bytes give the same lines whether they are read in one piece or in chunks that end at line ends.
Undecodable bytes become lone surrogates, which valid text cannot contain: `is_damaged` finds them.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from io import BytesIO

UTF_8, UTF_16_LE, UTF_16_BE, CP1252 = "utf-8", "utf-16-le", "utf-16-be", "cp1252"
# One character a byte: for finding structure that is all ASCII before the encoding is known.
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

_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPED_BYTES = re.compile("[\udc80-\udcff]+")
_BARE_CR = re.compile("\r(?!\n)")
_BARE_CR_BYTE = re.compile(b"\r(?!\n)")
_NOT_ASCII = bytes(range(128, 256))
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Lines:
    """Physical lines with their line ends, and the size of each in the source, in bytes.

    `bare_cr`: somewhere stands a CR that no LF follows.
    """

    texts: list[str]
    sizes: list[int]
    bare_cr: bool = False

    def behind(self, first: int) -> Lines:
        """Those from `first` on, counted from 0."""
        return Lines(self.texts[first:], self.sizes[first:], self.bare_cr) if first else self


def named(name: str) -> str | None:
    """The supported encoding that a user's name means, or None."""
    return _NAMES.get(re.sub(r"[^a-z0-9]", "", name.lower()))


def byte_order_mark(head: bytes) -> tuple[str | None, int]:
    """The encoding that a byte order mark names and the mark's length in bytes; (None, 0) without one."""
    return next(((name, len(bom)) for bom, name in BOMS if head.startswith(bom)), (None, 0))


def is_wide(encoding: str) -> bool:
    """Whether a character takes two bytes or more, always."""
    return encoding in (UTF_16_LE, UTF_16_BE)


def decode(raw: bytes, encoding: str) -> str:
    """Text in which every undecodable byte or code unit is a lone surrogate."""
    if not is_wide(encoding):
        return raw.decode(encoding, "surrogateescape")
    odd = len(raw) % 2
    text = raw[: len(raw) - odd].decode(encoding, "surrogatepass")
    return text + chr(0xDC00 + raw[-1]) if odd else text


def lines(raw: bytes, encoding: str) -> Lines:
    """The physical lines of whole lines of bytes; the last may lack its line end."""
    if encoding == UTF_8:
        # No character holds the byte of a LF: lines may be decoded one by one, which is cheaper than to measure them.
        pieces = BytesIO(raw).readlines()
        texts = [str(piece, UTF_8, "surrogateescape") for piece in pieces]
        return Lines(texts, list(map(len, pieces)), _BARE_CR_BYTE.search(raw) is not None)
    text = decode(raw, encoding)
    texts = [line + "\n" for line in text.split("\n")]
    _settle_last(texts)
    sizes = _wide_sizes(texts, text, encoding, len(raw)) if is_wide(encoding) else list(map(len, texts))
    return Lines(texts, sizes, _BARE_CR.search(text) is not None)


def _settle_last(texts: list[str]) -> None:
    """`split` leaves what stands behind the last LF: nothing, or a line without an end."""
    last = texts.pop()[:-1]
    if last:
        texts.append(last)


def _wide_sizes(texts: list[str], text: str, encoding: str, total: int) -> list[int]:
    if _BEYOND_BMP.search(text):
        sizes = [len(line.encode(encoding, "surrogatepass")) for line in texts]
    else:
        sizes = [2 * len(line) for line in texts]
    if sizes:
        # An odd last byte was decoded as if it were a code unit.
        sizes[-1] -= sum(sizes) - total
    return sizes


def end_of_last_line(raw: bytes, encoding: str) -> int:
    """The position behind the last line end, in bytes; 0 if there is none."""
    if not is_wide(encoding):
        return raw.rfind(b"\n") + 1
    mark = "\n".encode(encoding)
    at = raw.rfind(mark)
    while at >= 0 and at % 2 == 1:
        at = raw.rfind(mark, 0, at + 1)
    return at + 2 if at >= 0 else 0


def is_damaged(text: str) -> bool:
    """Whether the text stands for bytes that could not be decoded."""
    return not text.isascii() and _SURROGATES.search(text) is not None


def readable(text: str) -> str:
    """The text with a replacement character for every byte that could not be decoded."""
    return _SURROGATES.sub("\ufffd", text) if is_damaged(text) else text


def damaged_bytes(text: str) -> str:
    """The first undecodable bytes of a text, in hexadecimal, for a message."""
    found = _ESCAPED_BYTES.search(text)
    if not found:
        return "an unpaired surrogate"
    return " ".join(f"0x{ord(character) - 0xDC00:02X}" for character in found.group()[:8])


@dataclass
class Utf8Evidence:
    """For text whose structure is ASCII: counts what speaks for UTF-8 and what against, over the whole file."""

    valid: int = 0
    invalid: int = 0

    def add(self, raw: bytes) -> None:
        """Count the multi-byte sequences of whole lines of bytes."""
        if raw.isascii():
            return
        try:
            characters, invalid = len(raw.decode(UTF_8)), 0
        except UnicodeDecodeError:
            text = raw.decode(UTF_8, "surrogateescape")
            characters, invalid = len(text), sum(map(len, _ESCAPED_BYTES.findall(text)))
        self.invalid += invalid
        self.valid += characters - len(raw.translate(None, _NOT_ASCII)) - invalid

    def verdict(self) -> str:
        """UTF-8 if all of it is, or more of it than not (then the damaged rows are rejected); else cp1252."""
        return UTF_8 if self.invalid == 0 or self.valid > self.invalid else CP1252
