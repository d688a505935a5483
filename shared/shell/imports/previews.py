"""Preview the file of an import for the API.

Guaranteed: at most the first 16 MB of the uploaded version are read, and nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel
from sqlalchemy import text

from core.caller import Caller
from core.contracts.imports.previews import ImportPreview
from core.contracts.queries import PreviewQuery
from core.errors import InvalidInputError, WrongStateError
from core.imports.findings import list_choices
from core.imports.preview import Preview, build_preview
from core.imports.profile_options import merge_profile
from core.imports.uploads import build_placeholder_key
from core.load_file.dialect import HEAD_BYTES, read_head
from core.load_file.options import ImportOptions, parse_options
from core.statuses import ImportKind
from shell.aws.s3 import ObjectVersion
from shell.db.column_limits import column_limits
from shell.db.session import session
from shell.exhibits.cases import WALL, WALL_CASES, wall_values
from shell.imports.image_previews import detect_images, preview_images
from shell.imports.profiles import find_profile, suggest_profiles
from shell.imports.rows.preview_rows import make_converter
from shell.imports.splitting.image_split import build_not_images
from shell.imports.splitting.split import refuse_large_file
from shell.imports.state.access import build_not_found
from shell.imports.state.given_options import read_given_options
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_OBJECTS = {"columns": '{"Doc ID":"control_number"}', "date_format": '{"date_sent":"%d.%m.%Y"}'}
_UPLOAD = text(
    "SELECT i.bucket, i.object_key, i.version_id, i.etag, i.options, i.upload_id, i.upload_key, "  # noqa: S608
    "i.corrects_import_id, i.id, i.volume_id, i.kind "
    "FROM imports AS i JOIN cases AS c ON c.id = i.case_id "
    f"WHERE i.id = :import_id AND i.tenant_id = :tenant_id AND {WALL}"
).bindparams(WALL_CASES)


def preview_import(caller: Caller, import_id: int, query: PreviewQuery) -> ImportPreview:
    """Return how an import would read the uploaded file with its options, or with those of the query instead.

    Raises NotFoundError for an import or profile that the tenant does not have, WrongStateError if the file is not
    uploaded, InvalidInputError for `columns` that are not JSON, and FileRefusedError with the code of the import.
    """
    upload, profile = _load(caller, import_id, query.profile)
    options = parse_options(_combine(upload, profile, read_query(query)))
    source = ObjectVersion(*upload[:4])
    size = source.get_size()
    refuse_large_file(size)
    return build_response(caller, read_head(_read_blocks(source, size), size), size, options, upload)


def build_response(caller: Caller, head: bytes, size: int, options: ImportOptions, upload: Any = None) -> ImportPreview:
    """Return the preview of a file of `size` bytes that begins with `head`, with the profiles that match it.

    `upload` is the row of its import, None before there is one. Raises FileRefusedError with the code of the import.
    """
    preview = _build_preview(head, size, options, upload)
    suggested = _suggest(caller, preview.header_fingerprint)
    found = {**asdict(preview), "suggested_profiles": suggested}
    for option, choices in list_choices().items():
        found["detection"][option]["choices"] = [each._asdict() for each in choices]
    return ImportPreview.model_validate(found)


def _build_preview(head: bytes, size: int, options: ImportOptions, upload: Any) -> Preview:
    file = detect_images(head, size, options, in_volume=upload is not None and upload.volume_id is not None)
    if file.kind is not None:
        return preview_images(head, size, options, file, upload and upload.id)
    if upload is not None and upload.kind == ImportKind.IMAGES:
        raise build_not_images(file)
    return build_preview(head, size, options, make_converter(column_limits))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load(caller: Caller, import_id: int, profile: str | None) -> tuple[Any, tuple[str, int, str] | None]:
    """Return the upload, and name, version and options of the profile with this name, if one is named."""
    with session() as reading:
        place = {"import_id": import_id, "tenant_id": caller.tenant_id, **wall_values(caller)}
        upload = reading.execute(_UPLOAD, place).one_or_none()
        if upload is None:
            raise build_not_found()
        if upload.upload_id is not None and bytes(upload.upload_key) == build_placeholder_key(upload.upload_id):
            raise WrongStateError("The file of the import is not uploaded yet; upload it, then preview it.")
        if upload.corrects_import_id is not None:
            raise WrongStateError("A correction is read as the file that it corrects; preview that.")
        found = find_profile(reading, caller, profile) if profile is not None else None
        return upload, (found.name, found.version, found.options) if found else None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _suggest(caller: Caller, header_fingerprint: str | None) -> list[Any]:
    with session() as reading:
        return suggest_profiles(reading, caller, header_fingerprint)


def _combine(upload: Any, profile: tuple[str, int, str] | None, given: dict[str, Any]) -> object:
    if profile is not None:
        name, version, options = profile
        return merge_profile(name, version, json.loads(options), given)
    document = read_given_options(upload.options, upload.bucket, upload.object_key)
    if not isinstance(document, dict) or not isinstance(document.get("columns", {}), dict):
        return document
    columns = {**document.get("columns", {}), **given.get("columns", {})}
    return {**document, **given, "columns": columns}


def read_query(query: PreviewQuery) -> dict[str, Any]:
    """Return the options of the query as an options document."""
    document = query.model_dump(by_alias=False, exclude_none=True, exclude={"profile"})
    if query.header is not None:
        document["header"] = query.header == "true"
    for name, example in _OBJECTS.items():
        if name in document:
            document[name] = _read_object(name, document[name], example)
    return document


def _read_object(name: str, text_value: str, example: str) -> dict[str, Any]:
    try:
        found = json.loads(text_value)
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError(f"{to_camel(name)}: send a JSON object, such as {example}.") from exc
    if not isinstance(found, dict):
        raise InvalidInputError(f"{to_camel(name)}: send a JSON object, such as {example}.")
    return found


def _read_blocks(source: ObjectVersion, size: int) -> Iterator[bytes]:
    """Yield the blocks that an import reads; the next one is not read before it is needed."""
    for start in range(0, size, HEAD_BYTES):
        yield source.read(start, min(size, start + HEAD_BYTES))
