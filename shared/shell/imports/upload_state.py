"""Read which parts of an upload S3 has, and sign URLs for what is missing, so that it can be resumed on another day.

Guaranteed: a part counts as stored only if S3 has it with the size that it must have; an object that is there with the
announced size is complete, whatever parts are left. Nothing is changed. Not guaranteed: that a stored part or file has
the bytes of the client's file, which only the client can compare; and that an import or volume still takes the file
when the URLs are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import text

from core.caller import Caller
from core.contracts.imports.announcements import SINGLE_PUT_BYTES, UploadUrls
from core.contracts.imports.uploads import StoredPart, UploadProgress, UploadState
from core.errors import AlreadyExistsError, WrongStateError
from core.imports.uploads import build_placeholder_key
from core.statuses import ImportStatus
from shell.aws.multipart_uploads import ListedPart, list_parts
from shell.aws.object_checksums import ObjectChecksum, read_checksum
from shell.aws.s3 import list_objects
from shell.db.session import session
from shell.exhibits.cases import WALL, WALL_CASES, wall_values
from shell.imports.state.access import build_not_found
from shell.imports.uploads import sign_parts, sign_put
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_UPLOAD = text(
    "SELECT i.status, i.bucket, i.object_key, i.upload_id, i.upload_key, i.size, i.multipart_id, i.part_bytes "  # noqa: S608
    "FROM imports AS i JOIN cases AS c ON c.id = i.case_id "
    f"WHERE i.id = :import_id AND i.tenant_id = :tenant_id AND {WALL}"
).bindparams(WALL_CASES)


class Awaited(NamedTuple):
    """An object that is to be uploaded: `size` is None if it was not announced.

    `multipart_id` and `part_bytes` are None for an upload in one request.
    """

    bucket: str
    key: str
    size: int | None
    multipart_id: str | None
    part_bytes: int | None
    sha256: bytes | None = None


def get_upload(caller: Caller, import_id: int) -> UploadState:
    """Return the state of the upload of an import's file.

    Raises NotFoundError for an import that the caller does not have, WrongStateError for one that no longer awaits its
    file and never got it, or that an earlier version announced in parts; otherwise as `read_state`.
    """
    row = _load(caller, import_id)
    size = row.size or None
    if row.upload_id is None or bytes(row.upload_key) != build_placeholder_key(row.upload_id):
        return _read_stored(row.bucket, row.object_key, size)
    if row.status != ImportStatus.AWAITING_UPLOAD:
        raise WrongStateError(f"The import has the status {row.status} and awaits no file; create another import.")
    if row.multipart_id is None and (size or 0) >= SINGLE_PUT_BYTES:
        raise build_earlier_version("POST /imports")
    return read_state(Awaited(row.bucket, row.object_key, size, row.multipart_id, row.part_bytes))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load(caller: Caller, import_id: int) -> Any:
    with session() as reading:
        place = {"import_id": import_id, "tenant_id": caller.tenant_id, **wall_values(caller)}
        row = reading.execute(_UPLOAD, place).one_or_none()
    if row is None:
        raise build_not_found()
    return row


def build_stored(size: int | None, checksum: ObjectChecksum | None = None) -> UploadState:
    """Return the state of a file that is there."""
    return _build(UploadProgress.STORED, size, checksum=checksum)


def _build(
    state: UploadProgress,
    size: int | None,
    parts: Sequence[StoredPart] = (),
    upload: UploadUrls | None = None,
    checksum: ObjectChecksum | None = None,
) -> UploadState:
    algorithm, value = checksum or (None, None)
    return UploadState(
        state=state, size=size, checksum_algorithm=algorithm, checksum=value, parts=list(parts), upload=upload
    )


def _read_stored(bucket: str, key: str, size: int | None) -> UploadState:
    return build_stored(size, read_checksum(bucket, key))


def build_earlier_version(route: str) -> WrongStateError:
    """Return the error for an upload in parts whose parts are not known."""
    return WrongStateError(
        f"The upload was begun by an earlier version, which did not record its parts: repeat {route} with its "
        "Idempotency-Key to get URLs for all of them."
    )


def read_state(awaited: Awaited) -> UploadState:
    """Return what S3 has of the object, and URLs for the rest.

    Raises AlreadyExistsError if an object of another size is there, which no upload can replace,
    StorageUnavailableError if S3 fails.
    """
    stored = (awaited.bucket, awaited.key, awaited.size)
    if _is_stored(awaited):
        return _read_stored(*stored)
    if awaited.multipart_id is None or awaited.part_bytes is None or awaited.size is None:
        upload = sign_put(awaited.bucket, awaited.key, awaited.size, awaited.sha256)
        return _build(UploadProgress.AWAITED, awaited.size, upload=upload)
    listed = list_parts(awaited.bucket, awaited.key, awaited.multipart_id)
    if listed is None and _is_stored(awaited):
        # Completed between the two requests.
        return _read_stored(*stored)
    if listed is None:
        return _build(UploadProgress.EXPIRED, awaited.size)
    place = (awaited.bucket, awaited.key, awaited.multipart_id, awaited.size, awaited.part_bytes)
    parts, upload = _match(listed, sign_parts(*place))
    return _build(UploadProgress.AWAITED, awaited.size, parts, upload)


def _is_stored(awaited: Awaited) -> bool:
    size = next((size for key, size in list_objects(awaited.bucket, awaited.key) if key == awaited.key), None)
    if size is None or awaited.size in (None, size):
        return size is not None
    raise AlreadyExistsError(
        f"The bucket has another file of this name: {size} bytes instead of the announced {awaited.size}. Upload yours "
        "as another import, or into another volume."
    )


def _match(listed: Iterable[ListedPart], upload: UploadUrls) -> tuple[list[StoredPart], UploadUrls]:
    """Return the parts that are there, and the URLs of the others; one of another size has to be sent again."""
    planned = {part.number: part for part in upload.parts or ()}
    there = [part for part in listed if part.number in planned and planned[part.number].size == part.size]
    parts = [
        StoredPart(
            number=part.number,
            first_byte=planned[part.number].first_byte,
            size=part.size,
            etag=part.etag,
            checksum_algorithm=part.algorithm,
            checksum=part.checksum,
            url=planned.pop(part.number).url,
        )
        for part in there
    ]
    return parts, upload.model_copy(update={"parts": list(planned.values())})
