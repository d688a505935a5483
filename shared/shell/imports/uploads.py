"""Announce a load file, and sign the URLs of its upload.

Guaranteed: an announced import has its row, with options and user, before a client can upload its file; the stored
response contains no URL, and every response is signed anew; the id of an upload cannot be guessed.
The file has the announced size, if one was announced, and cannot be replaced by means of its URLs.
Not guaranteed: what the file contains. It is read after the upload.
"""

from __future__ import annotations

import json
import secrets
from datetime import UTC
from typing import NamedTuple

from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.announcements import (
    PART_BYTES,
    SINGLE_PUT_BYTES,
    ImportUpload,
    NewImport,
    PendingUpload,
    UploadPart,
    UploadUrls,
)
from core.contracts.imports.options import Options
from core.contracts.imports.uploads import choose_part_bytes
from core.errors import FileRefusedError, InvalidInputError, NotFoundError
from core.file_options import VolumeUse
from core.imports.profile_options import merge_profile
from core.imports.uploads import build_object_key, build_placeholder_key, split_parts
from core.load_file.given_columns import ProfileUse
from core.load_file.options import parse_options
from core.load_mode import Mode
from core.statuses import ImportPhase, ImportStatus, Wish
from shell.activity_log import Act, ActKind, record_act
from shell.aws.presigned_urls import (
    UPLOAD_HEADERS,
    build_checksum_headers,
    create_multipart_upload,
    presign_complete,
    presign_part,
    presign_put,
)
from shell.exhibits.cases import get_case_id, get_or_create_case, require_case
from shell.exhibits.similar_cases import require_known_case
from shell.imports.corrections.uploaded_files import require_original
from shell.imports.profiles import find_profile
from shell.imports.state.access import require_import
from shell.settings import settings
from shell.tables.imports import Imports
from shell.volume_files.error_files import require_volume


class CheckedOptions(NamedTuple):
    """The options of an import as JSON, and of these the profile, the mode, and the volume of an error file."""

    document: str
    profile: ProfileUse | None
    mode: Mode
    volume: VolumeUse | None


def create_import(
    transaction: Session,
    caller: Caller,
    body: NewImport,
    *,
    multipart_from: int = SINGLE_PUT_BYTES,
    part_bytes: int = PART_BYTES,
) -> PendingUpload:
    """Create an import that awaits its file; a file of `multipart_from` bytes or more is uploaded in parts.

    One with `in_parts` is so from MIN_BYTES_IN_PARTS bytes on, in smaller parts.
    Begins the multipart upload before it locks a row. After a rollback, the bucket's lifecycle rule for incomplete
    uploads deletes it.
    Raises UnknownCaseError for a case that must exist and does not; NotFoundError for a case that the caller is not
    limited to, for a profile that the tenant does not have, for a case that an overlay would have to create, and for a
    volume or an import to be corrected that the case does not have; WrongStateError for a volume that is deleted or not
    ready and for an import whose rows no file can correct, InvalidInputError for invalid options,
    StorageUnavailableError if S3 fails.
    """
    if not body.create_case:
        require_known_case(transaction, caller, body.case)
    require_case(caller, body.case)
    options, profile, mode, volume = check_options(transaction, caller, body.options, body.profile)
    if mode is Mode.OVERLAY:
        require_existing_case(transaction, caller, body.case)
    upload_id = secrets.token_urlsafe(24)
    bucket, key = settings().bucket, build_object_key(caller.tenant_id, body.case, upload_id, body.file_name)
    chosen = choose_part_bytes(body.size, in_parts=True) if body.size and body.in_parts else None
    in_parts = chosen is not None or (body.size is not None and body.size >= multipart_from)
    multipart_id = create_multipart_upload(bucket, key) if in_parts else None
    case_id = get_or_create_case(transaction, caller.tenant_id, body.case)
    if volume is not None:
        require_volume(transaction, caller.tenant_id, case_id, volume.id)
    if body.corrects is not None:
        require_import(transaction, caller, body.corrects)
        require_original(transaction, body.corrects, case_id)
    row = Imports(
        upload_key=build_placeholder_key(upload_id),
        tenant_id=caller.tenant_id,
        case_id=case_id,
        bucket=bucket,
        object_key=key,
        size=body.size or 0,
        file_name=body.file_name,
        user_id=caller.user_id,
        upload_id=upload_id,
        multipart_id=multipart_id,
        part_bytes=(chosen or part_bytes) if in_parts else None,
        options=options,
        profile_name=profile and profile.name,
        profile_version=profile and profile.version,
        corrects_import_id=body.corrects,
        status=ImportStatus.AWAITING_UPLOAD.value,
        wanted=Wish.HOLD.value if body.hold else None,
        phase=(ImportPhase.CHECK if body.dry_run or body.hold else ImportPhase.IMPORT).value,
    )
    transaction.add(row)
    transaction.flush()
    record_act(transaction, caller, Act(ActKind.IMPORT_CREATED, row.id, case_id, {"dryRun": body.dry_run}))
    return PendingUpload(
        id=row.id,
        case=body.case,
        case_id=case_id,
        file_name=body.file_name,
        upload_id=upload_id,
        bucket=bucket,
        object_key=key,
        multipart_id=multipart_id,
        size=body.size,
        part_bytes=chosen or part_bytes,
        started_at=row.started_at.replace(tzinfo=UTC),
    )


