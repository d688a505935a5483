"""Starting an import: register the upload, settle in one pass what is per file, queue the chunks; and going on with it.

Two kinds of messages come: S3's notifications, and {"import_id": n, "generation": g}, which a retry sends. Either way
the import is read under a lock on its row and taken on from where it stands: split if it is to be split, and a message
for every chunk that is pending. A request is finished only when all of them were sent. Doing any of it again is
harmless.

Of several deliveries at once one splits the file; the others come back when it is done, or was given up. That only
saves work: who registers first is settled by the import's row.
"""

from __future__ import annotations

import json
from typing import Any

from core.errors import FileRefusedError, UploadRefusedError
from core.events import upload_refused
from core.import_options import ImportOptions, parse_options
from core.reasons import FileFailure
from core.statuses import ImportStatus
from core.uploads import MAX_KEY_BYTES, Upload, options_key, parse_upload
from shell.adopting_ops import current_import, import_of, named_import, only_splitter
from shell.observability import logger
from shell.outbox_ops import append_events, nudge_publisher
from shell.registering_ops import fail, pending_chunks, register
from shell.settings import settings
from shell.splitting_ops import split_file
from shell.tables.imports import Imports
from shell.utils.column_limits import column_limits
from shell.utils.db_helpers import retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.keys import unstorable
from shell.utils.object_store import ObjectVersion, read_small
from shell.utils.queues import postpone, send_all

MAX_OPTIONS_BYTES = 1_000_000
# As long as the function may take.
SPLITTING_S = 900


def start_imports(message: dict[str, Any]) -> None:
    """Start or go on with the imports of a message; the test event that S3 sends first names none.

    Raises ImportBusyError while another delivery splits the file, and UnavailableError for the message to come again.
    """
    named = named_import(message)
    if named is not None:
        resume_import(named)
        return
    for record in message.get("Records", []):
        try:
            upload = parse_upload(record)
        except UploadRefusedError as refused:
            _refuse(record, str(refused))
            nudge_publisher()
            continue
        if upload is not None:
            start_import(upload)


def postpone_request(receipt_handle: str, seconds: int) -> None:
    """Have a request come back in so many seconds, not at the end of its visibility."""
    postpone(settings().import_requests_queue_url, receipt_handle, seconds)


def start_import(upload: Upload) -> int:
    """Register the upload, split it unless that is done, and queue its pending chunks; returns the import's id.

    A file that cannot be imported is recorded as failed. Raises what `start_imports` raises.
    """
    import_id = import_of(upload)
    resume_import(import_id)
    return import_id


def resume_import(import_id: int) -> None:
    """Take an import on from where it stands; of one that has ended, or that nobody knows, there is nothing to do."""
    the_import = current_import(import_id)
    if the_import is None:
        logger.warning("no such import", extra={"import_id": import_id})
        return
    if the_import.status == ImportStatus.SPLITTING:
        _split(the_import)
        nudge_publisher()
    sent = send_all(settings().import_chunks_queue_url, pending_chunks(import_id))
    logger.info("chunks queued", extra={"import_id": import_id, "chunks": sent})


def _split(the_import: Imports) -> None:
    """Split the file, unless somebody is at it or has done it; where that cannot be told it is split once more."""
    with only_splitter(the_import, SPLITTING_S):
        now = current_import(the_import.id)
        if now is not None and now.status == ImportStatus.SPLITTING:
            _split_and_register(now)


def _split_and_register(the_import: Imports) -> None:
    try:
        options = _options(the_import)
        user_id = _user_id(the_import, options)
        source = ObjectVersion(the_import.bucket, the_import.object_key, the_import.version_id, the_import.etag)
        with split_file(source, options) as split:
            register(the_import.id, split, user_id)
    except FileRefusedError as refused:
        fail(the_import.id, the_import.generation, refused.code, str(refused))
        logger.info("import failed", extra={"import_id": the_import.id, "code": refused.code})


def _options(the_import: Imports) -> ImportOptions:
    """Those that the file was announced with; else those of the object beside it, if there is one."""
    if the_import.options is not None:
        return parse_options(json.loads(the_import.options))
    key = options_key(the_import.object_key)
    # No object can have a longer key, and to ask for one is an error.
    possible = len(key.encode()) <= MAX_KEY_BYTES
    raw = read_small(the_import.bucket, key, MAX_OPTIONS_BYTES) if possible else None
    if raw is None:
        return ImportOptions()
    try:
        return parse_options(json.loads(raw))
    except (ValueError, RecursionError) as exc:
        raise FileRefusedError(FileFailure.BAD_OPTIONS, f"{key} is not JSON: {exc}") from exc


def _user_id(the_import: Imports, options: ImportOptions) -> str:
    """Who is recorded with the links; a name that the column cannot hold would fail every chunk."""
    if the_import.options is not None:
        return the_import.user_id
    user_id = options.user_id or settings().default_user_id
    reason = unstorable(user_id, column_limits("taggings")["user_id"])
    if reason:
        raise FileRefusedError(FileFailure.BAD_OPTIONS, f"option 'user_id' cannot be stored: {reason[1]}")
    return user_id


# After an unknown COMMIT the message comes again: nothing in the tables tells one refusal from another.
@retry_on_db_conflict
def _refuse(record: dict[str, Any], reason: str) -> None:
    """There is no import to record it against: say so on the topic and in the log."""
    key = str(record.get("s3", {}).get("object", {}).get("key", ""))[:64]
    logger.warning("upload refused", extra={"reason": reason})
    with session() as transaction:
        append_events(transaction, [upload_refused("", key)])
