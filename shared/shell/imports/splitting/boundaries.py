"""Find the boundary levels that the commands of an IPRO file leave its pages, in a pass of its own over the file.

Guaranteed: memory does not grow with the file: keys, commands and levels are in temporary files. Keys are compared
exactly. The levels are those of any order of the commands; a file that cannot be read so is refused with the lines.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from typing import IO

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.image_load_file.boundaries import (
    BOUNDARY_COMMANDS,
    PAGE,
    Action,
    Conflict,
    Effect,
    parse_boundary,
    read_page_level,
    resolve_levels,
    show_key,
    split_key,
)
from core.image_load_file.lines import LineBatch, LineStream, parse_line
from core.image_load_file.page_lines import ImageFileKind, SkippedLine
from core.load_file.encoding import replace_surrogates

MOST_LISTED = 5
_BLOCK_BYTES = 1 << 16
# A page is a row, numbered in the order of lines; `prefix` and `number` are those of its key.
_SCHEMA = """
    PRAGMA journal_mode = OFF;
    PRAGMA cache_size = -32000;
    CREATE TABLE pages (
      page INTEGER PRIMARY KEY, line INTEGER, level INTEGER, image_key BLOB, prefix BLOB, number INTEGER
    );
    CREATE TABLE commands (line INTEGER PRIMARY KEY, name TEXT, first BLOB, last BLOB, level INTEGER);
    CREATE VIEW named AS
      SELECT line, name, first AS image_key FROM commands
      UNION ALL SELECT line, name, last FROM commands WHERE name = 'BR';
    CREATE VIEW ranges AS
      SELECT c.line, c.level, b.page AS first, e.page AS last, b.line AS first_line, e.line AS last_line,
        b.prefix AS first_prefix, e.prefix AS last_prefix
      FROM commands AS c JOIN pages AS b ON b.image_key = c.first JOIN pages AS e ON e.image_key = c.last
      WHERE c.name = 'BR';
"""
_INDEX = "CREATE INDEX pages_by_key ON pages (image_key)"
_UNKNOWN = """
    SELECT line, name, image_key FROM named
    WHERE NOT EXISTS (SELECT 1 FROM pages WHERE pages.image_key = named.image_key) ORDER BY line LIMIT ?
"""
_REPEATED = """
    SELECT n.line, n.name, n.image_key, MIN(p.line), MAX(p.line) FROM named AS n
    JOIN pages AS p ON p.image_key = n.image_key
    GROUP BY n.line, n.image_key HAVING COUNT(DISTINCT p.page) > 1 ORDER BY 1 LIMIT ?
"""
_REVERSED = "SELECT line, first_line, last_line FROM ranges WHERE first > last ORDER BY 1 LIMIT ?"
_OUT_OF_ORDER = """
    SELECT before, line FROM (
      SELECT line, number, LAG(number) OVER numbered AS lower, LAG(line) OVER numbered AS before FROM pages
      WHERE prefix IN (SELECT first_prefix FROM ranges UNION SELECT last_prefix FROM ranges)
      WINDOW numbered AS (PARTITION BY prefix ORDER BY page)
    ) WHERE number < lower ORDER BY 2 LIMIT ?
"""
_EFFECTS = """
    SELECT p.page, CASE WHEN c.name = 'BM' AND c.level > 0 THEN 'raise' ELSE 'set' END, c.level, c.line, 0
      FROM commands AS c JOIN pages AS p ON p.image_key = c.first WHERE c.name <> 'BR'
    UNION ALL SELECT first, 'group', level, line, last FROM ranges
    UNION ALL SELECT last + 1, 'raise', level, line, 0 FROM ranges
    ORDER BY 1
