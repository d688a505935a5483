"""Create volumes, declare their files, and sign the URLs of their uploads.

Guaranteed: a file has the declared size and, if it was stated and the file is not sent in parts, the declared SHA-256,
and cannot be replaced by means of its URL; declaring a file again returns a URL for the same upload, or none if the
file is stored; the stored response contains no URL. Files are declared only before the volume is sealed, and no URL is
signed once its deletion has begun. Not guaranteed: that no other client puts objects under the volume's prefix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.announcements import UploadUrls
from core.contracts.imports.uploads import choose_part_bytes
from core.contracts.volumes import (
    MAX_RESPONSE_BYTES,
    MAX_URLS,
    CreatedVolume,
    FileUpload,
    FileUploads,
    NewVolume,
    NewVolumeFile,
    PendingArchive,
    PendingFile,
    PendingFiles,
    PendingVolume,
)
from core.errors import AlreadyExistsError, InvalidInputError, WrongStateError
from core.statuses import VolumeStatus
from core.volumes.errors import shorten_name
from core.volumes.keys import build_archive_prefix, build_files_prefix, check_key
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.aws.presigned_urls import create_multipart_upload
from shell.db.bulk_insert import insert_missing
from shell.db.session import session
from shell.exhibits.cases import get_or_create_case, require_case
from shell.exhibits.similar_cases import require_known_case
from shell.imports.uploads import sign_parts, sign_put
from shell.settings import settings
from shell.tables.volumes import Volumes, VolumeUploads
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import is_storable
from shell.volumes.queries import build_volume_not_found, enter_volume
from shell.volumes.upload_state import build_closed, find_stored, get_part_bytes, hash_path, require_taking

# After which the bucket's lifecycle rule deletes an upload in parts that was not completed.
UPLOAD_DAYS = 7
_BEGIN_AGAIN = text(
    "UPDATE volume_uploads SET multipart_id = :new, begun_at = NOW(6) "
    "WHERE volume_id = :volume_id AND path_hash = :path_hash AND multipart_id = :old"
)
_STATUS = text("SELECT status FROM volumes WHERE id = :volume_id")


def create_volume(transaction: Session, caller: Caller, body: NewVolume) -> PendingVolume:
    """Create a volume that awaits its files.

    Raises UnknownCaseError for a case that must exist and does not, NotFoundError for a case that the caller is not
    limited to, InvalidInputError for names that are too long, StorageUnavailableError if S3 fails.
    """
    if not body.create_case:
        require_known_case(transaction, caller, body.case)
    require_case(caller, body.case)
    case_id = get_or_create_case(transaction, caller.tenant_id, body.case)
    owner = {"tenant_id": caller.tenant_id, "case_id": case_id, "user_id": caller.user_id}
    row = Volumes(**owner, name=body.name, prefix="", status=VolumeStatus.OPEN.value)
    transaction.add(row)
    transaction.flush()
    row.prefix = build_files_prefix(caller.tenant_id, body.case, row.id)
    check_key(row.prefix, "a")
    archive = _begin_archive(caller, body, row)
    transaction.flush()
    record_act(transaction, caller, Act(ActKind.VOLUME_CREATED, row.id, case_id))
    return PendingVolume(
        id=row.id,
        status=VolumeStatus.OPEN,
        case=body.case,
        case_id=case_id,
        name=body.name,
        prefix=row.prefix,
        archive=archive,
    )


def _begin_archive(caller: Caller, body: NewVolume, row: Volumes) -> PendingArchive | None:
    if body.archive is None:
        return None
    prefix = build_archive_prefix(caller.tenant_id, body.case, row.id)
    check_key(prefix, body.archive.file_name)
    row.archive_key = prefix + body.archive.file_name
    bucket, size = settings().bucket, body.archive.size
    part_bytes = choose_part_bytes(size, in_parts=body.archive.in_parts)
    multipart_id = create_multipart_upload(bucket, row.archive_key) if part_bytes else None
    row.archive_size, row.archive_multipart_id, row.archive_part_bytes = size, multipart_id, part_bytes
    return PendingArchive(
        bucket=bucket, object_key=row.archive_key, size=size, multipart_id=multipart_id, part_bytes=part_bytes
    )


def sign_stored_volume(document: str) -> CreatedVolume:
    """Return the volume of a `PendingVolume` in JSON, with URLs that are valid for UPLOAD_URL_SECONDS.

    Raises WrongStateError for a zip whose deletion has begun since: a request is repeated with its key.
    """
    pending = PendingVolume.model_validate_json(document)
    archive, fields = pending.archive, pending.model_dump(exclude={"archive"})
    if archive is None:
        return CreatedVolume(**fields, upload=None)
    _refuse_deleted(pending.id)
    parts = (archive.multipart_id, archive.part_bytes)
    upload = _sign(archive.bucket, archive.object_key, archive.size, parts)
    return CreatedVolume(**fields, upload=upload)


def declare_files(transaction: Session, caller: Caller, volume_id: int, files: Sequence[NewVolumeFile]) -> PendingFiles:
    """Declare files of a volume, again or for the first time, in the same few statements for any number of files.

    Of a list whose URLs do not fit into a response, the first files are declared; `remaining` counts the others, of
    which nothing is stored. All paths are checked.

    Raises NotFoundError for a volume of others, WrongStateError unless it takes files, AlreadyExistsError for a path
    that was declared with another size or hash, InvalidInputError for a path that cannot be one of a volume, or is
    there twice, and for too many URLs.
    """
    if sum(file.count_urls(file.part_bytes) for file in files) > MAX_URLS:
        raise InvalidInputError(
            f"The files need more than {MAX_URLS} URLs, one for each part of a large file; declare fewer at once."
        )
    if len({file.path for file in files}) < len(files):
        raise InvalidInputError("A path is there twice; declare every file once.")
    enter_volume(transaction, caller, volume_id)
    # Shared: clients declare files at once, and the seal waits for all of them.
    query = select(Volumes).where(Volumes.id == volume_id).with_for_update(read=True)
    volume = transaction.scalars(query).one_or_none()
    if volume is None:
        raise build_volume_not_found()
    _require_open(transaction, volume)
    for file in files:
        check_key(volume.prefix, file.path)
        if not is_storable(file.path, VolumeUploads.__tablename__, "path"):
            raise InvalidInputError(
                f"The database cannot store a character of {shorten_name(file.path)}; rename the file."
            )
    known = _read_declared(transaction, volume_id, files)
    fitting = files[: _count_fitting(volume.prefix, files, known)]
    _renew_expired(transaction, volume, [known[file.path] for file in fitting if file.path in known])
    added = [file for file in fitting if file.path not in known]
    _insert(transaction, volume, added)
    if added:
        summary = {"files": len(added)}
        record_act(transaction, caller, Act(ActKind.VOLUME_FILES_DECLARED, volume_id, volume.case_id, summary))
    else:
        record_no_act(transaction)
    known = _read_declared(transaction, volume_id, fitting)
    items = [_match(file, known[file.path]) for file in fitting]
    remaining = len(files) - len(fitting)
    return PendingFiles(bucket=settings().bucket, prefix=volume.prefix, items=items, remaining=remaining)


def _count_fitting(prefix: str, files: Sequence[NewVolumeFile], known: Mapping[str, VolumeUploads]) -> int:
    """Return how many files of the list fit into a response; always one, whose URLs fit by MAX_URLS.

    A file that is known keeps the parts that it has.
    """
    parts = [get_part_bytes(known[file.path]) if file.path in known else file.part_bytes for file in files]
    ends = accumulate(file.estimate_response_bytes(prefix, each) for file, each in zip(files, parts, strict=True))
    return max(1, sum(end <= MAX_RESPONSE_BYTES for end in ends))


def _require_open(transaction: Session, volume: Volumes) -> None:
    if volume.archive_key is not None:
        raise WrongStateError("The volume is a zip and takes no single files; create one without archive for them.")
    require_taking(transaction, volume)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _refuse_deleted(volume_id: int) -> None:
    """Raise WrongStateError for a volume whose deletion has begun; it deletes what is put with earlier URLs only."""
    with session() as reading:
        status = reading.execute(_STATUS, {"volume_id": volume_id}).scalar_one()
    if status in (VolumeStatus.DELETING, VolumeStatus.DELETED):
        raise build_closed(status)


def _read_declared(transaction: Session, volume_id: int, files: Sequence[NewVolumeFile]) -> dict[str, VolumeUploads]:
    hashes = [hash_path(file.path) for file in files]
    query = select(VolumeUploads).where(VolumeUploads.volume_id == volume_id, is_in(VolumeUploads.path_hash, hashes))
    return {row.path: row for row in transaction.scalars(query)}


def _insert(transaction: Session, volume: Volumes, files: Sequence[NewVolumeFile]) -> None:
    columns = ("volume_id", "path_hash", "path", "size", "sha256", "multipart_id", "part_bytes", "begun_at")
    bucket, rows = settings().bucket, list[tuple[Any, ...]]()
    for file in files:
        multipart_id = create_multipart_upload(bucket, volume.prefix + file.path) if file.part_bytes else None
        sha256 = bytes.fromhex(file.sha256) if file.sha256 else None
        begun_at = datetime.now(UTC).replace(tzinfo=None) if multipart_id else None
        parts = (multipart_id, file.part_bytes, begun_at)
        rows.append((volume.id, hash_path(file.path), file.path, file.size, sha256, *parts))
    insert_missing(transaction, VolumeUploads.__tablename__, columns, rows, key=2)


def _renew_expired(transaction: Session, volume: Volumes, rows: Sequence[VolumeUploads]) -> None:
    """Begin the multipart uploads again that S3 deletes, because they were not completed in time; one caller does."""
    oldest = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=UPLOAD_DAYS)
    for row in sorted(rows, key=lambda row: row.path_hash):
        if row.begun_at is not None and row.begun_at < oldest:
            begun = {"new": create_multipart_upload(settings().bucket, volume.prefix + row.path)}
            place = {"volume_id": volume.id, "path_hash": row.path_hash, "old": row.multipart_id}
            transaction.execute(_BEGIN_AGAIN, {**place, **begun})
            transaction.expire(row)


def _match(file: NewVolumeFile, row: VolumeUploads) -> PendingFile:
    sha256 = row.sha256.hex() if row.sha256 else None
    if (file.size, file.sha256) != (row.size, sha256):
        raise AlreadyExistsError(
            f"{shorten_name(file.path)} was declared before with another size or hash ({row.size} bytes,"
            f" {sha256 or 'no hash'}). Declare it with these, or create another volume."
        )
    return PendingFile(
        path=file.path,
        size=file.size,
        sha256=sha256,
        multipart_id=row.multipart_id,
        part_bytes=get_part_bytes(row),
    )


def sign_stored_files(volume_id: int, document: str) -> FileUploads:
    """Return the URLs of a `PendingFiles` of the volume in JSON, valid for UPLOAD_URL_SECONDS.

    Raises WrongStateError if its deletion has begun since: a request is repeated with its key.
    """
    _refuse_deleted(volume_id)
    pending = PendingFiles.model_validate_json(document)
    stored = find_stored(pending.bucket, pending.prefix, {file.path: file.size for file in pending.items})
    items = [_describe_file(pending, file, is_stored=file.path in stored) for file in pending.items]
    return FileUploads(items=items, remaining=pending.remaining)


def _describe_file(pending: PendingFiles, file: PendingFile, *, is_stored: bool) -> FileUpload:
    upload = None if is_stored else _sign_file(pending, file)
    return FileUpload(path=file.path, size=file.size, stored=is_stored, upload=upload)


def _sign_file(pending: PendingFiles, file: PendingFile) -> UploadUrls:
    sha256 = bytes.fromhex(file.sha256) if file.sha256 else None
    return _sign(pending.bucket, pending.prefix + file.path, file.size, (file.multipart_id, file.part_bytes), sha256)


def _sign(
    bucket: str, key: str, size: int, parts: tuple[str | None, int | None], sha256: bytes | None = None
) -> UploadUrls:
    """Sign the URLs of a file; `parts` are its multipart upload and their size, which earlier versions do not store."""
    multipart_id, part_bytes = parts
    if multipart_id is None:
        return sign_put(bucket, key, size, sha256)
    return sign_parts(bucket, key, multipart_id, size, part_bytes or choose_part_bytes(size) or size)
