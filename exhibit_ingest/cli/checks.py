"""Check the names and files of a command before anything is started.

Guaranteed: a load file whose names pass is not refused by the functions for a name, because their own rules are used.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection
from pathlib import Path

from core.caller import MAX_USER_CHARACTERS, Caller
from core.case_names import find_similar_names
from core.errors import ForbiddenError, InvalidInputError
from core.imports.uploads import MAX_KEY_BYTES, build_object_key, build_options_key, name_error
from exhibit_ingest.program import format_command
from exhibit_ingest.volumes.arguments import is_volume
from local.errors import UsageError


def check_name(option: str, value: str) -> None:
    """Raise UsageError for a tenant, case or user that the API or the upload would refuse."""
    error = name_error(option, value)
    if "/" in value:
        error = "has a slash"
    elif not error and not value.isprintable():
        error = "has a character that cannot be displayed"
    elif not error and option == "user" and len(value) > MAX_USER_CHARACTERS:
        error = f"has {len(value)} characters; the limit is {MAX_USER_CHARACTERS}"
    elif not error and option != "case" and not _is_accepted(option, value):
        error = "is refused by the API"
    if error:
        raise UsageError(f"--{option} {_quote(value)} {error}; use another name")


def _is_accepted(option: str, value: str) -> bool:
    claims = {"tenant": "tenant", "user": "user"} | {option: value}
    try:
        Caller.from_claims({"tenant": claims["tenant"], "sub": claims["user"]}, "tenant")
    except ForbiddenError:
        return False
    return True


def check_case_exists(names: Collection[str], case: str) -> None:
    """Raise UsageError if the case is not one of these names and some of them are similar; a new name is accepted."""
    similar = [] if case in names else find_similar_names(case, names)
    if similar:
        listed = "; ".join(map(_quote, similar))
        raise UsageError(
            f"there is no case {_quote(case)}, and these have similar names: {listed}. Import into one of them, or add "
            "--create-case to create the case"
        )


def check_overlay_case(names: Collection[str], case: str) -> None:
    """Raise UsageError if the case of an overlay is not one of these names: it would have no document to change."""
    if case not in names:
        similar = ", ".join(map(_quote, find_similar_names(case, names)))
        listing = f"The cases are listed by: {format_command('cases')}"
        advice = f"Cases with similar names: {similar}" if similar else listing
        raise UsageError(
            f"there is no case {_quote(case)}, and --mode overlay changes documents of a case; to create documents, "
            f"use --mode append_overlay or no --mode. {advice}"
        )


def check_load_file(file: Path, tenant: str, case: str) -> None:
    """Raise UsageError for a file that cannot be read, or not be uploaded under these names."""
    check_readable(file)
    if error := name_error("file", file.name):
        raise UsageError(f"the name of the file {_quote(file)} {error}; rename the file")
    _check_key(file, tenant, case)


def check_readable(file: Path) -> None:
    """Raise UsageError for a path that is not a file that can be read."""
    if not file.exists():
        raise UsageError(f"{_quote(file)} does not exist; check the path")
    if not file.is_file():
        raise UsageError(f"{_quote(file)} is not a file; give the path of a load file")
    if not os.access(file, os.R_OK):
        raise UsageError(f"{_quote(file)} cannot be read; check its permissions")


def _check_key(file: Path, tenant: str, case: str) -> None:
    try:
        key = build_object_key(tenant, case, str(uuid.uuid4()), file.name)
    except InvalidInputError as exc:
        raise UsageError(str(exc)) from exc
    if len(build_options_key(key).encode()) > MAX_KEY_BYTES:
        raise UsageError(f"--case {_quote(case)} is too long together with the tenant; use a shorter name")


def _quote(value: object) -> str:
    """Return the value for a message on one line; bytes that are not UTF-8 and control characters are escaped."""
    return repr(str(value))


def check_corrections(files: Collection[Path], corrects: int, profile: str | None) -> None:
    """Raise UsageError where `--corrects` cannot be what it says: the file of an import, read as that import was."""
    advice = f"give the corrected rejected-rows file of import {corrects} alone"
    if len(files) != 1 or any(is_volume(file) for file in files):
        raise UsageError(f"--corrects is for one load file; {advice}")
    if profile is not None:
        raise UsageError(f"--corrects reads the file as import {corrects} was read; leave --profile out")