"""
_PAGES = "SELECT level, line FROM pages ORDER BY page"
Columns = tuple[object, ...]


@contextmanager
def find_boundaries(
    blocks: Iterable[bytes], encoding: str, mark_bytes: int, line_bytes: int
) -> Iterator[Iterator[int]]:
    """Read the blocks of an IPRO file, and open the levels of its pages, in the order of their lines, for the block.

    Raises FileRefusedError (LFP_BOUNDARIES) for a command that cannot be read, that names a page which the file does
    not have or has twice, or that leaves other documents if another command comes before it.
    """
    # An unnamed database is a file that SQLite creates once its cache is full, and has already unlinked.
    with closing(sqlite3.connect("", isolation_level=None)) as database, tempfile.TemporaryFile() as levels:
        database.executescript(_SCHEMA)
        database.execute("BEGIN")
        _read_lines(database, blocks, LineStream(encoding, mark_bytes, line_bytes), mark_bytes)
        database.execute(_INDEX)
        _refuse(database, _UNKNOWN, _describe_unknown)
        _refuse(database, _REPEATED, _describe_repeated)
        _refuse(database, _REVERSED, _describe_reversed)
        _refuse(database, _OUT_OF_ORDER, _describe_out_of_order)
        _write_levels(database, levels)
        yield _read_levels(levels)


def _read_lines(database: sqlite3.Connection, blocks: Iterable[bytes], lines: LineStream, mark_bytes: int) -> None:
    pages, unreadable = 0, list[tuple[int, str]]()
    mark_left = mark_bytes
    for block in chain(blocks, [None]):
        mark, mark_left = mark_left, max(0, mark_left - len(block or b""))
        for batch in lines.finish() if block is None else lines.feed(block[mark:]):
            read = _Batch(pages)
            read.add(batch)
            database.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)", read.pages)
            database.executemany("INSERT INTO commands VALUES (?, ?, ?, ?, ?)", read.commands)
            pages += len(read.pages)
            unreadable += read.unreadable[: MOST_LISTED - len(unreadable)]
    if unreadable:
        raise _build_refusal(f"Line {line}: {message}" for line, message in unreadable)


class _Batch:
    """The rows of the pages and commands of consecutive lines, and the lines of commands that cannot be read."""

    def __init__(self, first_page: int) -> None:
        self._first_page = first_page
        self.pages: list[Columns] = []
        self.commands: list[Columns] = []
        self.unreadable: list[tuple[int, str]] = []

    def add(self, batch: LineBatch) -> None:
        for line_no, text in enumerate(batch.texts, start=batch.line_no):
            line = SkippedLine() if text is None else parse_line(ImageFileKind.LFP, text)
            if text is None:
                # It cannot be read, and is one of a page all the same.
                self._add_page(line_no, PAGE, "")
            elif not isinstance(line, SkippedLine):
                self._add_page(line_no, read_page_level(text) if line.starts_document else PAGE, line.image_key)
            elif line.command in BOUNDARY_COMMANDS:
                self._add_command(line_no, text)

    def _add_page(self, line_no: int, level: int, key: str) -> None:
        prefix, number = split_key(key) or (None, None)
        raw_prefix = None if prefix is None else _encode(prefix)
        self.pages.append(
            (self._first_page + len(self.pages), line_no, level, _encode(key) if key else None, raw_prefix, number)
        )

    def _add_command(self, line_no: int, text: str) -> None:
        found = parse_boundary(text)
        if isinstance(found, str):
            self.unreadable.append((line_no, found))
        else:
            self.commands.append((line_no, found.name, _encode(found.key), _encode(found.last_key), found.level))


def _write_levels(database: sqlite3.Connection, levels: IO[bytes]) -> None:
    """Write the level of each page as a byte. Raises FileRefusedError for commands that conflict."""
    effects = (
        Effect(page, Action(action), level, line, last)
        for page, action, level, line, last in database.execute(_EFFECTS)
    )
    conflicts, written = list[Conflict](), bytearray()
    for found in resolve_levels(database.execute(_PAGES), effects):
        if isinstance(found, Conflict):
            conflicts.append(found)
            if len(conflicts) == MOST_LISTED:
                break
            continue
        written.append(found)
        if len(written) == _BLOCK_BYTES:
            levels.write(written)
            written.clear()
    if conflicts:
        raise _build_refusal(map(_describe_conflict, conflicts))
    levels.write(written)


def _read_levels(levels: IO[bytes]) -> Iterator[int]:
    levels.seek(0)
    return chain.from_iterable(iter(partial(levels.read, _BLOCK_BYTES), b""))


def _refuse(database: sqlite3.Connection, query: str, describe: Callable[..., str]) -> None:
    found = database.execute(query, (MOST_LISTED,)).fetchall()
    if found:
        raise _build_refusal(describe(*row) for row in found)


def _build_refusal(messages: Iterable[str]) -> FileRefusedError:
    advice = "Correct these lines, or ask the sender which pages each document has."
    text = f"The boundary commands (BF, BM, BR) of the file cannot be applied. {' '.join(messages)} {advice}"
    return FileRefusedError(FileFailure.LFP_BOUNDARIES, text)


def _describe_unknown(line: int, name: str, key: bytes) -> str:
    return f"Line {line}: {name} names the page {_show(key)}, which the file does not have."


def _describe_repeated(line: int, name: str, key: bytes, first: int, last: int) -> str:
    return f"Line {line}: {name} names the page {_show(key)}, which line {first} and line {last} have."


def _describe_reversed(line: int, first: int, last: int) -> str:
    return f"Line {line}: the range begins in line {first}, after its end in line {last}."


def _describe_out_of_order(before: int, line: int) -> str:
    return f"Line {line}: its page is numbered below that of line {before}, so that ranges (BR) have several meanings."


def _describe_conflict(found: Conflict) -> str:
    one, other = sorted(found.commands)
    return f"Line {one} and line {other} change the flag of the page in line {found.line_no} in different ways."


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _show(key: bytes) -> str:
    return show_key(replace_surrogates(key.decode("utf-8", "surrogatepass")))
