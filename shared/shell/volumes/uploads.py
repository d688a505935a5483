"""Create volumes, declare their files, and sign the URLs of their uploads.

Guaranteed: a file has the declared size and, if it was stated and the file is not sent in parts, the declared SHA-256,
and cannot be replaced by means of its URL; declaring a file again returns a URL for the same upload; the stored
response contains no URL. Files are declared only before the volume is sealed, and no URL is signed once its deletion
has begun. Not guaranteed: that no other client puts objects under the volume's prefix.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports import SINGLE_PUT_BYTES, UploadUrls
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
    choose_part_bytes,
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
from shell.volumes.queries import build_volume_not_found, has_imports, require_volume

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
    multipart_id = create_multipart_upload(bucket, row.archive_key) if size >= SINGLE_PUT_BYTES else None
    return PendingArchive(bucket=bucket, object_key=row.archive_key, size=size, multipart_id=multipart_id)


def sign_stored_volume(document: str) -> CreatedVolume:
    """Return the volume of a `PendingVolume` in JSON, with URLs that are valid for UPLOAD_URL_SECONDS.

    Raises WrongStateError for a zip whose deletion has begun since: a request is repeated with its key.
    """
    pending = PendingVolume.model_validate_json(document)
    archive, fields = pending.archive, pending.model_dump(exclude={"archive"})
    if archive is None:
        return CreatedVolume(**fields, upload=None)
    _refuse_deleted(pending.id)
    upload = _sign(archive.bucket, archive.object_key, archive.size, archive.multipart_id)
    return CreatedVolume(**fields, upload=upload)


def declare_files(transaction: Session, caller: Caller, volume_id: int, files: Sequence[NewVolumeFile]) -> PendingFiles:
    """Declare files of a volume, again or for the first time, in the same few statements for any number of files.

    Of a list whose URLs do not fit into a response, the first files are declared; `remaining` counts the others, of
    which nothing is stored. All paths are checked.

    Raises NotFoundError for a volume of others, WrongStateError unless it takes files, AlreadyExistsError for a path
    that was declared with another size or hash, InvalidInputError for a path that cannot be one of a volume, or is
    there twice, and for too many URLs.
    """
    if sum(file.urls for file in files) > MAX_URLS:
        raise InvalidInputError(
            f"The files need more than {MAX_URLS} URLs, one for each part of a large file; declare fewer at once."
        )
    if len({file.path for file in files}) < len(files):
        raise InvalidInputError("A path is there twice; declare every file once.")
    require_volume(transaction, caller, volume_id)
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
    fitting = files[: _count_fitting(volume.prefix, files)]
    known = _read_declared(transaction, volume_id, fitting)
    added = [file for file in fitting if file.path not in known]
    _insert(transaction, volume, added)
    if added:
        record_act(
            transaction, caller, Act(ActKind.VOLUME_FILES_DECLARED, volume_id, volume.case_id, {"files": len(added)})
        )
    else:
        record_no_act(transaction)
    known = _read_declared(transaction, volume_id, fitting)
    items = [_match(file, known[file.path]) for file in fitting]
    remaining = len(files) - len(fitting)
    return PendingFiles(bucket=settings().bucket, prefix=volume.prefix, items=items, remaining=remaining)


def _count_fitting(prefix: str, files: Sequence[NewVolumeFile]) -> int:
    """Return how many files of the list fit into a response; always one, whose URLs fit by MAX_URLS."""
    ends = accumulate(file.estimate_response_bytes(prefix) for file in files)
    return max(1, sum(end <= MAX_RESPONSE_BYTES for end in ends))


def _require_open(transaction: Session, volume: Volumes) -> None:
    if volume.archive_key is not None:
        raise WrongStateError("The volume is a zip and takes no single files; create one without archive for them.")
    is_failed = volume.status == VolumeStatus.FAILED and not has_imports(transaction, volume.id)
    if volume.status != VolumeStatus.OPEN and not is_failed:
        raise _build_closed(volume.status)


def _build_closed(status: str) -> WrongStateError:
    return WrongStateError(f"The volume has the status {status} and takes no more files; create another one.")


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _refuse_deleted(volume_id: int) -> None:
    """Raise WrongStateError for a volume whose deletion has begun; it deletes what is put with earlier URLs only."""
    with session() as reading:
        status = reading.execute(_STATUS, {"volume_id": volume_id}).scalar_one()
    if status in (VolumeStatus.DELETING, VolumeStatus.DELETED):
        raise _build_closed(status)


def _hash(path: str) -> bytes:
    return hashlib.sha256(path.encode()).digest()


def _read_declared(transaction: Session, volume_id: int, files: Sequence[NewVolumeFile]) -> dict[str, VolumeUploads]:
    hashes = [_hash(file.path) for file in files]
    query = select(VolumeUploads).where(VolumeUploads.volume_id == volume_id, is_in(VolumeUploads.path_hash, hashes))
    return {row.path: row for row in transaction.scalars(query)}


def _insert(transaction: Session, volume: Volumes, files: Sequence[NewVolumeFile]) -> None:
    columns = ("volume_id", "path_hash", "path", "size", "sha256", "multipart_id")
    bucket, rows = settings().bucket, list[tuple[Any, ...]]()
    for file in files:
        multipart_id = create_multipart_upload(bucket, volume.prefix + file.path) if file.in_parts else None
        sha256 = bytes.fromhex(file.sha256) if file.sha256 else None
        rows.append((volume.id, _hash(file.path), file.path, file.size, sha256, multipart_id))
    insert_missing(transaction, VolumeUploads.__tablename__, columns, rows, key=2)


def _match(file: NewVolumeFile, row: VolumeUploads) -> PendingFile:
    sha256 = row.sha256.hex() if row.sha256 else None
    if (file.size, file.sha256) != (row.size, sha256):
        raise AlreadyExistsError(
            f"{shorten_name(file.path)} was declared before with another size or hash ({row.size} bytes,"
            f" {sha256 or 'no hash'}). Declare it with these, or create another volume."
        )
    return PendingFile(path=file.path, size=file.size, sha256=sha256, multipart_id=row.multipart_id)


def sign_stored_files(volume_id: int, document: str) -> FileUploads:
    """Return the URLs of a `PendingFiles` of the volume in JSON, valid for UPLOAD_URL_SECONDS.

    Raises WrongStateError if its deletion has begun since: a request is repeated with its key.
    """
    _refuse_deleted(volume_id)
    pending = PendingFiles.model_validate_json(document)
    items = [FileUpload(path=file.path, size=file.size, upload=_sign_file(pending, file)) for file in pending.items]
    return FileUploads(items=items, remaining=pending.remaining)


def _sign_file(pending: PendingFiles, file: PendingFile) -> UploadUrls:
    sha256 = bytes.fromhex(file.sha256) if file.sha256 else None
    return _sign(pending.bucket, pending.prefix + file.path, file.size, file.multipart_id, sha256)


def _sign(bucket: str, key: str, size: int, multipart_id: str | None, sha256: bytes | None = None) -> UploadUrls:
    if multipart_id is None:
        return sign_put(bucket, key, size, sha256)
    return sign_parts(bucket, key, multipart_id, size, choose_part_bytes(size))
