"""Announcing a load file, and signing its upload.

Guaranteed: an announced import has its row, with options and user, before anybody can upload its file; what is kept of
it holds no URL, and every answer signs anew; an upload's id cannot be guessed.
Not guaranteed: that the file is what was announced. Its size and content are looked at when it is there.
"""

from __future__ import annotations

import json
import secrets

from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports import (
    PART_BYTES,
    SINGLE_PUT_BYTES,
    ImportUpload,
    NewImport,
    PendingUpload,
    UploadPart,
    UploadUrls,
)
from core.errors import FileRefusedError, InvalidInputError
from core.import_options import parse_options
from core.statuses import ImportStatus
from core.uploads import awaited_key, object_key, parts_of
from shell.case_ops import case_of
from shell.settings import settings
from shell.tables.imports import Imports
from shell.utils.column_limits import column_limits
from shell.utils.keys import unstorable
from shell.utils.presigning import begin_multipart, complete_url, part_url, put_url


def create_import(
    transaction: Session,
    caller: Caller,
    body: NewImport,
    *,
    multipart_from: int = SINGLE_PUT_BYTES,
    part_bytes: int = PART_BYTES,
) -> PendingUpload:
    """Record an import that awaits its file; one of `multipart_from` bytes and more is uploaded in parts.

    S3 is asked first, before a row is locked; what it began for a transaction that is rolled back after all is removed
    by the bucket's rule for incomplete uploads.
    Raises InvalidInputError for options, names or a user that cannot be used, StorageUnavailableError if S3 fails.
    """
    options = _checked_options(body)
    _refuse_unstorable_user(caller)
    upload_id = secrets.token_urlsafe(24)
    bucket, key = settings().bucket, object_key(caller.tenant_id, body.case, upload_id, body.file_name)
    in_parts = body.size is not None and body.size >= multipart_from
    multipart_id = begin_multipart(bucket, key) if in_parts else None
    case_id = case_of(transaction, caller.tenant_id, body.case)
    row = Imports(
        upload_key=awaited_key(upload_id),
        tenant_id=caller.tenant_id,
        case_id=case_id,
        bucket=bucket,
        object_key=key,
        size=body.size or 0,
        file_name=body.file_name,
        user_id=caller.user_id,
        upload_id=upload_id,
        options=options,
        status=ImportStatus.AWAITING_UPLOAD.value,
    )
    transaction.add(row)
    transaction.flush()
    return PendingUpload(
        id=row.id,
        case=body.case,
        case_id=case_id,
        file_name=body.file_name,
        upload_id=upload_id,
        bucket=bucket,
        object_key=key,
        multipart_id=multipart_id,
        size=body.size if in_parts else None,
        part_bytes=part_bytes,
    )


def _checked_options(body: NewImport) -> str:
    document = body.options.as_document()
    try:
        parse_options(document)
    except FileRefusedError as refused:
        raise InvalidInputError(f"options: {refused}") from refused
    return json.dumps(document, ensure_ascii=False)


def _refuse_unstorable_user(caller: Caller) -> None:
    reason = unstorable(caller.user_id, column_limits("taggings")["user_id"])
    if reason:
        raise InvalidInputError(f"the token's user cannot be stored with links: {reason[1]}")


def signed(pending: PendingUpload) -> ImportUpload:
    """The announced import, with URLs that hold from now on for UPLOAD_URL_SECONDS."""
    return ImportUpload(
        id=pending.id,
        status=ImportStatus.AWAITING_UPLOAD,
        case=pending.case,
        case_id=pending.case_id,
        file_name=pending.file_name,
        upload_id=pending.upload_id,
        upload=_urls(pending),
    )


def signed_document(document: str) -> ImportUpload:
    """`signed`, of a `PendingUpload` as JSON."""
    return signed(PendingUpload.model_validate_json(document))


def _urls(pending: PendingUpload) -> UploadUrls:
    place, expires_s = (pending.bucket, pending.object_key), settings().upload_url_seconds
    if pending.multipart_id is None or pending.size is None:
        return UploadUrls(url=put_url(*place), parts=None, complete_url=None, expires_in_seconds=expires_s)
    return UploadUrls(
        url=None,
        parts=[
            UploadPart(**part._asdict(), url=part_url(*place, pending.multipart_id, part.number))
            for part in parts_of(pending.size, pending.part_bytes)
        ],
        complete_url=complete_url(*place, pending.multipart_id),
        expires_in_seconds=expires_s,
    )
