"""Load files of any size for benchmarks: Concordance DAT files as review platforms export them, without faults.

Guaranteed: the same shape gives the same bytes; every id is unique; memory does not grow with the number of rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

_DELIMITER, _QUALIFIER, _SEVERAL = "\x14", "\xfe", "; "
_FIRST_DATE = datetime(2011, 1, 3, 8)
_FIELDS = (
    *("Begin Bates", "End Bates", "Parent ID", "Custodian", "Tags"),
    *("Title", "File Name", "Document Date", "Native Path", "Text Path"),
)
_PROPERTIES = (
    *("Author", "Email From", "Email To", "Email Subject", "MD5 Hash", "Page Count", "File Size"),
    *("Record Type", "Email CC", "Conversation", "Folder", "Application"),
)
_WORDS = (
    *("agreement", "annual", "archive", "balance", "board", "budget", "call", "cargo", "claim", "clause"),
    *("contract", "counsel", "customer", "delivery", "deposition", "design", "draft", "exhibit", "export"),
    *("filing", "finance", "forecast", "freight", "hearing", "import", "invoice", "letter", "license"),
    *("meeting", "memo", "minutes", "motion", "notes", "notice", "offer", "order", "patent", "payment"),
    *("plan", "policy", "pricing", "privilege", "project", "proposal", "purchase", "quarter", "quote"),
    *("receipt", "record", "refund", "report", "request", "response", "review", "schedule", "settlement"),
    *("shipment", "statement", "status", "supply", "survey", "terms", "transfer", "travel", "update"),
    *("vendor", "warranty"),
)
_ACCENTED = ("Müller", "naïve", "façade", "résumé", "Łódź", "smörgås")
# The number of rows with different texts; further rows repeat them with other ids.
_DISTINCT = 2_000


@dataclass(frozen=True)
class Shape:
    """The shape of a file: numbers of rows, property columns, custodians and tags, and the length of texts.

    `text` is the length of long texts (titles, subjects, properties), in characters. A row has 1 custodian, every
    fourth row 2, and 1 or 2 tags. One in thirty texts has a non-ASCII word. Every id begins with `prefix`.
    """

    rows: int = 30_000
    columns: int = 8
    custodians: int = 25
    tags: int = 40
    text: int = 40
    seed: int = 1
    prefix: str = "ACME"

    def write(self, path: Path) -> None:
        """Write the file."""
        with path.open("wb") as file:
            for piece in self.pieces():
                file.write(piece)

    def pieces(self) -> Iterator[bytes]:
        """Yield the file, a thousand rows at a time."""
        names = (*_FIELDS, *(self._property(index) for index in range(self.columns)))
        yield b"\xef\xbb\xbf" + _line(names)
        texts = [self._texts(random.Random(f"{self.seed} {index}")) for index in range(min(self.rows, _DISTINCT))]
        for start in range(0, self.rows, 1_000):
            rows = range(start, min(self.rows, start + 1_000))
            yield b"".join(_line((*self._ids(row), *texts[row % len(texts)])) for row in rows)

    def _ids(self, row: int) -> tuple[str, str, str]:
        parent = self._id(row - row % 4) if row % 4 else ""
        return self._id(row), self._id(row), parent

    def _id(self, row: int) -> str:
        return f"{self.prefix}-{row + 1:09d}"

    @staticmethod
    def _property(index: int) -> str:
        return _PROPERTIES[index] if index < len(_PROPERTIES) else f"Field {index + 1}"

    def _texts(self, chance: random.Random) -> tuple[str, ...]:
        """Return the cells of a row after its ids."""
        file_name = f"{_text(chance, 18)}.{chance.choice(('msg', 'pdf', 'docx', 'xlsx'))}"
        date = _FIRST_DATE + timedelta(minutes=chance.randrange(5_000_000))
        folder = f"VOL001\\NATIVES\\{chance.randrange(1000):03d}"
        return (
            _SEVERAL.join(self._names(chance, "Custodian", self.custodians, 1 + (chance.random() < 0.25))),
            _SEVERAL.join(self._names(chance, "Issue", self.tags, 1 + (chance.random() < 0.5))),
            _text(chance, self.text),
            file_name,
            f"{date:%m/%d/%Y %H:%M}",
            f"{folder}\\{file_name}",
            f"VOL001\\TEXT\\{chance.randrange(1000):03d}\\{chance.randrange(10**8):08d}.txt",
            *(self._value(chance, index) for index in range(self.columns)),
        )

    def _value(self, chance: random.Random, index: int) -> str:
        name = self._property(index)
        if name == "MD5 Hash":
            return f"{chance.getrandbits(128):032x}"
        if name == "Page Count":
            # As many as the row has Bates numbers: any other count is a finding of a check.
            return "1"
        if name == "File Size":
            return str(chance.randrange(1, 10_000))
        return _text(chance, self.text)

    @staticmethod
    def _names(chance: random.Random, kind: str, among: int, count: int) -> list[str]:
        numbers = chance.sample(range(among), min(count, among))
        return [f"{kind} {_WORDS[number % len(_WORDS)].title()} {number:03d}" for number in numbers]


def _text(chance: random.Random, length: int) -> str:
    words = [chance.choice(_ACCENTED)] if chance.random() < 1 / 30 else []
    while sum(map(len, words)) + len(words) <= length:
        words.append(chance.choice(_WORDS))
    return " ".join(words)[:length].rstrip()


def _line(cells: tuple[str, ...]) -> bytes:
    return (_DELIMITER.join(f"{_QUALIFIER}{cell}{_QUALIFIER}" for cell in cells) + "\r\n").encode()
