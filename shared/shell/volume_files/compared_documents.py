"""Compare an image load file of a volume with its data file and with its others, all only checked so far.

Guaranteed: keys are compared exactly, with one column for the whole file, as an import would; memory does not grow with
the files. The result does not depend on the order of the chunks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby, islice, starmap
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import text

from core.bates_numbers import MAX_LISTED
from core.load_file.layout import Layout
from core.volumes.documents import NamedDocument, PageOrigin, describe_ambiguous
from shell.db.session import session
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
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
    CREATE TABLE documents (line INTEGER PRIMARY KEY, exhibit INTEGER, key TEXT, counts TEXT, pages TEXT);
    CREATE TABLE covered (line INTEGER PRIMARY KEY);
    CREATE TABLE earlier (target INTEGER, import INTEGER, file TEXT, line INTEGER, counts TEXT, pages TEXT);
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
    CREATE INDEX by_target ON earlier (target);
"""
_BESIDE = text(
    "SELECT id, file_name, layout FROM imports WHERE after_import_id = :after AND id <> :import_id "
    "AND kind = 'images' AND (status = 'checked' OR (status = 'checking' AND chunks_left = 0)) ORDER BY id"
)
_ADD_ROWS = "INSERT INTO rows VALUES (?, ?, ?, ?)"
_ADD_OTHERS = "INSERT INTO others VALUES (?, ?)"
_ADD_REJECTED = "INSERT INTO rejected VALUES (?, ?, ?, ?)"
_FIND_REJECTED = "SELECT line, code FROM rejected WHERE control_number = ?1 OR bates_begin = ?1 ORDER BY line LIMIT 1"
_ADD_DOCUMENTS = "INSERT INTO documents VALUES (?, ?, ?, ?, ?)"
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
# Rows that no document of the image load file names.
_UNNAMED = """
    NOT EXISTS (SELECT 1 FROM documents WHERE key = rows.{column} AND key NOT IN (SELECT key FROM ambiguous))
      AND NOT EXISTS (
        SELECT 1 FROM others JOIN documents ON key = number
        WHERE others.line = rows.line AND '{column}' = 'bates_begin' AND key NOT IN (SELECT key FROM ambiguous)
      )
      AND (exhibit = 0 OR NOT EXISTS (
        SELECT 1 FROM documents WHERE exhibit = rows.exhibit AND key NOT IN (SELECT key FROM ambiguous)
      ))
"""
_WITHOUT = (
    "SELECT line, exhibit, control_number, NULL, NULL FROM rows "  # noqa: S608 - constants
    f"WHERE line NOT IN (SELECT line FROM covered) AND {_UNNAMED} ORDER BY line"
)
_COVER = f"INSERT OR IGNORE INTO covered SELECT line FROM rows WHERE NOT ({_UNNAMED})"  # noqa: S608
# What a document is of: an exhibit, or the row (as a negative number) that will create one.
_TARGETS = """
    SELECT line, key, counts, pages, CASE WHEN exhibit <> 0 THEN exhibit ELSE (
      SELECT CASE WHEN begins.exhibit <> 0 THEN begins.exhibit ELSE -begins.line END FROM begins
      WHERE begins.{column} = key LIMIT 1
    ) END AS target FROM documents WHERE key NOT IN (SELECT key FROM ambiguous)
"""
_ADD_EARLIER = (
    "INSERT INTO earlier SELECT target, ?, ?, line, counts, pages FROM "  # noqa: S608
    f"({_TARGETS}) WHERE target IS NOT NULL"
)
_REPEATED = (
    "SELECT own.line, own.key, own.counts, own.pages, import, file, earlier.line, earlier.counts, earlier.pages "  # noqa: S608
    f"FROM ({_TARGETS}) AS own JOIN earlier USING (target) ORDER BY own.line, import"
)
_ACCEPTED = ("imported", "updated")


class ComparedFile(NamedTuple):
    """An image load file of the volume: its import, its name, and the column by which its chunks found documents."""

    import_id: int
    file_name: str
    image_key: str | None


