"""Fold the counts of an import's chunks into sums, once no chunk is left, so that a reader reads few rows.

Guaranteed: the sums of the folded chunks and the counts of the others add up at each commit, because a window of chunks
and the mark of its end (`imports.codes_folded`) commit together, under the lock on the import's row, with its status
and generation. A window that is repeated adds nothing. What an earlier version wrote without counts is counted first.
A retry voids the sums; the counts of the chunks stay.
"""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from shell.db.session import session
from shell.imports.state.codes import FOLDED, IS_MISSING, count_chunks, count_file
from shell.imports.state.completion_lock import lock_completing
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

ROWS_PER_WINDOW = 5_000
CHUNKS_PER_WINDOW = 500
_MISSING = text(
    "SELECT chunk.chunk_no FROM import_chunks AS chunk WHERE chunk.import_id = :import_id AND chunk.chunk_no > :after "  # noqa: S608
    f"AND {IS_MISSING} ORDER BY chunk.chunk_no LIMIT :most"
)
_MARK = text("SELECT codes_generation, codes_folded FROM imports WHERE id = :import_id")
_ADOPT = text("UPDATE imports SET codes_generation = -generation, codes_folded = 0 WHERE id = :import_id")
_END_OF_WINDOW = text(
    "SELECT chunk_no FROM import_codes FORCE INDEX (PRIMARY) WHERE import_id = :import_id AND chunk_no > :after "  # noqa: S608
    f"AND chunk_no < {FOLDED} ORDER BY chunk_no LIMIT 1 OFFSET :most"
)
_DELETE_SUMS = text(f"DELETE FROM import_codes WHERE import_id = :import_id AND chunk_no = {FOLDED}")  # noqa: S608
# In the order of chunks, which is that of lines: the first line and its message stay.
_FOLD = text(
    "INSERT INTO import_codes (import_id, chunk_no, kind, code, column_name, errors, row_count, first_line, message) "  # noqa: S608
    f"SELECT :import_id, {FOLDED}, part.kind, part.code, part.column_name, SUM(part.errors), "
    "SUM(part.row_count), MIN(part.first_line), "
    "SUBSTRING(MIN(CONCAT(LPAD(part.first_line, 20, '0'), part.message)), 21) "
    "FROM import_codes AS part FORCE INDEX (PRIMARY) "
    "WHERE part.import_id = :import_id AND part.chunk_no > :after AND part.chunk_no <= :end "
    "GROUP BY part.kind, part.code, part.column_name ON DUPLICATE KEY UPDATE "
    "errors = import_codes.errors + VALUES(errors), row_count = import_codes.row_count + VALUES(row_count)"
)
_FOLDED = text("UPDATE imports SET codes_folded = :end WHERE id = :import_id")


def fold_codes(import_id: int, generation: int) -> None:
    """Fold the counts of an import that has no chunk left, if they are more than one window.

    Raises ImportNotRunningError if the import is not being completed in this generation any more.
    """
    after: int | None = 0
    while after is not None:
        after, is_large = _count_missing(import_id, generation, after)
    while is_large:
        is_large = _fold_window(import_id, generation)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _count_missing(import_id: int, generation: int, after: int) -> tuple[int | None, bool]:
    """Count the next chunks after this one that an earlier version wrote; return the last of them, None at the end.

    Return, too, whether there is a window to fold, at the end.
    """
    with session() as transaction:
        lock_completing(transaction, import_id, generation)
        place = {"import_id": import_id}
        chunks = transaction.scalars(_MISSING, {**place, "after": after, "most": CHUNKS_PER_WINDOW}).all()
        count_chunks(transaction, import_id, chunks)
        if chunks:
            return int(chunks[-1]), False
        mark = transaction.execute(_MARK, place).one()
        if abs(mark.codes_generation) != generation:
            count_file(transaction, import_id)
            transaction.execute(_ADOPT, place)
        return None, bool(mark.codes_folded) or _find_end(transaction, import_id, 0) is not None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _fold_window(import_id: int, generation: int) -> bool:
    """Fold the chunks after those that are folded; return whether there are more of them."""
    with session() as transaction:
        lock_completing(transaction, import_id, generation)
        after = int(transaction.execute(_MARK, {"import_id": import_id}).one().codes_folded)
        end = _find_end(transaction, import_id, after)
        if end is None and not after:
            return False
        if not after:
            transaction.execute(_DELETE_SUMS, {"import_id": import_id})
        place = {"import_id": import_id, "end": FOLDED - 1 if end is None else end}
        transaction.execute(_FOLD, {**place, "after": after})
        transaction.execute(_FOLDED, place)
    return end is not None


def _find_end(transaction: Session, import_id: int, after: int) -> int | None:
    """Return the chunk with which a whole window ends; None if what is left is less."""
    values = {"import_id": import_id, "after": after, "most": ROWS_PER_WINDOW}
    found = transaction.execute(_END_OF_WINDOW, values).scalar()
    return None if found is None else int(found)
