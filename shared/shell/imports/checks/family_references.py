"""Find what a file that is checked states about families and neither it nor the case can follow.

Guaranteed: what the import after the check counts (`shell.imports.completing.unread_families`); memory does not grow
with the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby, islice
from operator import itemgetter

from core.checks.facts import RowFacts
from core.families.cycles import MOST_ROWS, FamilyCycle, StatingRow, find_cycles
from core.families.kinds import FamilyKind, Stated
from core.families.unread import MAX_SAMPLES, KindCount, Listed
from core.imports.chunk_facts import CLAIM, KEPT, FamilyReference

KEYS_PER_LOOKUP = 2_000
_SCHEMA = """
    PRAGMA journal_mode = OFF;
    PRAGMA cache_size = -16000;
    CREATE TABLE documents (number TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE named (place INTEGER PRIMARY KEY, kind TEXT, number TEXT, line INTEGER);
    CREATE TABLE missing (number TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE numbered (line INTEGER PRIMARY KEY, control_number TEXT, bates_begin TEXT);
"""
_ADD_DOCUMENTS = "INSERT OR IGNORE INTO documents VALUES (?)"
_ADD_NAMED = "INSERT INTO named (kind, number, line) VALUES (?, ?, ?)"
_UNKNOWN = (
    "SELECT DISTINCT number FROM named WHERE kind <> 'group' AND number NOT IN (SELECT number FROM documents) "
    "ORDER BY number"
)
_COUNTS = "SELECT kind, COUNT(*) FROM named GROUP BY kind"
_MISSING = "SELECT kind, number, line FROM named WHERE number IN (SELECT number FROM missing) ORDER BY line, place"
_LISTED = """
    SELECT number, MIN(line), MAX(line), COUNT(*) OVER () FROM named WHERE kind = 'members'
    GROUP BY number HAVING MIN(line) < MAX(line) ORDER BY 2, 1 LIMIT ?
"""
# Rows whose documents are named, and which name others.
_STATING = """
    SELECT line, control_number, bates_begin, kind, number FROM numbered JOIN named USING (line)
    WHERE number NOT IN (control_number, bates_begin)
      AND (control_number IN (SELECT number FROM named) OR bates_begin IN (SELECT number FROM named))
    ORDER BY line, place
"""
FindExisting = Callable[[Collection[str]], Collection[str]]


class FamilyReferences:
    """The documents that the rows of a file name as members of their families, beside those that it has."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def add(self, rows: Sequence[RowFacts], references: Sequence[FamilyReference]) -> None:
        """Add the rows of a chunk, and what they name and claim."""
        numbers = ((_encode(number),) for row in rows for number in (row.control_number, row.bates_begin) if number)
        self._database.executemany(_ADD_DOCUMENTS, numbers)
        kept = {each.line_no: each.key for each in references if each.kind == KEPT}
        begins = (row.bates_begin or kept.get(row.line, "") for row in rows)
        numbered = (
            (row.line, _encode(row.control_number), _encode(each)) for row, each in zip(rows, begins, strict=True)
        )
        self._database.executemany("INSERT INTO numbered VALUES (?, ?, ?)", numbered)
        claimed = [(_encode(each.key),) for each in references if each.kind == CLAIM]
        self._database.executemany(_ADD_DOCUMENTS, claimed)
        named = ((each.kind, _encode(each.key), each.line_no) for each in references if each.kind not in (CLAIM, KEPT))
        self._database.executemany(_ADD_NAMED, named)

    def count(self, find_existing: FindExisting) -> dict[FamilyKind, KindCount]:
        """Return how many values of each kind name a document that neither the file nor the case has."""
        counts = {FamilyKind(kind): KindCount(int(named)) for kind, named in self._database.execute(_COUNTS)}
        for keys in self._list_unknown():
            existing = find_existing(keys)
            missing = ((_encode(key),) for key in keys if key not in existing)
            self._database.executemany("INSERT INTO missing VALUES (?)", missing)
        for kind, number, line in self._database.execute(_MISSING):
            counts[FamilyKind(kind)].add_missing(_decode(number), line)
        return counts

    def find_listed(self) -> list[Listed]:
        """Return the first documents that several rows list as their attachment."""
        rows = self._database.execute(_LISTED, (MAX_SAMPLES,))
        return [Listed(_decode(number), *lines) for number, *lines in rows]

    def find_cycles(self) -> list[FamilyCycle]:
        """Return the cycles of rows that name each other as parents."""
        by_line = groupby(self._database.execute(_STATING), key=itemgetter(0, 1, 2))
        return find_cycles(
            StatingRow(
                line, _decode(number), _decode(begin), [Stated(FamilyKind(each[3]), _decode(each[4])) for each in named]
            )
            for (line, number, begin), named in islice(by_line, MOST_ROWS)
        )

    def _list_unknown(self) -> Iterator[Sequence[str]]:
        unknown = self._database.execute(_UNKNOWN)
        while batch := [_decode(number) for (number,) in islice(unknown, KEYS_PER_LOOKUP)]:
            yield batch


def _encode(number: str) -> bytes:
    return number.encode("utf-8", "surrogatepass")


def _decode(number: bytes) -> str:
    return number.decode("utf-8", "surrogatepass")


@contextmanager
def family_references() -> Iterator[FamilyReferences]:
    """Open an empty set of references for the block."""
    # An unnamed database is a file that SQLite creates once its cache is full, and has already unlinked.
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        database.executescript(_SCHEMA)
        database.execute("BEGIN")
        yield FamilyReferences(database)
