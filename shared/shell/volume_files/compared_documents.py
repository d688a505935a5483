"""Compare the image load file of a volume with its data file, both only checked so far.

Guaranteed: keys are compared exactly, with one column for the whole file, as an import would; memory does not grow with
the files. The result does not depend on the order of the chunks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice, starmap
from typing import Any

from core.bates_numbers import MAX_LISTED
from core.volumes.documents import NamedDocument, describe_ambiguous
from shell.tables.imports import Imports
from shell.volume_files.documents import find_control_numbers, find_without_pages, read_accepted, read_rejected

DOCUMENTS_PER_LOOKUP = 5_000
_CONTROL_NUMBER, _BATES_BEGIN = "control_number", "bates_begin"
_SCHEMA = """
    PRAGMA journal_mode = OFF;
    PRAGMA cache_size = -32000;
    CREATE TABLE rows (line INTEGER PRIMARY KEY, exhibit INTEGER, control_number TEXT, bates_begin TEXT);
    CREATE TABLE others (line INTEGER, number TEXT);
    CREATE VIEW begins AS SELECT line, exhibit, control_number, bates_begin FROM rows
      UNION ALL SELECT line, exhibit, control_number, number FROM others JOIN rows USING (line);
    CREATE TABLE documents (line INTEGER PRIMARY KEY, exhibit INTEGER, key TEXT, counts TEXT);
    CREATE TABLE rejected (line INTEGER, code TEXT, control_number TEXT, bates_begin TEXT);
    CREATE INDEX rejected_by_control_number ON rejected (control_number);
    CREATE INDEX rejected_by_bates_begin ON rejected (bates_begin);
    CREATE TABLE ambiguous (key TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_INDEXES = """
    CREATE INDEX by_control_number ON rows (control_number);
    CREATE INDEX by_bates_begin ON rows (bates_begin);
    CREATE INDEX by_number ON others (number);
    CREATE INDEX by_line ON others (line);
    CREATE INDEX by_key ON documents (key);
    CREATE INDEX by_exhibit ON documents (exhibit);
"""
_ADD_ROWS = "INSERT INTO rows VALUES (?, ?, ?, ?)"
_ADD_OTHERS = "INSERT INTO others VALUES (?, ?)"
_ADD_REJECTED = "INSERT INTO rejected VALUES (?, ?, ?, ?)"
_FIND_REJECTED = "SELECT line, code FROM rejected WHERE control_number = ?1 OR bates_begin = ?1 ORDER BY line LIMIT 1"
_ADD_DOCUMENTS = "INSERT INTO documents VALUES (?, ?, ?, ?)"
_MATCHES = "SELECT COUNT(*) FROM documents WHERE EXISTS (SELECT 1 FROM begins WHERE {column} = key)"
# The image load file of a check is compared with what the case holds; the rest of it here.
_NOT_FOUND = """
    SELECT line, exhibit, key, NULL, counts FROM documents
    WHERE exhibit = 0 AND NOT EXISTS (SELECT 1 FROM begins WHERE {column} = key) ORDER BY line
"""
# Begin Bates numbers that several rows share, or a row and the document of the case that was found by that number.
_FIND_AMBIGUOUS = """
    INSERT OR IGNORE INTO ambiguous SELECT key FROM documents
    WHERE (exhibit = 0 AND 1 < (SELECT COUNT(DISTINCT control_number) FROM begins WHERE bates_begin = key))
       OR (exhibit <> 0 AND ? AND EXISTS (
         SELECT 1 FROM begins WHERE bates_begin = key AND begins.exhibit <> documents.exhibit
       ))
"""
_AMBIGUOUS = "SELECT line, exhibit, key, NULL, counts FROM documents JOIN ambiguous USING (key) ORDER BY line"
_COUNT_OTHERS = (
    "SELECT COUNT(DISTINCT control_number) FROM begins WHERE bates_begin = ? AND exhibit IS NOT NULLIF(?, 0)"
)
_LIST_OTHERS = """
    SELECT DISTINCT control_number FROM begins WHERE bates_begin = ? AND exhibit IS NOT NULLIF(?, 0)
    ORDER BY control_number LIMIT ?
"""
_WITHOUT = """
    SELECT line, exhibit, control_number, NULL, NULL FROM rows
    WHERE NOT EXISTS (SELECT 1 FROM documents WHERE key = rows.{column} AND key NOT IN (SELECT key FROM ambiguous))
      AND NOT EXISTS (
        SELECT 1 FROM others JOIN documents ON key = number
        WHERE others.line = rows.line AND '{column}' = 'bates_begin' AND key NOT IN (SELECT key FROM ambiguous)
      )
      AND (exhibit = 0 OR NOT EXISTS (
        SELECT 1 FROM documents WHERE exhibit = rows.exhibit AND key NOT IN (SELECT key FROM ambiguous)
      )) ORDER BY line
"""


class ComparedDocuments:
    """The rows of the data file beside the documents of the image load file."""

    def __init__(self, database: sqlite3.Connection, import_record: Imports, image_key: str | None) -> None:
        self._database, self._import = database, import_record
        for rows in read_accepted(import_record.after_import_id or 0):
            found = list(rows)
            database.executemany(_ADD_ROWS, (each[:4] for each in found))
            database.executemany(_ADD_OTHERS, ((each.line_no, number) for each in found for number in each.numbers))
        add_rejected(database, import_record.after_import_id or 0)
        for documents in read_accepted(import_record.id):
            database.executemany(_ADD_DOCUMENTS, (_build_row(each) for each in documents))
        for statement in filter(str.strip, _INDEXES.split(";")):
            database.execute(statement)
        self._column = self._choose_column()
        if self._column == _BATES_BEGIN:
            database.execute(_FIND_AMBIGUOUS, (image_key == _BATES_BEGIN,))

    def _choose_column(self) -> str:
        """Return the column that has more of the keys; the control number if both have equally many."""
        numbers, begins = (self._count_matches(column) for column in (_CONTROL_NUMBER, _BATES_BEGIN))
        return _BATES_BEGIN if begins > numbers else _CONTROL_NUMBER

    def _count_matches(self, column: str) -> int:
        return int(self._database.execute(_MATCHES.format(column=column)).fetchone()[0])

    def list_not_found(self) -> Iterator[NamedDocument]:
        """Yield the documents of the image load file that neither the case nor the data file has."""
        yield from map(_read_row, self._select(_NOT_FOUND))

    def find_rejected(self, key: str | None) -> tuple[int, str] | None:
        """Return the line and the code of the rejected row of the data file that has this key, if one does."""
        return find_rejected(self._database, key)

    def list_ambiguous(self) -> Iterator[tuple[NamedDocument, str]]:
        """Yield the documents whose key is the begin Bates number of several documents, with a message."""
        documents = map(_read_row, self._select(_AMBIGUOUS))
        while batch := list(islice(documents, DOCUMENTS_PER_LOOKUP)):
            held = find_control_numbers(self._import.case_id, {each.exhibit_id for each in batch} - {0})
            for document in batch:
                yield document, self._describe(document, held.get(document.exhibit_id))

    def _describe(self, document: NamedDocument, held: str | None) -> str:
        place = (document.key, document.exhibit_id)
        count = int(self._database.execute(_COUNT_OTHERS, place).fetchone()[0])
        numbers = [number for (number,) in self._database.execute(_LIST_OTHERS, (*place, MAX_LISTED))]
        return describe_ambiguous(sorted([*numbers, held]) if held else numbers, count + bool(held))

    def list_without_images(self) -> Iterator[NamedDocument]:
        """Yield the documents of the data file that the image load file does not name, and that have no pages."""
        rows = starmap(NamedDocument, self._select(_WITHOUT))
        while batch := list(islice(rows, DOCUMENTS_PER_LOOKUP)):
            yield from find_without_pages(self._import.case_id, batch)

    def _select(self, statement: str) -> Iterator[Any]:
        yield from self._database.execute(statement.format(column=self._column))


def create_database() -> sqlite3.Connection:
    """Return a temporary file with the tables, which is deleted when it is closed."""
    database = sqlite3.connect("", isolation_level=None)
    database.executescript(_SCHEMA)
    # One transaction: ending one for each row would write to the file each time.
    database.execute("BEGIN")
    return database


def add_rejected(database: sqlite3.Connection, import_id: int) -> None:
    """Add the rejected rows of an import to the table `rejected`."""
    for rows in read_rejected(import_id):
        database.executemany(_ADD_REJECTED, ((each.line_no, each.code, each.key, each.bates_begin) for each in rows))


def find_rejected(database: sqlite3.Connection, key: str | None) -> tuple[int, str] | None:
    """Return the line and the code of the first rejected row with this control number or begin Bates number."""
    row = database.execute(_FIND_REJECTED, (key,)).fetchone()
    return row and (int(row[0]), str(row[1]))


def _build_row(document: NamedDocument) -> tuple[int, int, str | None, str]:
    return document.line_no, document.exhibit_id, document.key, json.dumps(document.counts)


def _read_row(row: Sequence[Any]) -> NamedDocument:
    return NamedDocument(*row)._replace(counts=json.loads(row[-1]))


@contextmanager
def compared_documents(import_record: Imports, image_key: str | None) -> Iterator[ComparedDocuments]:
    """Read the documents of both load files into a temporary file, which is deleted after the block.

    `image_key` is the column by which the chunks of the image load file found documents of the case.
    """
    with closing(create_database()) as database:
        yield ComparedDocuments(database, import_record, image_key)