class RepeatedDocument(NamedTuple):
    """A document that an earlier image load file names, too: `origin` has the pages that it has had from there.

    `is_same`: these are its own pages.
    """

    line_no: int
    key: str
    counts: Mapping[str, int]
    origin: PageOrigin
    is_same: bool


class ComparedDocuments:
    """The rows of the data file beside the documents of an image load file, and those of the others of the volume."""

    def __init__(
        self,
        database: sqlite3.Connection,
        import_record: Imports,
        image_key: str | None,
        beside: Sequence[ComparedFile],
    ) -> None:
        self._database, self._import = database, import_record
        for rows in read_accepted(import_record.after_import_id or 0):
            found = list(rows)
            database.executemany(_ADD_ROWS, (each[:4] for each in found))
            database.executemany(_ADD_OTHERS, ((each.line_no, number) for each in found for number in each.numbers))
        add_rejected(database, import_record.after_import_id or 0)
        for statement in filter(str.strip, _INDEXES.split(";")):
            database.execute(statement)
        for each in beside:
            self._add_beside(each)
        self._read(import_record.id, image_key)

    def _read(self, import_id: int, image_key: str | None) -> None:
        """Read the documents of an image load file in place of those of another one."""
        self._database.execute("DELETE FROM documents")
        self._database.execute("DELETE FROM ambiguous")
        for documents in read_accepted(import_id):
            self._database.executemany(_ADD_DOCUMENTS, (_build_row(each) for each in documents))
        self._column = self._choose_column()
        if self._column == _BATES_BEGIN:
            self._database.execute(_FIND_AMBIGUOUS, (image_key == _BATES_BEGIN,))

    def _add_beside(self, beside: ComparedFile) -> None:
        self._read(beside.import_id, beside.image_key)
        self._database.execute(_COVER.format(column=self._column))
        if beside.import_id < self._import.id:
            self._database.execute(_ADD_EARLIER.format(column=self._column), beside[:2])

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

    def list_repeated(self, *, is_overlay: bool) -> Iterator[RepeatedDocument]:
        """Yield the documents that get pages from earlier image load files; in an overlay, later pages replace them."""
        for (line, key, counts), group in groupby(self._select(_REPEATED), key=itemgetter(0, 1, 2)):
            held: Sequence[Any] | None = None
            for row in group:
                own, pages = row[3], row[8]
                if held is None:
                    held = row if any(json.loads(row[7]).get(result) for result in _ACCEPTED) else None
                elif is_overlay and pages != held[8]:
                    held = row
            if held is not None:
                origin = PageOrigin(held[4], held[5], held[6], self._import.after_import_id)
                yield RepeatedDocument(line, key, json.loads(counts), origin, is_same=own == held[8])

    def list_without_images(self) -> Iterator[NamedDocument]:
        """Yield the documents of the data file that no image load file names, and that have no pages."""
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


def _build_row(document: NamedDocument) -> tuple[int, int, str | None, str, str | None]:
    pages = next(iter(document.numbers), None)
    return document.line_no, document.exhibit_id, document.key, json.dumps(document.counts), pages


def _read_row(row: Sequence[Any]) -> NamedDocument:
    return NamedDocument(*row)._replace(counts=json.loads(row[-1]))


@contextmanager
def compared_documents(
    import_record: Imports, image_key: str | None, beside: Sequence[ComparedFile] = ()
) -> Iterator[ComparedDocuments]:
    """Read the documents of the load files into a temporary file, which is deleted after the block.

    `image_key` is the column by which the chunks of the image load file found documents of the case; `beside` are the
    other image load files of the volume, in the order in which they are imported.
    """
    with closing(create_database()) as database:
        yield ComparedDocuments(database, import_record, image_key, beside)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def find_files_beside(import_record: Imports) -> list[ComparedFile]:
    """Return the other image load files of the volume whose chunks are done, in the order of their imports."""
    with session() as reading:
        rows = reading.execute(_BESIDE, {"after": import_record.after_import_id, "import_id": import_record.id})
        return [
            ComparedFile(row.id, row.file_name, Layout.from_json(row.layout or "{}").image_key) for row in rows.all()
        ]