def require_existing_case(transaction: Session, caller: Caller, name: str) -> None:
    """Raise NotFoundError, with what to do, if the case does not exist: it would have no exhibit to change."""
    try:
        get_case_id(transaction, caller, name)
    except NotFoundError as exc:
        advice = "An overlay changes exhibits of a case: correct the name, or use the mode append_overlay."
        raise NotFoundError(f"{exc} {advice}") from exc


def check_options(transaction: Session, caller: Caller, given: Options, profile_name: str | None) -> CheckedOptions:
    """Return the options, with the copy of the profile that the request names.

    Raises NotFoundError for a profile that the tenant does not have, InvalidInputError for invalid options.
    """
    document = given.as_document()
    if profile_name is not None:
        profile = find_profile(transaction, caller, profile_name)
        document = merge_profile(profile.name, profile.version, json.loads(profile.options), given.as_given())
    try:
        options = parse_options(document)
    except FileRefusedError as refused:
        raise InvalidInputError(f"options: {refused}") from refused
    text = json.dumps(document, ensure_ascii=False)
    return CheckedOptions(text, options.profile, options.load_mode.mode, options.files.volume)


def sign_upload(pending: PendingUpload) -> ImportUpload:
    """Return the announced import, with upload URLs that are valid for UPLOAD_URL_SECONDS."""
    return ImportUpload(
        id=pending.id,
        status=ImportStatus.AWAITING_UPLOAD,
        case=pending.case,
        case_id=pending.case_id,
        file_name=pending.file_name,
        upload_id=pending.upload_id,
        started_at=pending.started_at,
        upload=_sign_urls(pending),
    )


def sign_stored_upload(document: str) -> ImportUpload:
    """Return `sign_upload` of a `PendingUpload` in JSON."""
    return sign_upload(PendingUpload.model_validate_json(document))


def _sign_urls(pending: PendingUpload) -> UploadUrls:
    if pending.multipart_id is None or pending.size is None:
        return sign_put(pending.bucket, pending.object_key, pending.size)
    return sign_parts(pending.bucket, pending.object_key, pending.multipart_id, pending.size, pending.part_bytes)


def sign_put(bucket: str, key: str, size: int | None, sha256: bytes | None = None) -> UploadUrls:
    """Return the URL of an upload in one request; with `sha256`, S3 accepts no other bytes."""
    return UploadUrls(
        url=presign_put(bucket, key, size, sha256),
        headers={**UPLOAD_HEADERS, **(build_checksum_headers(sha256) if sha256 else {})},
        parts=None,
        complete_url=None,
        expires_in_seconds=settings().upload_url_seconds,
    )


def sign_parts(bucket: str, key: str, multipart_id: str, size: int, part_bytes: int) -> UploadUrls:
    """Return the URLs of an upload in parts."""
    return UploadUrls(
        url=None,
        headers=UPLOAD_HEADERS,
        parts=[
            UploadPart(**part._asdict(), url=presign_part(bucket, key, multipart_id, part.number, part.size))
            for part in split_parts(size, part_bytes)
        ],
        complete_url=presign_complete(bucket, key, multipart_id),
        expires_in_seconds=settings().upload_url_seconds,
    )
