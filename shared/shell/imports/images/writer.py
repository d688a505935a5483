"""Write one chunk of an image load file, or check it: all of its documents in one transaction, or none.

Guaranteed: only the worker that holds the lock on the chunk's row writes it; a COMMIT of unknown outcome is resolved by
that row. Documents are locked in the order of their ids before anything is written; each one whose pages change gets
one version more and one row of history in the same transaction. The number of statements does not depend on the number
of documents, but for one more with each megabyte of pages.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from core.errors import ImportNotRunningError
from core.exhibit_history import PAGE_SET, Action, Change, Key, Kind, Stated
from core.statuses import ChunkStatus, ImportPhase
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.exhibits.history import Author, NewEntry, write_entries
from shell.imports.chunks.results import write_unchanged
from shell.imports.chunks.writer import WriteResult, emit_row_counts, find_result
from shell.imports.images.decisions import ImageResults, Target, decide
from shell.imports.images.identical import mark_identical
from shell.imports.images.page_facts import pack_page_facts
from shell.imports.images.page_store import insert_pages, set_page_sets
from shell.imports.images.reader import ImageChunk
from shell.imports.images.results import (
    build_findings,
    build_outcome,
    build_rejections,
    build_warnings,
    count_pages,
    list_documents,
    tally_paths,
)
from shell.imports.state.claims import accept_lines
from shell.imports.state.codes import count_chunk, list_kinds
from shell.imports.state.findings import write_findings
from shell.imports.state.progress import CHUNKS, ChunkOutcome, RejectionRow, WarningRow, complete_chunk
from shell.outbox.writer import wake_relay
from shell.utils.db_helpers import retry_on_db_conflict
from shell.volume_files.chunk_counts import store_counts
from shell.work.units import UnitEndedError

_KEY = Key(Kind.FIELD, PAGE_SET)


def finish_images(images: ImageChunk) -> str:
    """Write or check the chunk; return its status, or that of an import that is not running any more.

    Raises ChunkBusyError while another worker holds the chunk, StorageUnavailableError if S3 fails.
    """
    mark_identical(images.import_record, images.layout, images.documents)
    result = write_images(images)
    if result.has_events:
        wake_relay()
    return result.status


@retry_on_db_conflict(resolve=find_result)
def write_images(images: ImageChunk) -> WriteResult:
    """Write or check the chunk in one transaction; raise ChunkBusyError while another worker holds it."""
    chunk, is_check = images.chunk, images.import_record.phase == ImportPhase.CHECK
    try:
        with session() as transaction:
            CHUNKS.lock(transaction, chunk.import_id, chunk.chunk_no)
            results = decide(transaction, images, locked=not is_check)
            outcome = (_write_findings if is_check else _write)(transaction, images, results)
            _store_counts(transaction, images, results, is_check=is_check)
            complete_chunk(transaction, images.import_record, chunk.chunk_no, outcome)
    except (UnitEndedError, ImportNotRunningError) as stopped:
        return WriteResult(stopped.status)
    if not is_check:
        emit_row_counts(images.import_record.tenant_id, outcome.counts)
    return WriteResult(ChunkStatus.DONE, has_events=bool(outcome.events))


def _write_findings(transaction: Session, images: ImageChunk, results: ImageResults) -> ChunkOutcome:
    write_findings(transaction, list(build_findings(images, results)))
    warnings = len(results.replaced) + sum(len(target.read.warnings) for target in results.list_accepted())
    return build_outcome(images, results, warnings, with_events=False)


def _write(transaction: Session, images: ImageChunk, results: ImageResults) -> ChunkOutcome:
    _write_pages(transaction, images, [*results.imported, *results.updated])
    rejections = list(build_rejections(images, results))
    insert_new(transaction, "import_rejections", RejectionRow._fields, rejections)
    write_unchanged(transaction, images.chunk, [each.exhibit.id for each in results.unchanged if each.exhibit])
    accept_lines(transaction, images.import_record, [each.read.document.line_no for each in results.list_accepted()])
    warnings = list(build_warnings(images, results))
    insert_new(transaction, "import_warnings", WarningRow._fields, warnings)
    count_chunk(transaction, images.chunk, list_kinds(rejections, warnings))
    return build_outcome(images, results, len(warnings), with_events=True)


def _write_pages(transaction: Session, images: ImageChunk, targets: Sequence[Target]) -> None:
    """Insert the pages, have the documents point to them, and write their history."""
    new = insert_pages(transaction, images, [target.read for target in targets])
    page_sets: dict[int, int | None] = {}
    entries = []
    for read, exhibit in sorted(targets, key=lambda target: target.exhibit.id if target.exhibit else 0):
        if exhibit is None:
            continue
        page_sets[exhibit.id] = page_set = new[read.document.line_no]
        old = None if exhibit.page_set_id is None else str(exhibit.page_set_id)
        changes = {_KEY: Change(old, str(page_set))}
        entries.append(NewEntry(exhibit.id, exhibit.version + 1, changes, read.document.line_no, Stated()))
    set_page_sets(transaction, page_sets)
    write_entries(transaction, Author(Action.OVERLAID, images.import_record.user_id, images.chunk.import_id), entries)


def _store_counts(transaction: Session, images: ImageChunk, results: ImageResults, *, is_check: bool) -> None:
    """Store the counts, and which files of the volume any document of the chunk names.

    A check is compared with that of the data file, whose documents the case may not hold yet.
    """
    named = (file.file_no for read in images.documents for file in read.files if file)
    is_compared = is_check and images.import_record.after_import_id is not None
    documents = list_documents(images, results) if is_compared else None
    counts, tally = count_pages(images, results), tally_paths(images, results)
    pages = pack_page_facts(images.documents)
    store_counts(transaction, images.chunk, counts, named, documents, paths=tally, pages=pages)
