"""Undo what one chunk of an import did: all of it and its result in one transaction, or nothing.

Guaranteed: a part that is done stays done, however often its message is delivered; the worker that holds the lock on
the part's row does its work. A dry run does the same and rolls it back to a savepoint, before it records the result.
The documents are found by their import and line: the file is not read, and may be gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import ImportNotRunningError
from core.exhibit_history import Key, Kind
from core.imports.undo import Kept, OtherKind
from core.statuses import ChunkStatus, UndoStatus
from shell.aws.sqs import send_messages
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.exhibits.numbers import delete_claims
from shell.exhibits.updates import lock_exhibits
from shell.families.store import delete_of_lines
from shell.imports.state.claims import reopen_lines
from shell.imports.undo.context import CreatedDocument, KeptDocument, PartResult, UndoContext, read_context
from shell.imports.undo.removal import remove_documents
from shell.imports.undo.restoring import restore_documents
from shell.imports.undo.unchanged import count_unchanged
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tables.undos import ImportUndos
from shell.utils.db_helpers import retry_on_db_conflict
from shell.volume_files.chunk_counts import unlink_files
from shell.work.messages import UndoCompletionMessage, UndoPartMessage
from shell.work.units import UnitEndedError, UnitKind

MAX_NAME_CHARACTERS = 1024
_PATHS = frozenset(Key(Kind.FIELD, name) for name in ("native_path", "text_path"))
_OTHERS = ("import_id", "undo_no", "chunk_no", "kind", "other_import_id", "documents")
_KEPT = (
    *("import_id", "undo_no", "line_no", "seq", "exhibit_id", "control_number", "code", "kind", "name"),
    *("by_user", "by_import", "by_production", "by_document"),
)
_LINES = "import_id = :import_id AND line_no BETWEEN :first_line AND :last_line"
_CREATED = text(
    "SELECT id, line_no, parent_control_number FROM exhibits FORCE INDEX (ix_exhibits_import) "  # noqa: S608
    f"WHERE {_LINES}"
)
_OVERLAID = text(
    f"SELECT exhibit_id, line_no FROM exhibit_changes FORCE INDEX (ix_exhibit_changes_import) WHERE {_LINES} "  # noqa: S608
    "AND undo_no IS NULL"
)
_UNDO = ("import_id", "undo_no")
PARTS = UnitKind("import_undo_parts", (*_UNDO, "chunk_no"), "import_undos", _UNDO, "parts_left")
_NOTHING = PartResult().count()


class PartKey(NamedTuple):
    """The key of a part."""

    import_id: int
    undo_no: int
    chunk_no: int


def build_part_key(message: UndoPartMessage) -> PartKey:
    """Return the key of the part that the message names."""
    return PartKey(message.import_id, message.undo_no, message.chunk_no)


def find_status(part: PartKey) -> str | None:
    """Return the status of a part that is not pending; wait for a transaction that is about to change it."""
    return PARTS.find_end(*part)


@retry_on_db_conflict(resolve=find_status)
def undo_part(part: PartKey) -> str:
    """Do the work of a part; return its status, or that of an undo that does not run.

    Raises ChunkBusyError while another worker holds the part, and another UnavailableError for any failure that a
    later delivery of the message can overcome.
    """
    try:
        with session() as transaction:
            found = PARTS.lock(transaction, *part)
            undo = transaction.get_one(ImportUndos, part[:2])
            if undo.status != UndoStatus.RUNNING:
                return undo.status
            context = read_context(transaction, transaction.get_one(Imports, part.import_id), undo)
            result = _try_part(transaction, context, found)
            insert_new(transaction, "import_undo_kept", _KEPT, list(_build_kept(part, result)))
            others = [(*part, kind.value, other, documents) for (kind, other), documents in result.others.items()]
            insert_new(transaction, "import_undo_others", _OTHERS, others)
            complete_part(transaction, part, ChunkStatus.DONE, context.import_record.tenant_id, result.count())
    except (UnitEndedError, ImportNotRunningError) as stopped:
        return stopped.status
    return ChunkStatus.DONE


def _try_part(transaction: Session, context: UndoContext, part: Any) -> PartResult:
    if not context.undo.dry_run:
        return _do_part(transaction, context, part)
    savepoint = transaction.begin_nested()
    result = _do_part(transaction, context, part)
    savepoint.rollback()
    return result


def _do_part(transaction: Session, context: UndoContext, part: Any) -> PartResult:
    """Lock all documents of the part in the order of their ids; remove some, and restore the others."""
    values = {"import_id": context.import_record.id, "first_line": part.first_line, "last_line": part.last_line}
    created = set(transaction.execute(_CREATED, values).scalars())
    overlaid = {row.exhibit_id: row.line_no for row in transaction.execute(_OVERLAID, values)}
    # Some may be gone: an earlier undo, or that of the import which created them, has removed them.
    locked = lock_exhibits(transaction, created | overlaid.keys())
    result = PartResult()
    if created:
        # Again, under the locks: a user may have attached one of them to another one while this waited.
        rows = transaction.execute(_CREATED, values)
        documents = [CreatedDocument(locked[row.id], row.line_no, row.parent_control_number) for row in rows]
        remove_documents(transaction, context, documents, result)
    others = [locked[each] for each in overlaid if each in locked and each not in created]
    restore_documents(transaction, context, others, overlaid, result)
    stay = sorted(each.exhibit_id for each in result.kept if each.exhibit_id in created)
    delete_claims(transaction, **values, kept=stay)
    for other, found in count_unchanged(transaction, context, part.chunk_no, result).items():
        result.others[OtherKind.UNCHANGED, other] = found
    unchanged = _list_unchanged(created, result.kept)
    delete_of_lines(transaction, **values, kept=unchanged)
    kept = {each.line_no for each in result.kept if each.exhibit_id in unchanged}
    reopen_lines(transaction, context.import_record, part.first_line, part.last_line, kept)
    if context.import_record.volume_id is not None:
        unlink_files(transaction, **values, kept=_list_with_files(created, result.kept))
    return result


def _list_with_files(created: set[int], kept: Iterable[KeptDocument]) -> list[int]:
    """Return the documents that keep the files which the import linked: whose path stays, or that stay as a whole."""
    return sorted(
        each.exhibit_id
        for each in kept
        if each.exhibit_id in created or any(one.key is None or one.key in _PATHS for one in each.kept)
    )


def _list_unchanged(created: set[int], kept: Iterable[KeptDocument]) -> set[int]:
    """Return the documents that stay as they are, so that what the import states about them stays too."""
    return {each.exhibit_id for each in kept if each.exhibit_id in created or any(one.key is None for one in each.kept)}


def complete_part(
    transaction: Session,
    part: PartKey,
    status: ChunkStatus,
    tenant_id: str,
    counts: dict[str, int] | None = None,
    generation: int | None = None,
) -> None:
    """Record the part's end and count it down; with the last part, request the end of the undo.

    Call it last in a transaction. Raises ImportNotRunningError if the undo does not run, WorkRetriedError if it was
    retried since `generation`, and QueueUnavailableError; the caller must then roll back.
    """
    values = {"status": status.value, **(counts or _NOTHING)}
    if PARTS.complete(transaction, part, values, UndoStatus.RUNNING.value, generation):
        undo = transaction.get_one(ImportUndos, part[:2], populate_existing=True)
        completion = UndoCompletionMessage(part.import_id, part.undo_no, undo.generation)
        send_messages(settings().import_completions_queue_url, [completion], tenant_id=tenant_id)


def _build_kept(part: PartKey, result: PartResult) -> Iterator[tuple[Any, ...]]:
    seqs: dict[int, int] = {}
    for document in result.kept:
        for kept in document.kept:
            seq = seqs[document.line_no] = seqs.get(document.line_no, -1) + 1
            what = (part.import_id, part.undo_no, document.line_no, seq, document.exhibit_id, document.control_number)
            yield (*what, kept.code.value, *_describe(kept))


def _describe(kept: Kept) -> tuple[Any, ...]:
    kind, name = (None, None) if kept.key is None else (kept.key.kind.value, kept.key.name[:MAX_NAME_CHARACTERS])
    user, import_id = (None, None) if kept.entry is None else (kept.entry.user_id, kept.entry.import_id)
    return (kind, name, user, import_id, kept.production, kept.child)
