"""Files of the user that other users of the machine cannot read."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_private_file(path: Path, content: str) -> None:
    """Write a file of mode 0600 in place of an earlier one: a reader sees the earlier one or this one, whole.

    On Windows, the folder of the user's profile keeps others out. Raises OSError if the folder cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp creates the file with mode 0600.
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
