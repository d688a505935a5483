"""Give every name that an import created the spelling of its first line, and warn of the other spellings.

Guaranteed: any part of it can be repeated, also by two workers at once, and the result is the same: a page of
occurrences is only read; the names of a batch are corrected under locks on their rows, in the order of their ids; the
warnings of a range of lines are replaced in one transaction. Each transaction locks the import's row and stops if the
import is not being completed any more. Time, memory and the length of a transaction do not depend on how often a name
occurs: only names with another spelling or line than their row are locked or written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.orm import Session

from core.codes import WarningCode
from core.imports.canonical_names import Correction, MergedName, NameOccurrence, resolve_names
from shell.db.bulk_insert import insert_missing
from shell.db.session import session
from shell.imports.completing.spelling_index import SpellingIndex, spelling_index
from shell.imports.state.codes import count_lines
from shell.imports.state.completion_lock import lock_completing
from shell.imports.state.progress import WarningRow
from shell.tables.imports import Imports
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# Chunks number the warnings of a line from 0, the completion from here: custodians, then tags from the double.
MERGED_NAMES_FROM = 1_000_000
OCCURRENCES_PER_PAGE = 50_000
SPELLINGS_PER_BATCH = 1_000
WARNINGS_PER_BATCH = 5_000
_LAST_LINE = 2**63 - 1

_PAGE_END = text(
    "SELECT chunk_no FROM import_name_occurrences WHERE import_id = :import_id AND chunk_no >= :first "
    "ORDER BY chunk_no, seq LIMIT 1 OFFSET :occurrences"
)
_DELETE_MERGED = text(
    "DELETE FROM import_warnings "
    "WHERE import_id = :import_id AND line_no BETWEEN :first_line AND :last_line AND seq >= :merged_from"
)


def resolve_spellings(import_record: Imports, generation: int) -> None:
    """Correct the import's names and write the warnings of the spellings that are not kept.

    Raises ImportNotRunningError if the import is not being completed any more; what was done by then is consistent.
    """
    with spelling_index() as index:
        first: int | None = 0
        while first is not None:
            occurrences, first = _read_page(import_record, first)
            index.add(occurrences)
        for batch in index.list_unresolved(import_record.id, SPELLINGS_PER_BATCH):
            for kind, merged in _resolve_names(import_record, generation, batch).items():
                index.add_merged(kind, merged)
        _replace_warnings(import_record, generation, index)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_page(import_record: Imports, first: int) -> tuple[list[NameOccurrence], int | None]:
    """Return the spellings of some chunks, each with its lowest line, and the next chunk; None after the last.

    The database decides which spellings are one name.
    """
    place: dict[str, Any] = {"import_id": import_record.id, "first": first}
    with session() as reading:
        end = reading.execute(_PAGE_END, place | {"occurrences": OCCURRENCES_PER_PAGE}).scalar()
        # A chunk is read as a whole.
        following = None if end is None else max(end, first + 1)
        values = {"case_id": import_record.case_id, "end": _LAST_LINE if following is None else following}
        rows = reading.execute(_PAGE, place | values).all()
    return [_build_occurrence(row) for row in rows], following


def _build_occurrence(row: Any) -> NameOccurrence:
    spelling, line, column = bytes(row.spelling).decode(), int(row.first_seen[:20]), row.first_seen[20:]
    return NameOccurrence(row.kind, row.id, row.name, row.import_id, row.line_no, spelling, line, column)


def _select_spellings(kind: NameKind) -> str:
    """Return the SELECT for a page; grouped first, so that a name is looked up once a page however often it occurs."""
    return f"""
        SELECT '{kind.table}' AS kind, found.id, found.name, found.import_id, found.line_no,
               CAST(seen.name AS BINARY) AS spelling, seen.first_seen
        FROM (
          SELECT MIN(name) AS name, MIN(CONCAT(LPAD(line_no, 20, '0'), COALESCE(column_name, ''))) AS first_seen
          FROM import_name_occurrences
          WHERE import_id = :import_id AND chunk_no >= :first AND chunk_no < :end AND kind = '{kind.table}'
          GROUP BY CAST(name AS BINARY)
        ) AS seen
        JOIN {kind.table} AS found ON found.case_id = :case_id AND found.name = seen.name
    """  # noqa: S608 - our tables


_PAGE = text(" UNION ALL ".join(map(_select_spellings, NAME_KINDS)))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _resolve_names(
    import_record: Imports, generation: int, batch: Sequence[NameOccurrence]
) -> dict[str, list[MergedName]]:
    """Correct the names of the batch; return the spellings that are not kept, by kind.

    The rows are read again under their locks: an API request may have taken a name over since the page was read, and
    then its spelling stays.
    """
    merged: dict[str, list[MergedName]] = {}
    with session() as transaction:
        lock_completing(transaction, import_record.id, generation)
        for kind in NAME_KINDS:
            of_kind = [occurrence for occurrence in batch if occurrence.kind == kind.table]
            if of_kind:
                current = _lock_names(transaction, kind, of_kind)
                corrections, merged[kind.table] = resolve_names(current, import_record.id)
                _correct(transaction, kind, corrections)
    return merged


def _lock_names(
    transaction: Session, kind: NameKind, occurrences: Sequence[NameOccurrence]
) -> Iterator[NameOccurrence]:
    """Lock the names in the order of their ids; return the occurrences with the rows as they are now."""
    statement = text(
        f"SELECT id, name, import_id, line_no FROM {kind.table} FORCE INDEX (PRIMARY) WHERE id IN :ids "  # noqa: S608
        "ORDER BY id FOR UPDATE"
    ).bindparams(bindparam("ids", expanding=True))
    ids = sorted({occurrence.id for occurrence in occurrences})
    rows = {row.id: row for row in transaction.execute(statement, {"ids": ids})}
    for each in occurrences:
        row = rows.get(each.id)
        if row is not None:
            yield each._replace(stored_name=row.name, created_by=row.import_id, stored_line=row.line_no)


def _correct(transaction: Session, kind: NameKind, corrections: Sequence[Correction]) -> None:
    if corrections:
        rows = json.dumps([correction._asdict() for correction in corrections], ensure_ascii=False)
        transaction.execute(_build_correction(kind), {"corrections": rows})


def _build_correction(kind: NameKind) -> TextClause:
    """Build one statement for any number of names; the order of its join keeps it from locking other rows."""
    return text(f"""
        UPDATE JSON_TABLE(:corrections, '$[*]' COLUMNS (
                 id BIGINT PATH '$.id',
                 name VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$.name',
                 line_no BIGINT PATH '$.line_no')) AS correction
        STRAIGHT_JOIN {kind.table} AS kept FORCE INDEX (PRIMARY) ON kept.id = correction.id
        SET kept.name = correction.name, kept.line_no = correction.line_no, kept.version = kept.version + 1
    """)  # noqa: S608 - our tables


def _replace_warnings(import_record: Imports, generation: int, index: SpellingIndex) -> None:
    """Write the warnings of the merged names, range of lines after range of lines."""
    first_line = 0
    for batch in index.list_merged(WARNINGS_PER_BATCH):
        last_line = batch[-1][1].line_no
        _replace_range(import_record, generation, (first_line, last_line), list(_build_warnings(import_record, batch)))
        first_line = last_line + 1
    _replace_range(import_record, generation, (first_line, _LAST_LINE), [])


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _replace_range(
    import_record: Imports, generation: int, lines: tuple[int, int], warnings: Sequence[WarningRow]
) -> None:
    """Replace the warnings of merged names on these lines; a worker that repeats it leaves the same rows.

    Only earlier generations can have left others: the chunks of a retry may have changed which spelling is kept, and
    on which line it occurs first.
    """
    if generation == 1 and not warnings:
        return
    with session() as transaction:
        lock_completing(transaction, import_record.id, generation)
        if generation > 1:
            values = {"import_id": import_record.id, "first_line": lines[0], "last_line": lines[1]}
            transaction.execute(_DELETE_MERGED, values | {"merged_from": MERGED_NAMES_FROM})
        insert_missing(transaction, "import_warnings", WarningRow._fields, warnings, key=3)
        count_lines(transaction, import_record.id, *lines, [WarningCode.NAME_MERGED.value])


def _build_warnings(import_record: Imports, batch: Sequence[tuple[str, MergedName]]) -> Iterator[WarningRow]:
    """Yield the rows, numbered by line and kind."""
    first_seq = {kind.table: MERGED_NAMES_FROM * number for number, kind in enumerate(NAME_KINDS, start=1)}
    code = WarningCode.NAME_MERGED.value
    for (_, kind), names in groupby(batch, key=lambda each: (each[1].line_no, each[0])):
        for seq, (_, name) in enumerate(names, start=first_seq[kind]):
            yield WarningRow(
                *(import_record.id, name.line_no, seq, 0, name.column, code),
                message=describe_merged(name.kept),
                original=name.spelling.encode(),
                original_bytes=len(name.spelling.encode()),
                stored_bytes=len(name.kept.encode()),
                stored=name.kept.encode(),
            )


def describe_merged(kept: str) -> str:
    """Return the message for a spelling in place of which another one is kept."""
    return f'This name equals "{kept}" under the database collation; that spelling is kept.'
