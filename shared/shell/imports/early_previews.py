"""Preview a file before it is uploaded, from its first 8 MB, which the client sends alone.

Guaranteed: what is sent lies outside of the imports' prefix, so that no import reads it, and is deleted after a day by
the bucket's lifecycle rule; nothing of it, and nothing that a preview detects, is stored anywhere else. A preview is
that of an import whose file begins with these bytes, and says whether the rest can change it.
Not guaranteed: that the file which is uploaded later begins with these bytes.
"""

from __future__ import annotations

import json
import secrets
from typing import Any

from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.previews import ImportPreview
from core.contracts.imports.uploads import MAX_PREVIEW_BYTES, NewPreview, PendingPreview, PreviewUpload
from core.contracts.queries import PreviewQuery
from core.errors import NotFoundError, WrongStateError
from core.imports.preview_ids import PreviewId, hash_case, parse_preview_id
from core.imports.profile_options import merge_profile
from core.load_file.options import parse_options
from shell.activity_log import record_no_act
from shell.aws.s3 import read_first_bytes
from shell.case_state.fence import enter_case
from shell.db.session import session
from shell.exhibits.cases import find_case_id, require_case
from shell.imports.previews import build_response, read_query
from shell.imports.profiles import find_profile
from shell.imports.uploads import sign_put
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict


def create_preview(transaction: Session, caller: Caller, body: NewPreview) -> PendingPreview:
    """Choose the place of the file's beginning.

    Raises NotFoundError for a case that the caller is not limited to.
    """
    require_case(caller, body.case)
    case_id = find_case_id(transaction, caller.tenant_id, body.case)
    if case_id is not None:
        enter_case(transaction, case_id)
    record_no_act(transaction)
    preview = PreviewId(secrets.token_urlsafe(24), body.size, hash_case(body.case))
    size = min(body.size, MAX_PREVIEW_BYTES)
    return PendingPreview(
        id=str(preview), bytes=size, bucket=settings().bucket, object_key=preview.build_key(caller.tenant_id)
    )


def sign_stored_preview(document: str) -> PreviewUpload:
    """Return the preview of a `PendingPreview` in JSON, with a URL that is valid for UPLOAD_URL_SECONDS."""
    pending = PendingPreview.model_validate_json(document)
    upload = sign_put(pending.bucket, pending.object_key, pending.bytes)
    return PreviewUpload(id=pending.id, bytes=pending.bytes, upload=upload)


def read_preview(caller: Caller, preview_id: str, query: PreviewQuery) -> ImportPreview:
    """Return how an import would read the file with the options of the query.

    Raises NotFoundError for an id that the caller does not have, and for a profile; WrongStateError if the beginning is
    not there, InvalidInputError for options, and FileRefusedError with the code of the import.
    """
    preview = parse_preview_id(preview_id)
    if preview is None or not (caller.cases is None or preview.is_of(caller.cases)):
        raise _build_not_found()
    options = parse_options(_combine(caller, query))
    head = read_first_bytes(settings().bucket, preview.build_key(caller.tenant_id), MAX_PREVIEW_BYTES)
    if head is None:
        raise WrongStateError(
            "The beginning of the file is not there: upload it, then preview it. It is kept for a day; after that, "
            "create another preview."
        )
    return build_response(caller, head, preview.size, options)


def _build_not_found() -> NotFoundError:
    return NotFoundError("You have no such preview; POST /previews creates one.")


def _combine(caller: Caller, query: PreviewQuery) -> dict[str, Any]:
    given = read_query(query)
    if query.profile is None:
        return given
    name, version, options = _load_profile(caller, query.profile)
    return merge_profile(name, version, json.loads(options), given)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load_profile(caller: Caller, name: str) -> tuple[str, int, str]:
    with session() as reading:
        found = find_profile(reading, caller, name)
        return found.name, found.version, found.options
