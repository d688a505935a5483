"""Load files as people write and join them, and what Python's csv module reads in them.

Guaranteed: every file has one meaning, found by the csv module from the text and its dialect, without the application:
or it is one that must be refused, and `refusal` says why. The application gets no dialect but what docs/load-files.md
says it cannot detect. The same seed and number give the same file on every machine.
Not guaranteed: anything about columns, dates and names; cells are compared, before fields are made of them.
"""

from __future__ import annotations

import csv
import io
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.load_file.chunk_reader import read_chunk
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.options import parse_options
from core.load_file.splitter import Splitter
from samples.dialects import BOMS, DIALECTS, PIPE_QUOTE, Dialect, Quoting, can_hold, can_quote, header_quoting, render
from samples.strategies import quotings
from samples.words import build_random
from tests.torture.mutations.parsing import Manner, run_pass
from tests.torture.mutations.records import demand

HEADER = ("Control Number", "Title", "Custodian", "Document Date", "Native Path", "Note")
MOST_ROWS, MOST_PARTS = 30, 4
ENCODINGS = (*BOMS, *BOMS, "utf-32")
CELLS = (
    *(
        "",
        "",
        "plain",
        "two words",
        " spaced ",
        "Smith, Ann",
        "a;b",
        "a|b",
        "tab\there",
        'says "no"',
        '"',
        '""',
        "it's",
    ),
    *("^caret^", "^", "\u00feorn", "\u00fe", "a\u00aeb", "\u00ae", "C:\\x\u00aey.msg", "Gr\u00fcn", "sep=,", "=1+1"),
    *("31122008", "05062008", "20081231", "5/6/2008", "00/00/0000", "0", "<nil>", "Control Number", "Title"),
)
# What a cell can hold only between qualifiers, and only after the beginning of the file.
QUOTED_CELLS = ("two\nlines", "two\r\nlines", "two\rlines", "a\n\nb", "\ufeffx", "a\ufeffb", "x\n\ufeffy", "1,2\n3,4\n")


@dataclass(frozen=True)
class HabitFile:
    """A file, its rows as the csv module reads them, and how many headers and marks are inside it.

    `refusal` is the code with which the file must be refused, None for a file that must be read.
    """

    number: int
    data: bytes
    done: tuple[str, ...]
    options: Mapping[str, Any]
    rows: Sequence[Sequence[str]] = ()
    headers: int = 0
    marks: int = 0
    refusal: FileFailure | None = None


