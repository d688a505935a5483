"""Settling chunks, and what the last of them does for the whole import.

Guaranteed: exactly one transaction finds that no chunk is left, and it completes the import: counts are summed, every
custodian and tag that the import created has the spelling of its lowest line, names that nothing is linked to are
gone, and `import.completed` is in the outbox. All of it commits with that chunk, or not at all. An import that is
completed once more, after a retry, comes out as if its first completion had not been.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.orm import Session

from core.errors import ImportNotRunningError
from core.events import import_completed
from core.naming import MergedName, Sighting, settle_names
from core.reasons import WarningCode
from core.statuses import ChunkStatus, ImportStatus
from shell.counting_ops import totals_of
from shell.outbox_ops import append_events
from shell.tables.imports import Imports
from shell.utils.bulk_insert import insert_new
from shell.utils.db_helpers import changed_rows

REJECTION_COLUMNS = (
    *("import_id", "line_no", "seq", "chunk_no", "column_name", "code", "message", "control_number"),
    *("byte_start", "byte_len"),
)
# Rows of one line are numbered from 0 by the chunk; the completion's come behind them.
MERGED_NAMES_FROM = 1_000_000
# What refers to a name, by which column.
LINKS = {
    "custodians": dict.fromkeys(("custodian_exhibits", "custody_periods", "custody_changes"), "custodian_id"),
    "tags": {"taggings": "tag_id"},
}

_SETTLE = text(
    "UPDATE import_chunks SET status = :status, imported = :imported, unchanged = :unchanged, updated = :updated, "
    "rejected = :rejected, warnings = :warnings, settled_at = NOW(6) "
    "WHERE import_id = :import_id AND chunk_no = :chunk_no"
)
_COUNT_DOWN = text("UPDATE imports SET chunks_left = chunks_left - 1 WHERE id = :import_id AND status = 'running'")
_STANDING = text("SELECT status, chunks_left, generation FROM imports WHERE id = :import_id")
_FORGET_MERGED = text("DELETE FROM import_warnings WHERE import_id = :import_id AND seq >= :merged_from")
_COMPLETE = text(
    "UPDATE imports SET status = :status, imported = :imported, unchanged = :unchanged, updated = :updated, "
    "rejected = :rejected, warnings = :warnings, custodians_created = :custodians, tags_created = :tags, "
    "finished_at = NOW(6) WHERE id = :import_id"
)


@dataclass(frozen=True)
class Counts:
    """The rows of a chunk by what became of them, and its warnings."""

    imported: int
    unchanged: int
    updated: int
    rejected: int
    warnings: int


def settle_chunk(
    transaction: Session,
    the_import: Imports,
    chunk_no: int,
    status: ChunkStatus,
    counts: Counts,
    generation: int | None = None,
) -> bool:
    """Record a chunk as `done` or `failed` and count it down; the last one, for which it is True, completes the import.

    Last in its transaction, because the import's row is what all chunks meet on. Raises ImportNotRunningError, for the
    caller to roll back, also where the import was retried since the `generation` that is given.
    """
    place = {"import_id": the_import.id, "chunk_no": chunk_no}
    transaction.execute(_SETTLE, {"status": status.value, **asdict(counts), **place})
    counted = transaction.execute(_COUNT_DOWN, {"import_id": the_import.id})
    standing = transaction.execute(_STANDING, {"import_id": the_import.id}).one()
    # Read behind the count-down, which holds the import's row: before it, a retry could still come in between.
    if changed_rows(counted) != 1 or generation not in (None, standing.generation):
        raise ImportNotRunningError(standing.status)
    if standing.chunks_left == 0:
        complete_import(transaction, the_import, standing.generation)
    return bool(standing.chunks_left == 0)


def complete_import(transaction: Session, the_import: Imports, generation: int) -> None:
    """What is done once all chunks are settled; the caller's transaction holds the import's row."""
    if generation > 1:
        # The chunks that came in since may have changed which spelling is kept, and where it is first.
        transaction.execute(_FORGET_MERGED, {"import_id": the_import.id, "merged_from": MERGED_NAMES_FROM})
    _settle_spellings(transaction, the_import)
    drop_unused_names(transaction, the_import)
    totals = totals_of(transaction, the_import.id)
    status = ImportStatus.COMPLETED_WITH_REJECTIONS if totals["rejected"] else ImportStatus.COMPLETED
    transaction.execute(_COMPLETE, {"status": status.value, "import_id": the_import.id, **totals})
    counts = {name: value for name, value in totals.items() if name not in LINKS}
    append_events(
        transaction, [import_completed(the_import.id, the_import.tenant_id, status.value, generation, counts)]
    )


def _settle_spellings(transaction: Session, the_import: Imports) -> None:
    """Give the names that the import created the spelling of their lowest line, and warn of the other spellings."""
    sightings = _sightings(transaction, the_import)
    for kind in LINKS:
        corrections, merged = settle_names((seen for seen in sightings if seen.kind == kind), the_import.id)
        if corrections:
            rows = json.dumps([c._asdict() for c in corrections], ensure_ascii=False)
            transaction.execute(_correct(kind), {"corrections": rows})
        _warn_of_merged(transaction, the_import, kind, merged)


def _correct(kind: str) -> TextClause:
    """One statement for any number of names; in this order of the join it locks no other row."""
    return text(f"""
        UPDATE JSON_TABLE(:corrections, '$[*]' COLUMNS (
                 id BIGINT PATH '$.id',
                 name VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$.name',
                 line_no BIGINT PATH '$.line_no')) AS wanted
        STRAIGHT_JOIN {kind} AS kept FORCE INDEX (PRIMARY) ON kept.id = wanted.id
        SET kept.name = wanted.name, kept.line_no = wanted.line_no, kept.version = kept.version + 1
    """)  # noqa: S608 - our tables


def _sightings(transaction: Session, the_import: Imports) -> list[Sighting]:
    """Every spelling of every name, with its lowest line; the database says which spellings are one name."""
    statement = text(" UNION ALL ".join(map(_spellings_of, LINKS)))
    rows = transaction.execute(statement, {"case_id": the_import.case_id, "import_id": the_import.id})
    return [
        Sighting(
            *(row.kind, row.id, row.name, row.import_id, row.line_no, bytes(row.spelling).decode()),
            *(int(row.first_seen[:20]), row.first_seen[20:]),
        )
        for row in rows
    ]


def _spellings_of(kind: str) -> str:
    return f"""
        SELECT '{kind}' AS kind, found.id, found.name, found.import_id, found.line_no,
               CAST(seen.name AS BINARY) AS spelling,
               MIN(CONCAT(LPAD(seen.line_no, 20, '0'), COALESCE(seen.column_name, ''))) AS first_seen
        FROM import_names AS seen
        JOIN {kind} AS found ON found.case_id = :case_id AND found.name = seen.name
        WHERE seen.import_id = :import_id AND seen.kind = '{kind}'
        GROUP BY found.id, found.name, found.import_id, found.line_no, CAST(seen.name AS BINARY)
    """  # noqa: S608 - our tables


def _warn_of_merged(transaction: Session, the_import: Imports, kind: str, merged: list[MergedName]) -> None:
    columns = (
        *("import_id", "line_no", "seq", "chunk_no", "column_name", "code", "message"),
        *("original", "original_bytes", "stored_bytes"),
    )
    base = MERGED_NAMES_FROM * (1 + list(LINKS).index(kind))
    rows = [
        (
            *(
                the_import.id,
                name.line_no,
                base + order,
                0,
                name.column,
                WarningCode.NAME_MERGED.value,
                _merged_into(name.kept),
            ),
            *(name.spelling.encode(), len(name.spelling.encode()), len(name.kept.encode())),
        )
        for order, name in enumerate(merged)
    ]
    insert_new(transaction, "import_warnings", columns, rows)


def _merged_into(kept: str) -> str:
    return f'the database holds this name equal to "{kept}", which is kept'


def drop_unused_names(transaction: Session, the_import: Imports) -> None:
    """Remove names that this import created and nothing links to.

    They are locked before they are looked at again: a link that somebody else is about to commit holds a shared lock
    on its name, and somebody may have asked for it by name meanwhile, so that it is the import's no longer.
    """
    statement = " UNION ALL ".join(
        f"SELECT '{kind}' AS kind, id FROM {kind} WHERE import_id = :import_id AND {_unlinked(kind)}"  # noqa: S608
        for kind in LINKS
    )
    candidates = transaction.execute(text(statement), {"import_id": the_import.id}).all()
    for kind in LINKS:
        ids = sorted(row.id for row in candidates if row.kind == kind)
        if ids:
            # Off the key: a scan of a small table would wait for names that nobody asked about.
            rows = f"FROM {kind} FORCE INDEX (PRIMARY) WHERE id IN :ids AND import_id = :import_id"
            lock = text(f"SELECT id {rows} ORDER BY id FOR UPDATE")
            drop = text(f"DELETE {kind} {rows} AND {_unlinked(kind)}")
            for each in (lock, drop):
                values = {"ids": ids, "import_id": the_import.id}
                transaction.execute(each.bindparams(bindparam("ids", expanding=True)), values)


def _unlinked(kind: str) -> str:
    links = [f"SELECT 1 FROM {table} WHERE {table}.{column} = {kind}.id" for table, column in LINKS[kind].items()]  # noqa: S608
    return " AND ".join(f"NOT EXISTS ({link})" for link in links)
