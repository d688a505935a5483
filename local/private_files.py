"""Files and folders of the state directory that only their owner can read: documents, reports and secrets."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

_SECRET_BYTES = 32


def make_private_folder(folder: Path) -> Path:
    """Create the folder if it is missing, and take it from all users but its owner; return it.

    A folder that belongs to another user stays as it is.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(PermissionError):
        folder.chmod(0o700)
    return folder


def read_or_create_secret(path: Path) -> str:
    """Return the secret in a file that only its owner can read; create the file if it is missing.

    Of concurrent callers the first creates the secret, and all return it. It has hexadecimal digits only.
    """
    make_private_folder(path.parent)
    if not path.exists():
        draft = _write_draft(path, secrets.token_hex(_SECRET_BYTES))
        try:
            _link_if_missing(draft, path)
        finally:
            os.unlink(draft)
    return path.read_text(encoding="ascii")


def write_secret_file(path: Path, content: str) -> None:
    """Write a file that only its owner can read, in place of an earlier one."""
    os.replace(_write_draft(path, content), path)


def _write_draft(path: Path, content: str) -> str:
    # mkstemp creates the file with mode 0600; another name makes it visible with its content, or not at all.
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(content)
    return draft


def _link_if_missing(draft: str, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        return
