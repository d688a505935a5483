"""The spellings of an import's names, in a temporary file of the function, ordered as its completion needs them.

Guaranteed: memory does not grow with the number of names; the file is deleted with its process, however that ends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby

from core.imports.canonical_names import MergedName, NameOccurrence

# An occurrence is a row here, in the order of its fields; `kind` and `id` identify a name.
_SCHEMA = """
    PRAGMA journal_mode = OFF;
    PRAGMA cache_size = -32000;
    CREATE TABLE spellings (
      kind TEXT, id INTEGER, stored TEXT, created_by INTEGER, stored_line INTEGER, spelling TEXT, first_line INTEGER,
      column_name TEXT, PRIMARY KEY (kind, id, spelling)
    ) WITHOUT ROWID;
    CREATE TABLE merged (
      line INTEGER, kind TEXT, spelling TEXT, kept TEXT, column_name TEXT, PRIMARY KEY (line, kind, spelling)
    ) WITHOUT ROWID;
"""
# Of two occurrences of a spelling the first one that is added stays.
_ADD = "INSERT OR IGNORE INTO spellings VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
# A name whose row has its only spelling, and its first line if this import created the row, needs no attention.
_UNRESOLVED = """
    SELECT spellings.* FROM spellings JOIN (
      SELECT kind, id FROM spellings GROUP BY kind, id
      HAVING COUNT(*) > 1 OR MAX(spelling <> stored) OR (MAX(created_by) = ? AND MIN(first_line) <> MAX(stored_line))
    ) USING (kind, id) ORDER BY kind, id
"""
# SQLite takes the other columns from the row that has the minimum ("bare columns", SQLite manual, SELECT).
_KEPT = """
    SELECT kind, id, CASE WHEN id < 0 THEN spelling ELSE stored END, MIN(first_line) FROM spellings GROUP BY kind, id
"""
_ADD_MERGED = "INSERT INTO merged VALUES (?, ?, ?, ?, ?)"
_MERGED = "SELECT line, kind, spelling, kept, column_name FROM merged ORDER BY line, kind, spelling"


class SpellingIndex:
    """The spellings that were added, each with its lowest line, and then those that were not kept."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.executescript(_SCHEMA)
        # One transaction: ending one for each row would write to the file each time.
        database.execute("BEGIN")

    def add(self, occurrences: Iterable[NameOccurrence]) -> None:
        """Add the occurrences of a page, each spelling once, with its lowest line; pages come in the order of lines."""
        self._database.executemany(_ADD, occurrences)

    def list_unresolved(self, import_id: int, spellings: int) -> Iterator[list[NameOccurrence]]:
        """Yield the names that have another spelling or line than their row, with all of their spellings.

        They come in the order of kind and id, in lists of about that many spellings; a name is in one of them.
        """
        rows = map(NameOccurrence._make, self._database.execute(_UNRESOLVED, (import_id,)))
        batch: list[NameOccurrence] = []
        for _, name in groupby(rows, key=lambda each: (each.kind, each.id)):
            batch += name
            if len(batch) >= spellings:
                yield batch
                batch = []
        if batch:
            yield batch

    def count_new_names(self) -> dict[str, int]:
        """Return how many names that were added with a negative id there are, by kind."""
        return dict(self._database.execute("SELECT kind, COUNT(DISTINCT id) FROM spellings WHERE id < 0 GROUP BY kind"))

    def list_kept(self) -> Iterator[tuple[str, int, str, int]]:
        """Yield each name: kind, id, the spelling that is kept, and the lowest line that has the name."""
        yield from self._database.execute(_KEPT)

    def has_name(self, kind: str, name_id: int) -> bool:
        """Return whether a spelling of the name was added."""
        found = self._database.execute("SELECT 1 FROM spellings WHERE kind = ? AND id = ? LIMIT 1", (kind, name_id))
        return found.fetchone() is not None

    def add_merged(self, kind: str, merged: Sequence[MergedName]) -> None:
        """Add spellings that were not kept."""
        rows = ((name.line_no, kind, name.spelling, name.kept, name.column) for name in merged)
        self._database.executemany(_ADD_MERGED, rows)

    def list_merged(self, spellings: int) -> Iterator[list[tuple[str, MergedName]]]:
        """Yield the spellings that were not kept, each with its kind, by line, kind and spelling.

        They come in lists of about that many; a line is in one of them.
        """
        batch: list[tuple[str, MergedName]] = []
        for line, rows in groupby(self._database.execute(_MERGED), key=lambda row: row[0]):
            batch += ((kind, MergedName(spelling, kept, line, column)) for _, kind, spelling, kept, column in rows)
            if len(batch) >= spellings:
                yield batch
                batch = []
        if batch:
            yield batch


@contextmanager
def spelling_index() -> Iterator[SpellingIndex]:
    """Open an empty index for the block."""
    # An unnamed database is a file that SQLite creates once its cache is full, and has already unlinked.
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        yield SpellingIndex(database)
