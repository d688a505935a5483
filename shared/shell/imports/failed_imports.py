"""Handle import requests and completions from the dead-letter queue: retry once, then record their imports as failed.

Guaranteed: an import is recorded as failed only after its request was sent back once, never while a worker splits its
file, not if it has been retried since, and not if its split has got further since its last dead letter: workers that
are killed again and again split a file as long as each of them gets further, and no longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sqlalchemy import select

from core.errors import UploadRefusedError
from core.imports.uploads import parse_upload
from core.statuses import ImportStatus
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.imports.completing.completion import fail_completion
from shell.imports.splitting.checkpoint_store import read_progress
from shell.imports.splitting.registration import build_request, give_up_split, send_pending_work
from shell.imports.state.records import load_current_import
from shell.imports.upload_matching import get_import_id, get_or_create_import, split_lock
from shell.observability import emit_counts, logger
from shell.outbox.writer import wake_relay
from shell.settings import settings
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

FAILING_S = 60


def settle_failed_imports(message: dict[str, Any]) -> None:
    """Send a failed request back the first time; the second time, record its imports as failed.

    An import whose chunks are registered gets messages for its pending work instead. An import that was retried
    since is left unchanged. Raises ImportBusyError while a worker splits the file.
    """
    if int(message.get("redrive", 0)) == 0:
        # While the database is down nothing is sent, and the message stays in the queue: an outage fails no import.
        tenant_id = _find_tenant(message)
        again = {**message, "redrive": 1}
        send_messages(_choose_queue(message), [again], settings().redrive_delay_seconds, tenant_id)
        return
    if _is_completion(message):
        _fail_completion(int(message["import_id"]), int(message["generation"]))
        return
    for import_id in _find_imports(message):
        _fail_or_resume(import_id, int(message.get("generation", 1)), message.get("progress", []))


def _is_completion(message: dict[str, Any]) -> bool:
    return message.get("task") == "complete"


def _choose_queue(message: dict[str, Any]) -> str:
    config = settings()
    return config.import_completions_queue_url if _is_completion(message) else config.import_requests_queue_url


def _find_imports(message: dict[str, Any]) -> Iterator[int]:
    import_id = get_import_id(message)
    if import_id is not None:
        yield import_id
        return
    for record in message.get("Records", []):
        with suppress(UploadRefusedError):
            upload = parse_upload(record)
            if upload is not None:
                yield get_or_create_import(upload)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_tenant(message: dict[str, Any]) -> str | None:
    """Return the tenant of the import that the message names; None if it names none. Fails without the database."""
    with session() as reading:
        return reading.scalar(select(Imports.tenant_id).where(Imports.id == (get_import_id(message) or 0)))


def _fail_or_resume(import_id: int, generation: int, seen: list[int]) -> None:
    import_record = load_current_import(import_id)
    if import_record is None:
        return
    if import_record.status == ImportStatus.SPLITTING and import_record.generation <= generation:
        progress = read_progress(import_id)
        if progress > seen:
            again = build_request(import_record, redrive=1, progress=progress)
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
