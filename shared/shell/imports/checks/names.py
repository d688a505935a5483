"""Find the names that an import would create, and the spellings that it would merge.

Guaranteed: the database decides which spellings are one name, as in the import; it only reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import TextClause, text

from core.imports.canonical_names import NameOccurrence, resolve_names
from core.imports.chunk_facts import Occurrence
from shell.db.column_limits import column_limits
from shell.db.session import session
from shell.imports.completing.spelling_index import SpellingIndex
from shell.tables.imports import Imports
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

NAMES_PER_STATEMENT = 5_000
SPELLINGS_PER_BATCH = 1_000
STORED_PER_PAGE = 20_000
_HASH_DIGITS = 15


def add_names(index: SpellingIndex, import_record: Imports, occurrences: Sequence[Occurrence]) -> None:
    """Add the names of a chunk; a name that the case does not have gets a negative id."""
    for kind in NAME_KINDS:
        of_kind = [each for each in occurrences if each.kind == kind.table]
        for start in range(0, len(of_kind), NAMES_PER_STATEMENT):
            index.add(_look_up(import_record, kind, of_kind[start : start + NAMES_PER_STATEMENT]))


def resolve_merged(index: SpellingIndex, import_record: Imports) -> None:
    """Add to the index the spellings that the import would not keep."""
    for batch in index.list_unresolved(import_record.id, SPELLINGS_PER_BATCH):
        for kind in NAME_KINDS:
            of_kind = [occurrence for occurrence in batch if occurrence.kind == kind.table]
            index.add_merged(kind.table, resolve_names(of_kind, import_record.id)[1])


def list_names(index: SpellingIndex, import_record: Imports) -> Iterator[tuple[str, str, int]]:
    """Yield the names that the case would have: kind, name, lowest line of the file; 0 if only the case has it."""
    for kind, _, name, line in index.list_kept():
        yield kind, name, line
    for each in NAME_KINDS:
        for name_id, name in _list_stored(each, import_record.case_id):
            if not index.has_name(each.table, name_id):
                yield each.table, name, 0


def _list_stored(kind: NameKind, case_id: int) -> Iterator[tuple[int, str]]:
    after = 0
    while page := _read_stored(kind, case_id, after):
        yield from page
        after = page[-1][0]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_stored(kind: NameKind, case_id: int, after: int) -> list[tuple[int, str]]:
    statement = text(
        f"SELECT id, name FROM {kind.table} WHERE case_id = :case_id AND id > :after ORDER BY id LIMIT :most"  # noqa: S608
    )
    with session() as reading:
        rows = reading.execute(statement, {"case_id": case_id, "after": after, "most": STORED_PER_PAGE})
        return [(row.id, row.name) for row in rows]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _look_up(import_record: Imports, kind: NameKind, names: Sequence[Occurrence]) -> list[NameOccurrence]:
    values = {"case_id": import_record.case_id, "names": json.dumps([each.name for each in names])}
    with session() as reading:
        rows = reading.execute(_build_lookup(kind), values).all()
    return list(_build_occurrences(import_record, kind, names, rows))


def _build_occurrences(
    import_record: Imports, kind: NameKind, names: Sequence[Occurrence], rows: Iterable[Any]
) -> Iterator[NameOccurrence]:
    for row in rows:
        each = names[row.position - 1]
        stored = (row.id, row.name, row.import_id, row.line_no)
        if row.id is None:
            # Equal names have one weight, so they get one id.
            new_id = -1 - int(row.weight[:_HASH_DIGITS], 16)
            stored = (new_id, each.name, import_record.id, each.line_no)
        yield NameOccurrence(kind.table, *stored, each.name, each.line_no, each.column or "")


def _build_lookup(kind: NameKind) -> TextClause:
    """Build the statement that returns each name's row in the case, and the hash of its weights in the collation.

    Equality ignores trailing characters of the weight of a space (MySQL manual, Trailing Space Handling).
    """
    limit = column_limits(kind.table)["name"]
    name = f"CONVERT(requested.name USING {limit.charset}) COLLATE {limit.collation}"
    space = f"WEIGHT_STRING(CONVERT(' ' USING {limit.charset}) COLLATE {limit.collation})"
    return text(f"""
        SELECT requested.position, found.id, found.name, found.import_id, found.line_no,
               SHA2(TRIM(TRAILING {space} FROM WEIGHT_STRING({name})), 256) AS weight
        FROM JSON_TABLE(:names, '$[*]' COLUMNS (
               position FOR ORDINALITY, name VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$')) AS requested
        LEFT JOIN {kind.table} AS found ON found.case_id = :case_id AND found.name = {name}
        ORDER BY requested.position
    """)  # noqa: S608 - our tables, and the server's names of character sets
