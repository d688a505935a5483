"""Start an import: create its row, split its file, register and queue the chunks; and resume imports.

There are two kinds of messages: notifications of S3, and an `ImportMessage`, which a retry sends, and this module
itself when its time ends before the split or the sending of chunks does. For both the import is read under a lock on
its row and resumed from its status: split if it is not split yet, then a message for every pending chunk or, if none is
left, for its completion. A request is finished only when all messages are sent. Repeating any step is harmless.

Of several concurrent deliveries one splits the file; the others are delivered again when it has finished or failed.
That only saves work: the import's row decides which worker registers the chunks.

While the tenant's status or its limit lets no import begin, a new message with a delay replaces the one that was
received (`shell.tenants.starts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from urllib.parse import unquote_plus

from core.codes import FileFailure
from core.errors import FileRefusedError, SplitPausedError, UploadRefusedError
from core.events import upload_refused
from core.imports.uploads import Upload, find_tenant, parse_upload
from core.load_file.options import ImportOptions, parse_options
from core.statuses import ImportPhase, ImportStatus
from core.tenants.errors import LimitReachedError, StartPostponedError, TenantRefusedError
from shell.aws.object_versions import delete_version
from shell.aws.s3 import ObjectVersion
from shell.aws.sqs import send_messages
from shell.case_state.standing import is_gone
from shell.db.column_limits import column_limits
from shell.db.session import session
from shell.imports.corrected_images.splitting import split_corrected_images
from shell.imports.corrected_images.starting import is_of_corrected
from shell.imports.corrections.uploaded_files import find_correction
from shell.imports.splitting.checkpoints import SplitCheckpoints
from shell.imports.splitting.former_split import delete_former_split
from shell.imports.splitting.image_split import split_images
from shell.imports.splitting.number_keys import look_up_any_number
from shell.imports.splitting.registration import (
    fail_import,
    postpone_during_undo,
    register_chunks,
    send_pending_work,
)
from shell.imports.splitting.split import split_file
from shell.imports.state.facts import choose_phase
from shell.imports.state.given_options import read_given_options, record_profile
from shell.imports.state.records import find_tenant as find_import_tenant
from shell.imports.state.records import load_current_import
from shell.imports.upload_matching import get_or_create_import, split_lock
from shell.observability import logger, name_tenant
from shell.outbox.writer import append_events, wake_relay
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tenants.first_use import require_tenant
from shell.tenants.starts import require_start, send_postponed
from shell.utils.db_helpers import retry_on_db_conflict
from shell.utils.key_validation import key_error
from shell.volume_files.error_files import bind_to_volume
from shell.work.messages import Document, ImportMessage, Message, UploadMessage

# The timeout of the function.
SPLITTING_S = 900


def start_requested_import(message: ImportMessage) -> None:
    """Start or resume the import that a message names. Raises the errors of `start_imports`."""
    with _postponing(message, partial(find_import_tenant, message.import_id)):
        resume_import(message.import_id, message.after_chunk)


def start_imports(message: UploadMessage) -> None:
    """Start or resume the imports of a notification; the test event of S3 names none.

    Raises ImportBusyError while another delivery splits the file, and another UnavailableError for any failure that a
    later delivery of the message can overcome.
    """
    for record in message.records:
        try:
            upload = parse_upload(record)
        except UploadRefusedError as refused:
            _report_refusal(record, str(refused))
            wake_relay()
            continue
        if upload is not None:
            _start_or_refuse(record, upload)


def _start_or_refuse(record: Document, upload: Upload) -> None:
    name_tenant(upload.tenant_id)
    try:
        require_tenant(upload.tenant_id)
    except TenantRefusedError as refused:
        _report_refusal(record, str(refused))
        wake_relay()
        return
    with _postponing(UploadMessage({"Records": [record]}), lambda: upload.tenant_id):
        start_import(upload)


@contextmanager
def _postponing(message: Message, find_owner: Callable[[], str | None]) -> Iterator[None]:
    """Send the message again, with a delay, if what the block starts does not start now."""
    try:
        yield
    except (StartPostponedError, LimitReachedError) as postponed:
        send_postponed(settings().import_requests_queue_url, message, postponed.retry_after_s, find_owner())


def start_import(upload: Upload) -> int | None:
    """Create the upload's import if needed, split the file, and queue the pending chunks; return the import's id.

    Returns None for an upload into a case that is purging or purged, whose object is deleted. Records a file that
    cannot be imported as failed. Raises the errors of `start_imports`, and StartPostponedError or LimitReachedError if
    it does not begin now.
    """
    import_id = get_or_create_import(upload)
    if import_id is None:
        delete_version(upload.bucket, upload.key, upload.version_id)
        return None
    resume_import(import_id)
    return import_id


def resume_import(import_id: int, after_chunk: int = 0) -> None:
    """Split the file if it is not split, and queue the pending work; do nothing for an import that has ended, and in a
    case that is purging or purged.

    Only the chunks after `after_chunk` are queued. If the time ends before, a message requests the rest.
    """
    import_record = load_current_import(import_id)
    if import_record is None or is_gone(import_record.case_id):
        logger.warning("import not found, or of a purged case", extra={"import_id": import_id})
        return
    if import_record.status == ImportStatus.SPLITTING:
        require_start(import_record.tenant_id)
        try:
            _split(import_record)
        except SplitPausedError:
            # A new message, which is received for the first time; the lock on the file is released.
            request = ImportMessage(import_record.id, import_record.generation)
            send_messages(settings().import_requests_queue_url, [request], tenant_id=import_record.tenant_id)
            return
        wake_relay()
    if import_record.status == ImportStatus.RUNNING:
        postpone_during_undo(import_id)
    sent = send_pending_work(import_id, import_record.tenant_id, after_chunk)
    logger.info("chunks queued", extra={"import_id": import_id, "chunks": sent})


def _split(import_record: Imports) -> None:
    """Split the file unless another worker does or did; without the semaphore the file may be split twice."""
    with split_lock(import_record, SPLITTING_S):
        current = load_current_import(import_record.id)
        if current is not None and current.status == ImportStatus.SPLITTING:
            _split_and_register(current)


def _split_and_register(import_record: Imports) -> None:
    delete_former_split(import_record)
    try:
        if is_of_corrected(import_record):
            split_corrected_images(import_record)
            return
        document = read_given_options(import_record.options, import_record.bucket, import_record.object_key)
        correction = find_correction(import_record, document)
        if correction is not None:
            document = correction.resolve_options()
        options = _parse_options(import_record, document)
        user_id = _choose_user_id(import_record, options)
        source = ObjectVersion(
            import_record.bucket, import_record.object_key, import_record.version_id, import_record.etag
        )
        checkpoints = SplitCheckpoints(import_record, options, user_id)
        phase = choose_phase(import_record.wanted, "check" if options.dry_run else import_record.phase)
        bind_to_volume(import_record, options.files.volume)
        if phase is ImportPhase.IMPORT:
            postpone_during_undo(import_record.id)
        images = split_images(import_record, source, options)
        with images or split_file(source, options, checkpoints) as split:
            checkpoints.store_duplicates()
            if correction is not None:
                split.layout = correction.adopt_values(split.layout)
            place = checkpoints.place
            look_up_any_number(import_record.case_id, split, is_whole=place.checkpoint is None)
            register_chunks(place.import_id, split, user_id, place.generation, place.checkpoint, phase, document)
        checkpoints.delete_parts()
    except FileRefusedError as refused:
        fail_import(import_record.id, import_record.generation, refused.code, str(refused))
        logger.info("import failed", extra={"import_id": import_record.id, "code": refused.code})


def _parse_options(import_record: Imports, document: object) -> ImportOptions:
    """Return the options of the import, and record their profile if that is not done."""
    options = parse_options(document)
    if options.profile is not None and import_record.profile_name is None:
        record_profile(import_record.id, options.profile)
    return options


def _choose_user_id(import_record: Imports, options: ImportOptions) -> str:
    """Return the user to record with the links; raise FileRefusedError if its column cannot store it."""
    if import_record.options is not None:
        return import_record.user_id
    user_id = options.user_id or settings().default_user_id
    error = key_error(user_id, column_limits("taggings")["user_id"])
    if error:
        raise FileRefusedError(FileFailure.BAD_OPTIONS, f"Option 'user_id' cannot be stored: {error[1]}")
    return user_id


# Without `resolve`: no row identifies a refusal, so after an unknown COMMIT the message is delivered again.
@retry_on_db_conflict
def _report_refusal(record: Document, reason: str) -> None:
    """Publish an event and write a log entry for an upload that has no import."""
    key = unquote_plus(str(record.get("s3", {}).get("object", {}).get("key", "")))
    logger.warning("upload refused", extra={"reason": reason})
    with session() as transaction:
        append_events(transaction, [upload_refused(find_tenant(key), key[:64], reason)])
