"""Handle import requests and completions from the dead-letter queue: retry once, then record their imports as failed.

Guaranteed: an import is recorded as failed only after its request was sent back once, never while a worker splits its
file, not if it has been retried since, and not if its split has got further since its last dead letter: workers that
are killed again and again split a file as long as each of them gets further, and no longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from core.errors import UploadRefusedError
from core.imports.uploads import parse_upload
from core.statuses import ImportStatus
from shell.aws.sqs import send_messages
from shell.imports.completing.completion import fail_completion
from shell.imports.splitting.checkpoint_store import read_progress
from shell.imports.splitting.registration import give_up_split, send_pending_work
from shell.imports.state.records import find_tenant, load_current_import
from shell.imports.upload_matching import get_or_create_import, split_lock
from shell.observability import emit_counts, logger
from shell.outbox.writer import wake_relay
from shell.settings import settings
from shell.work.messages import CompletionMessage, ImportMessage, UploadMessage
from shell.work.redrive import send_back

FAILING_S = 60


def handle_failed_request(message: UploadMessage | ImportMessage) -> None:
    """Send a failed request back the first time; the second time, record its imports as failed.

    An import whose chunks are registered gets messages for its pending work instead. An import that was retried
    since is left unchanged. Raises ImportBusyError while a worker splits the file.
    """
    # An upload has no tenant before its import is created; the query fails while the database is down.
    import_id = message.import_id if isinstance(message, ImportMessage) else 0
    if send_back(message, settings().import_requests_queue_url, partial(find_tenant, import_id)):
        return
    if isinstance(message, ImportMessage):
        _fail_or_resume(message.import_id, message.generation or 1, message.progress)
    else:
        for created in _find_imports(message):
            _fail_or_resume(created)


def handle_failed_completion(message: CompletionMessage) -> None:
    """Send a failed completion back the first time; the second time, record its import as failed."""
    import_id = message.import_id
    if not send_back(message, settings().import_completions_queue_url, partial(find_tenant, import_id)):
        _fail_completion(import_id, message.generation)


def _find_imports(message: UploadMessage) -> Iterator[int]:
    for record in message.records:
        with suppress(UploadRefusedError):
            upload = parse_upload(record)
            import_id = None if upload is None else get_or_create_import(upload)
            if import_id is not None:
                yield import_id


def _fail_or_resume(import_id: int, generation: int = 1, seen: tuple[int, ...] = ()) -> None:
    import_record = load_current_import(import_id)
    if import_record is None:
        return
    if import_record.status == ImportStatus.SPLITTING and import_record.generation <= generation:
        progress = tuple(read_progress(import_id))
        if progress > seen:
            again = ImportMessage(import_id, import_record.generation, redrive=1, progress=progress)
            queue, delay_s = settings().import_requests_queue_url, settings().redrive_delay_seconds
            send_messages(queue, [again], delay_s, import_record.tenant_id)
            return
        with split_lock(import_record, FAILING_S):
            give_up_split(import_id, generation, import_record.split_checkpoint)
        logger.error("import failed in every attempt", extra={"import_id": import_id, "generation": generation})
        wake_relay()
    send_pending_work(import_id, import_record.tenant_id)


def _fail_completion(import_id: int, generation: int) -> None:
    import_record = load_current_import(import_id)
    if import_record is not None and fail_completion(import_record, generation):
        logger.error("completion failed in every attempt", extra={"import_id": import_id, "generation": generation})
        emit_counts(CompletionsFailed=1)
        wake_relay()
