"""What an error file must hold, from the source's bytes and Python's own codecs alone."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass

from samples.generator import Generated

LINE_COLUMN = "ExhibitIngestLine"
WHITE_SPACE = " \t\n\r\v\f\u00a0"


@dataclass(frozen=True)
class Form:
    """How a source writes its records, as far as the cell of a record's line needs it.

    `quoted`: its records begin with the qualifier; `spare`: lines may end with one more delimiter; `cr_ends`: a CR
    alone ends a line. `numbered`: there is such a cell.
    """

    delimiter: str
    qualifier: str = ""
    quoted: bool = False
    spare: bool = False
    cr_ends: bool = False
    numbered: bool = True

    @classmethod
    def of(cls, made: Generated) -> Form:
        """The form of a sample file."""
        spec, truth = made.spec, made.truth
        header = made.data[: truth.header_len].decode(truth.encoding).lstrip("\ufeff")
        quoted = bool(truth.qualifier) and header.startswith(truth.qualifier)
        spare, cr_ends = spec.trailing_delimiter, truth.newline == "\r"
        return cls(truth.delimiter, truth.qualifier, quoted, spare, cr_ends, truth.has_header)

    def insert(self, text: str, cell: str) -> str:
        """The text of a record with a cell after its last one, but for the blank one of a spare delimiter.

        The blank cell of a header may hold white space.
        """
        at = len(self._without_line_ends(text))
        if self.spare:
            at = self._without_blank_cell(text[:at], WHITE_SPACE if cell == LINE_COLUMN else "")
        cell = f"{self.qualifier}{cell}{self.qualifier}" if self.quoted else cell
        return text[:at] + self.delimiter + cell + text[at:] if self.numbered else text

    def _without_line_ends(self, text: str) -> str:
        ends = ("\n", "\r") if self.cr_ends else ("\n",)
        while text.endswith(ends):
            text = text.removesuffix("\r\n") if text.endswith("\r\n") else text[:-1]
        return text

    def _without_blank_cell(self, text: str, inside: str) -> int:
        """Where the delimiter before a last cell is that is empty but for characters of `inside`; else the end."""
        mark, delimiter = re.escape(self.qualifier), re.escape(self.delimiter)
        quoted = rf"{mark}[{inside}]*{mark} *" if inside else rf"{mark}{mark} *"
        bare = inside.replace(self.delimiter, "")
        for cell in ([quoted] if mark else []) + [rf"[{bare}]*" if bare else ""]:
            if found := re.search(rf"{delimiter}{cell}\Z", text):
                return found.start()
        return len(text)


def line_cell(line: int) -> str:
    """What the column has for a line."""
    return f"L{line}"


def error_file_of(
    data: bytes, header_len: int, encoding: str, form: Form, records: Iterable[tuple[int, int, int]]
) -> bytes:
    """The error file for the records of a source: their lines, first bytes and lengths."""
    encoding = encoding.removesuffix("-sig")

    def read(start: int, length: int) -> str:
        raw = data[start : start + length]
        if encoding.startswith("utf-16"):
            return raw.decode(encoding, "replace")
        # A sign for each byte that cannot be decoded; a mark of UTF-8 would be three characters of cp1252.
        raw = raw.removeprefix(codecs.BOM_UTF8) if encoding == "cp1252" else raw
        return re.sub("[\ud800-\udfff]", "\ufffd", raw.decode(encoding, "surrogateescape"))

    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    header = read(start, header_len - start)
    header = header if start else header.removeprefix("\ufeff")
    rows = [form.insert(read(start, length), line_cell(line)) for line, start, length in records]
    return ("\ufeff" + form.insert(header, LINE_COLUMN) + "".join(rows)).encode()