class HabitWriter:
    """Files of one seed, each made from its number alone."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def file(self, number: int) -> HabitFile:
        """The file of that number."""
        return _Draft(build_random(self._seed, f"habits {number}"), number).written()


class _Draft:
    """The choices for one file: dialect, encoding, line ends, parts that are joined, and their marks."""

    def __init__(self, rng: random.Random, number: int) -> None:
        self.rng, self.number = rng, number
        self.dialect: Dialect = rng.choice(DIALECTS)
        self.quoting: Quoting = rng.choice(quotings(self.dialect))
        self.encoding: str = rng.choice(ENCODINGS)
        self.newline: str = rng.choice(("\r\n", "\n", "\r"))
        self.last: str = rng.choice((self.newline, "", "\n"))
        self.has_separator = self.dialect.qualifier == '"' and rng.random() < 0.1
        self.columns = rng.randint(3, len(HEADER))
        self.headers = self.marks = 0

    def written(self) -> HabitFile:
        parts = [self._part(part) for part in range(self.rng.choice((1, 1, 2, MOST_PARTS)))]
        text = "".join(parts)
        text = text[: len(text) - len(self.newline)] + self.last
        habits = (self.dialect.name, self.quoting.value, self.encoding, repr(self.newline), repr(self.last))
        refusal = FileFailure.UNSUPPORTED_ENCODING if self.encoding == "utf-32" else None
        data, rows = self._encode(self.separator + text), read_with_csv(text, self.dialect)
        return HabitFile(self.number, data, habits, self._options(text), rows, self.headers, self.marks, refusal)

    def _options(self, text: str) -> dict[str, str]:
        """The qualifier, where the rows cannot show it or show another one (D71): an uploader has to name it."""
        # A few rows of this dialect need not show their qualifier.
        hidden = self.dialect is PIPE_QUOTE and self.quoting is Quoting.MINIMAL
        named = {'"': "quote", "": "none"}.get(self.dialect.qualifier)
        misleading = named is not None and _are_carets_usual(text, self.dialect.delimiter)
        return {"qualifier": named} if named and (hidden or misleading) else {}

    def _part(self, part: int) -> str:
        """One file of those that are joined; each but the first may have a mark and a header before its rows."""
        quoting = header_quoting(self.dialect, self.quoting)
        header = self._header(quoting) + self.newline if part else self._exact_header(quoting)
        rows = [self._row(f"P{part}-{row}") for row in range(self.rng.randint(0 if part else 1, MOST_ROWS))]
        repeated = part > 0 and self.rng.random() < 0.8
        marked = part > 0 and self.rng.random() < 0.5 and (repeated or bool(rows))
        # Each part that Excel wrote names the delimiter.
        separator = self.separator * (part > 0 and repeated and self.rng.random() < 0.8)
        self.headers += repeated + bool(separator)
        self.marks += marked
        return "\ufeff" * marked + separator + header * (repeated or not part) + "".join(rows)

    @property
    def separator(self) -> str:
        return f"sep={self.dialect.delimiter}{self.newline}" if self.has_separator else ""

    def _exact_header(self, quoting: Quoting) -> str:
        return render(HEADER[: self.columns], self.dialect, quoting) + self.newline

    def _header(self, quoting: Quoting) -> str:
        """The header as another program or person wrote it: in another case, with spaces, with a spare delimiter."""
        spelled = self.rng.choice((str, str, str.upper, str.lower, " {} ".format))
        names = [spelled(name) for name in HEADER[: self.columns]]
        return render(names, self.dialect, quoting) + self.dialect.delimiter * (self.rng.random() < 0.1)

    def _row(self, key: str) -> str:
        blank = self.newline if self.rng.random() < 0.05 else ""
        cells = [self._cell(index) for index in range(1, self.columns)]
        return render([key, *cells], self.dialect, self._row_quoting()) + self.newline + blank

    def _row_quoting(self) -> Quoting:
        # Some programs quote where they must and, in other rows, everywhere.
        return self.rng.choice((self.quoting, Quoting.ALL)) if self.quoting is Quoting.MINIMAL else self.quoting

    def _cell(self, index: int) -> str:
        text = self.rng.choice((*CELLS, *QUOTED_CELLS) if can_quote(self.dialect, self.quoting, index) else CELLS)
        text = text.replace("\ufeff", "") if self.encoding == "cp1252" else text
        return text if can_hold(self.dialect, self.quoting, index, text) else "plain"

    def _encode(self, text: str) -> bytes:
        if self.encoding == "utf-32":
            return text.encode(self.encoding)
        if self.encoding == "cp1252":
            # The mark of a UTF-8 part, as it is joined byte by byte.
            return text.replace("\ufeff", "\xef\xbb\xbf").encode(self.encoding)
        return BOMS[self.encoding] + text.encode("utf-8" if self.encoding == "utf-8-sig" else self.encoding)


def _are_carets_usual(text: str, delimiter: str) -> bool:
    """Whether about half of the first lines have a cell `^caret^`, as those of files whose qualifier is the caret."""
    lines = [line.split(delimiter) for line in re.split("\r\n|\r|\n", text)[:50] if line.strip()]
    return 5 * sum("^caret^" in cells for cells in lines) >= 2 * len(lines)


def read_with_csv(text: str, dialect: Dialect) -> list[list[str]]:
    """Return the rows after the header as the csv module reads them, without lines of a header and marks of records."""
    lines, found = _Unmarked(text), []
    reader = csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.qualifier or None,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if dialect.qualifier else csv.QUOTE_NONE,
    )
    for row in reader:
        found.append(row)
        lines.at_record = True
    lines_of_header = (_spell(found[0]), _spell([*found[0], ""]), [f"sep={dialect.delimiter}"], ["sep=", ""])
    return [row for row in found if row and _spell(row) not in lines_of_header]


def _spell(row: Sequence[str]) -> list[str]:
    return [cell.lower().strip(" ") for cell in row]


class _Unmarked:
    """The lines of a text with their line ends; without a mark where the reader says that a record begins."""

    def __init__(self, text: str) -> None:
        self._lines = iter(io.StringIO(text, newline=""))
        self.at_record = True

    def __iter__(self) -> _Unmarked:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        line = line.removeprefix("\ufeff") if self.at_record else line
        self.at_record = False
        return line


def compare(file: HabitFile) -> Counter[str]:
    """Read the file in any blocks and chunks; raises ViolationError unless its rows are those of the csv module."""
    drawn = Manner.drawn(build_random(file.number, "manner"))
    manner = replace(drawn, record_bytes=MAX_RECORD_BYTES, chunk_bytes=MAX_RECORD_BYTES, head_bytes=None)
    try:
        found = run_pass(file.data, parse_options(file.options), manner, Splitter)
    except FileRefusedError as refused:
        demand(refused.code == file.refusal, f"refused: {refused}")
        return Counter({"refused": 1})
    demand(file.refusal is None, f"not refused as {file.refusal}")
    places = [(file.data[each.byte_start : each.byte_end], each.first_line, each.byte_start) for each in found.chunks]
    rows = [record.cells for raw, *at in places for record in read_chunk(raw, found.layout, *at)]
    different = next(
        (
            pair
            for pair in zip_longest(
                rows, [row for row in file.rows if any(cell.strip(" \t\n\r\x0b\x0c") for cell in row)]
            )
            if pair[0] != pair[1]
        ),
        None,
    )
    demand(different is None, f"a row and what the csv module reads: {different}")
    inside = (found.splitter.repeated_headers.count, found.splitter.byte_order_marks.count)
    demand(inside == (file.headers, file.marks), f"headers and marks inside: {inside}, {(file.headers, file.marks)}")
    return Counter({"rows": len(rows), "headers": file.headers, "marks": file.marks})
