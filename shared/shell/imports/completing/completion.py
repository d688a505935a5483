"""Complete an import that has no chunk left: final spellings, unused names, pages that are missing, status, event.

Guaranteed: exactly one transaction for each generation of an import sets the final status and writes
`import.completed`, and it is the last one. Every transaction before it can be repeated, also by several workers at
once, and is part of no other: a worker that is killed anywhere leaves work that the next delivery of the message
repeats or continues. After a cancellation commits, nothing more is written. An import that is completed again after a
retry has the same result as if it had been completed once.
Not guaranteed: that readers see all names change at once. The status stays `running` until all of them have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import text

from core.codes import FileFailure
from core.errors import ImportNotRunningError
from core.events import import_completed, import_failed
from core.imports.columns.warnings import ColumnWarning
from core.statuses import ImportPhase, ImportStatus
from core.volumes.path_tally import PathTally
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.imports.completing.check_comparison import compare_with_check
from shell.imports.completing.column_warnings import find_column_warnings, store_column_warnings
from shell.imports.completing.spellings import resolve_spellings
from shell.imports.completing.unread_families import Unread, find_unread, store_unread
from shell.imports.corrected_images.starting import create_after_images, create_images
from shell.imports.pages.reconciliation import Reconciled, reconcile_pages
from shell.imports.pages.reopening import reopen_images
from shell.imports.state.code_folding import fold_codes
from shell.imports.state.codes import count_file, count_rejections
from shell.imports.state.completion_lock import check_completing, lock_completing
from shell.imports.state.dependents import block_dependents, is_compared_later, lock_before, release_dependents
from shell.imports.state.progress import sum_chunks, sum_imported
from shell.imports.state.records import load_current_import
from shell.imports.state.unused_names import delete_unused, find_unused, find_window
from shell.observability import logger
from shell.outbox.writer import append_events, wake_relay
from shell.tables.imports import Imports
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.path_figures import store_paths, unite_paths
from shell.volume_files.rejected_documents import Renamed, list_pages_of_rejected_rows, rename_rejections
from shell.volume_files.without_images import DocumentsWithoutImages, find_without_images, store_without_images

NAMES_PER_WINDOW = 10_000
_NOT_COMPLETED = (
    "every row was processed, but the last step, which decides how names are spelled, failed in every attempt; retry "
    "the import, and if it fails again ask the operator for the log"
)
_END = (
    "UPDATE imports SET status = :status, failure_code = :code, failure_message = :message, imported = :imported, "
    "unchanged = :unchanged, updated = :updated, rejected = :rejected, warnings = :warnings, "
    "custodians_created = :custodians, tags_created = :tags, finished_at = NOW(6), "
    "codes_generation = IF(:status = 'failed', codes_generation, generation) WHERE id = :import_id"
)


def complete_import(import_id: int, generation: int) -> None:
    """Complete the import; do nothing if it has ended, was retried since `generation`, or has chunks left.

    Raises an UnavailableError for any failure that a later delivery of the message can overcome.
    """
    # A locking read: the message is sent before the transaction of the last chunk commits.
    import_record = load_current_import(import_id)
    if import_record is None:
        logger.warning("import not found", extra={"import_id": import_id})
        return
    try:
        check_completing(import_record, generation)
        resolve_spellings(import_record, generation)
        for kind in NAME_KINDS:
            _delete_unused(kind, import_id, generation)
        for found in list_pages_of_rejected_rows(import_record):
            _rename_rejections(import_record.id, generation, found)
        fold_codes(import_id, generation)
        _finish(import_record, generation, _find_all(import_record, generation))
    except ImportNotRunningError as stopped:
        logger.info("import not completed", extra={"import_id": import_id, "status": stopped.status})
        return
    wake_relay()
    logger.info("import completed", extra={"import_id": import_id, "generation": generation})


def _delete_unused(kind: NameKind, import_id: int, generation: int) -> None:
    after: int | None = 0
    while after is not None:
        after = _delete_window(kind, import_id, generation, after)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _delete_window(kind: NameKind, import_id: int, generation: int, after: int) -> int | None:
    """Delete the unused ones of the next names after the id; return the last id looked at, None at the end."""
    with session() as transaction:
        last, found = find_window(transaction, kind, import_id, after, NAMES_PER_WINDOW)
        unused = find_unused(transaction, kind, import_id, after, last) if found else []
        if unused:
            lock_completing(transaction, import_id, generation)
            delete_unused(transaction, kind, import_id, unused)
    return last if found == NAMES_PER_WINDOW else None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _rename_rejections(import_id: int, generation: int, found: Renamed) -> None:
    with session() as transaction:
        lock_completing(transaction, import_id, generation)
        rename_rejections(transaction, import_id, found)
        count_rejections(transaction, import_id, [line_no for line_no, _ in found])


def _has_ended(import_record: Imports, generation: int, *_: object) -> bool | None:
    """Return True if the import has ended or was retried, else None; wait for a COMMIT that is under way."""
    try:
        with session() as locking:
            lock_completing(locking, import_record.id, generation, ImportPhase(import_record.phase).active_status)
    except ImportNotRunningError:
        return True
    return None


class _Found(NamedTuple):
    """What is found of the whole import before the transaction that ends it."""

    without_images: DocumentsWithoutImages | None
    columns: Sequence[ColumnWarning]
    paths: PathTally | None
    unread: Unread | None
    reconciled: Reconciled | None


def _find_all(import_record: Imports, generation: int) -> _Found:
    columns, paths, unread = find_column_warnings(import_record), unite_paths(import_record), find_unread(import_record)
    if _is_compared_later(import_record, generation):
        return _Found(None, columns, paths, unread, None)
    without_images = find_without_images(import_record)
    return _Found(without_images, columns, paths, unread, reconcile_pages(import_record, generation))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _is_compared_later(import_record: Imports, generation: int) -> bool:
    with session() as reading:
        return is_compared_later(reading, import_record, generation)


@retry_on_db_conflict(resolve=_has_ended)
def _finish(import_record: Imports, generation: int, found: _Found) -> bool:
    """Record the counts and the final status, and write the event."""
    with session() as transaction:
        lock_before(transaction, import_record.id)
        lock_completing(transaction, import_record.id, generation)
        if found.reconciled is not None:
            found.reconciled.store(transaction)
        if found.without_images is not None:
            store_without_images(transaction, import_record.id, found.without_images)
        store_column_warnings(transaction, import_record.id, found.columns)
        store_paths(transaction, import_record.id, found.paths)
        if found.unread is not None:
            store_unread(transaction, import_record, found.unread)
        compare_with_check(transaction, import_record.id)
        count_file(transaction, import_record.id)
        totals = sum_chunks(transaction, import_record.id)
        status = ImportStatus.COMPLETED_WITH_REJECTIONS if totals["rejected"] else ImportStatus.COMPLETED
        ended = {"status": status.value, "code": None, "message": None, "import_id": import_record.id}
        transaction.execute(text(_END), ended | totals)
        tables = {kind.table for kind in NAME_KINDS}
        counts = {name: value for name, value in totals.items() if name not in tables}
        completed = import_completed(import_record.id, import_record.tenant_id, status.value, generation, counts)
        append_events(transaction, [completed])
        act = Act(ActKind.IMPORT_COMPLETED, import_record.id, import_record.case_id, {"status": status.value, **counts})
        record_own_act(transaction, import_record.tenant_id, act)
        create_images(transaction, import_record)
        release_dependents(transaction, import_record.id)
        if import_record.volume_id is not None:
            reopen_images(transaction, import_record.id, generation)
    return True


def fail_completion(import_record: Imports, generation: int) -> bool:
    """Record the import as failed, unless it is not being completed in that generation any more; return whether."""
    try:
        return _fail(import_record, generation)
    except ImportNotRunningError:
        return False


@retry_on_db_conflict(resolve=_has_ended)
def _fail(import_record: Imports, generation: int) -> bool:
    code = FileFailure.NOT_COMPLETED.value
    with session() as transaction:
        lock_before(transaction, import_record.id)
        lock_completing(transaction, import_record.id, generation, ImportPhase(import_record.phase).active_status)
        totals = sum_imported(transaction, import_record.id, ImportPhase(import_record.phase))
        ended = {"status": ImportStatus.FAILED.value, "code": code, "message": _NOT_COMPLETED}
        transaction.execute(text(_END), {**ended, **totals, "import_id": import_record.id})
        append_events(transaction, [import_failed(import_record.id, import_record.tenant_id, code)])
        act = Act(ActKind.IMPORT_FAILED, import_record.id, import_record.case_id, {"code": code})
        record_own_act(transaction, import_record.tenant_id, act)
        create_after_images(transaction, import_record.id)
        block_dependents(transaction, import_record.id)
    return True
