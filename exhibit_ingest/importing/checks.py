"""Check the names and files of a command before anything is started, and the case once there is a stack.

Guaranteed: a load file whose names pass is not refused by the stack for a name; a test compares the rules.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.program import format_command
from exhibit_ingest.session.pages import build_query
from exhibit_ingest.volumes.arguments import is_volume

if TYPE_CHECKING:
    from exhibit_ingest.session.session import Session

# Of a tenant, a case and a user.
_MOST_CHARACTERS = {"tenant": 64, "case": 255, "user": 255}
# The names are the path of an object in the storage, which has at most 1,024 bytes; beside them it has 56, with the
# tenant of a user elsewhere, which is not known yet, 120.
_MOST_KEY_BYTES, _OTHER_KEY_BYTES = 1_024, 120
# A claim of a token that begins so could be a list or an object.
_NOT_OF_CLAIMS = ("[", "{", "map[")


def check_name(option: str, value: str) -> None:
    """Raise WrongUsageError for a tenant, case or user that the stack would refuse."""
    error = _find_error(option, value)
    if "/" in value:
        error = "has a slash"
    elif not error and not value.isprintable():
        error = "has a character that cannot be displayed"
    elif not error and option != "case" and (value.startswith(_NOT_OF_CLAIMS) or max(value) > "\uffff"):
        error = "is refused by the API"
    if error:
        raise WrongUsageError(f"--{option} {_quote(value)} {error}; use another name")


def _find_error(option: str, value: str) -> str | None:
    kinds, limit = set(map(category, value)), _MOST_CHARACTERS.get(option)
    if value in ("", ".", ".."):
        return f"is {value or 'empty'}"
    if "Cs" in kinds:
        return "is not valid UTF-8"
    if "Cc" in kinds:
        return "has a control character, such as a line break or tab"
    if value != value.strip():
        return "begins or ends with a space"
    return f"has {len(value)} characters; the limit is {limit}" if limit and len(value) > limit else None


def check_case(session: Session, case: str, *, is_overlay: bool, may_create: bool) -> None:
    """Raise WrongUsageError if the case does not exist and similar ones do, or an overlay needs it.

    `may_create` says that it is created nevertheless. Raises CommandError.
    """
    if may_create and not is_overlay:
        return
    found = session.api.request("GET", f"/cases/similar{build_query({'name': case})}")
    if found["exact"] is not None:
        return
    similar = [str(each["name"]) for each in found["similar"]]
    if is_overlay:
        raise WrongUsageError(_explain_overlay(session, case, similar))
    if similar:
        listed = "; ".join(map(_quote, similar))
        raise WrongUsageError(
            f"there is no case {_quote(case)}, and these have similar names: {listed}. Import into one of them, or add "
            "--create-case to create the case"
        )


def _explain_overlay(session: Session, case: str, similar: list[str]) -> str:
    listing = f"The cases are listed by: {format_command('cases', *session.name_options())}"
    advice = f"Cases with similar names: {', '.join(map(_quote, similar))}" if similar else listing
    return (
        f"there is no case {_quote(case)}, and --mode overlay changes documents of a case; to create documents, "
        f"use --mode append_overlay or no --mode. {advice}"
    )


def check_load_file(file: Path, case: str) -> None:
    """Raise WrongUsageError for a file that cannot be read, or not be uploaded under these names."""
    check_readable(file)
    if error := _find_error("file", file.name):
        raise WrongUsageError(f"the name of the file {_quote(file)} {error}; rename the file")
    if len(f"{case}{file.name}".encode()) + _OTHER_KEY_BYTES > _MOST_KEY_BYTES:
        raise WrongUsageError(f"--case {_quote(case)} is too long together with the file's name; use a shorter one")


def check_readable(file: Path) -> None:
    """Raise WrongUsageError for a path that is not a file that can be read."""
    if not file.exists():
        raise WrongUsageError(f"{_quote(file)} does not exist; check the path")
    if not file.is_file():
        raise WrongUsageError(f"{_quote(file)} is not a file; give the path of a load file")
    if not os.access(file, os.R_OK):
        raise WrongUsageError(f"{_quote(file)} cannot be read; check its permissions")


def check_corrections(files: Collection[Path], corrects: int, profile: str | None) -> None:
    """Raise WrongUsageError where `--corrects` cannot be what it says: the file of an import, read as that one was."""
    advice = f"give the corrected rejected-rows file of import {corrects} alone"
    if len(files) != 1 or any(is_volume(file) for file in files):
        raise WrongUsageError(f"--corrects is for one load file; {advice}")
    if profile is not None:
        raise WrongUsageError(f"--corrects reads the file as import {corrects} was read; leave --profile out")


def _quote(value: object) -> str:
    """Return the value for a message on one line; bytes that are not UTF-8 and control characters are escaped."""
    return repr(str(value))
