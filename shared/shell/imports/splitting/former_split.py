"""Delete what a former split and check of an import left behind, before its file is split anew.

Guaranteed: each transaction holds the lock on the import's row and deletes only while this generation is being split
and has written nothing: of a worker of another generation nothing is deleted, and no chunk is registered beside old
ones. Deleting again is harmless. What the case has is not touched: nothing of this import was imported.
"""

from __future__ import annotations

from sqlalchemy import text

from core.errors import ImportBusyError, SplitPausedError
from shell.db.session import session
from shell.deadline import build_deadline_check
from shell.imports.splitting.registration import RETRY_AFTER_S
from shell.tables.imports import Imports
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

_PAUSE_S = 60
_LOCK = text(
    "SELECT id FROM imports WHERE id = :import_id AND status = 'splitting' AND generation = :generation "
    "AND split_checkpoint IS NULL FOR UPDATE"
)
# Some rows of blobs at a time, and many of the others.
_ROWS = {
    **dict.fromkeys(("import_chunks", "import_duplicates", "import_warnings", "import_check_findings"), 10_000),
    **dict.fromkeys(("import_name_occurrences", "import_unchanged", "import_codes"), 10_000),
    **dict.fromkeys(("import_column_facts", "import_chunk_files"), 1_000),
    **dict.fromkeys(("import_check_facts", "import_checks", "import_splits", "page_reconciliations"), 100),
}
_DELETE = {
    text(f"DELETE FROM {table} WHERE import_id = :import_id LIMIT :most"): most  # noqa: S608
    for table, most in _ROWS.items()
}


def delete_former_split(import_record: Imports) -> None:
    """Delete the chunks, warnings, findings and facts of earlier generations; the first one has none.

    Raises ImportBusyError if this generation is not to be split from its beginning any more, SplitPausedError if the
    deadline nears before all is deleted.
    """
    if import_record.generation == 1 or import_record.split_checkpoint is not None:
        return
    is_deadline_near = build_deadline_check(_PAUSE_S)
    while _delete_some(import_record.id, import_record.generation):
        if is_deadline_near():
            raise SplitPausedError


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _delete_some(import_id: int, generation: int) -> bool:
    """Delete some rows of each table; return whether there may be more."""
    with session() as transaction:
        if transaction.execute(_LOCK, {"import_id": import_id, "generation": generation}).first() is None:
            raise ImportBusyError(retry_after_s=RETRY_AFTER_S)
        deleted = [
            count_changed_rows(transaction.execute(statement, {"import_id": import_id, "most": most}))
            for statement, most in _DELETE.items()
        ]
    return any(deleted)
