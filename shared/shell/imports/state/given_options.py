"""The options of an import: those of its announcement, or of the options object beside its file; with its profile."""

from __future__ import annotations

import json
from typing import Any, cast

from sqlalchemy import text

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.imports.uploads import MAX_KEY_BYTES, build_options_key
from core.load_file.given_columns import ProfileUse
from shell.aws.s3 import read_first_bytes
from shell.db.session import session
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

MAX_OPTIONS_BYTES = 1_000_000
_RECORD = text("UPDATE imports SET profile_name = :name, profile_version = :version WHERE id = :import_id")


def read_given_options(announced: str | None, bucket: str, key: str) -> object:
    """Return the options document of the announcement, else of the options object of this file; {} without either.

    Raises FileRefusedError (BAD_OPTIONS) for an object that is not JSON.
    """
    if announced is not None:
        return cast("dict[str, Any]", json.loads(announced))
    options_key = build_options_key(key)
    # S3 rejects a request for a longer key.
    may_exist = len(options_key.encode()) <= MAX_KEY_BYTES
    raw = read_first_bytes(bucket, options_key, MAX_OPTIONS_BYTES) if may_exist else None
    if raw is None:
        return {}
    try:
        return cast("object", json.loads(raw))
    except (ValueError, RecursionError) as exc:
        raise FileRefusedError(
            FileFailure.BAD_OPTIONS, f"{options_key} is not JSON: {exc}. Upload it again as a JSON object."
        ) from exc


@retry_on_db_conflict(resolve=rerun_if_unknown)
def record_profile(import_id: int, profile: ProfileUse) -> None:
    """Record the profile that an options object names; that of an announcement is recorded with it."""
    with session() as transaction:
        values = {"import_id": import_id, "name": profile.name, "version": profile.version}
        transaction.execute(_RECORD, values)
