"""Messages about files that a load file names: each shows the path as the load file has it, and where a file is."""

from __future__ import annotations

from typing import TypeVar

from core.codes import VolumeCode, WarningCode
from core.volumes.errors import shorten_name
from core.volumes.paths import Elsewhere, PathError

Code = TypeVar("Code", VolumeCode, WarningCode)


def describe_file(text: str, message: str) -> str:
    """Return a message about the file that a path names, with the path: its first 200 characters, quoted."""
    return f"{shorten_name(text)}: {message}"


def describe_path_error(
    text: str, reason: PathError | Elsewhere | None, missing: Code, what: str
) -> tuple[Code | VolumeCode, str]:
    """Return the code and the message for a path without a file; `what` is a file or an image.

    `missing` is the code if the volume does not have it.
    """
    if isinstance(reason, PathError):
        return reason.code, describe_file(text, reason.message)
    message = f"The volume does not have this {what}."
    if reason is None:
        return missing, describe_file(text, f"{message} Add it, or correct the path.")
    more = f" and in {reason.others:,} more places" if reason.others > 1 else " and in one more place"
    where = f"One of its name is {shorten_name(reason.path)}{more if reason.others else ''}."
    advice = "If it is meant, correct the path, or use the options strip_prefix and add_prefix."
    return missing, describe_file(text, f"{message} {where} {advice}")
