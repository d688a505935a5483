"""Open a file of evidence with the viewer of this machine.

Guaranteed: only a file whose name ends in an extension of OPENED is handed to the system: types that a viewer shows.
Programs, scripts, links, shortcuts, web pages, archives and tables that formulas can be in are not among them, nor is
what is not foreseen here. The file's name is made here, of harmless characters; the file is not executable, and on
Windows it is marked as coming from elsewhere, so that Office opens it protected.
Not guaranteed: that the viewer has no fault, or that a document has no macro; viewers ask before they run one.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

from exhibit_ingest.errors import CommandError

OPENED = frozenset(
    {
        *("pdf", "txt", "log", "tif", "tiff", "jpg", "jpeg", "png", "gif", "bmp", "webp"),
        *("doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "msg", "eml"),
        *("mp3", "wav", "m4a", "mp4", "mov", "webm", "avi"),
    }
)
_MOST_CHARACTERS = 100


def find_extension(path: str) -> str:
    """Return the extension of a path of a load file, in small letters; empty without one of letters and digits."""
    name = path.replace("\\", "/").rpartition("/")[2]
    _, dot, extension = name.rpartition(".")
    is_plain = extension.isascii() and extension.isalnum() and len(extension) <= 10
    return extension.lower() if dot and is_plain else ""


def is_opened(path: str) -> bool:
    """Return whether a file with the extension of this path may be opened."""
    return find_extension(path) in OPENED


def build_file_name(control_number: str, part: str, path: str) -> str:
    """Return a name for a file on any system: letters, digits, `-`, `_` and the extension of the path."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", control_number)[:_MOST_CHARACTERS].strip("_-") or "document"
    # With the part it is not the name of a device of Windows, such as CON.
    name = f"{plain}-{part}"
    extension = find_extension(path)
    return f"{name}.{extension}" if extension else name


def open_file(path: Path) -> None:
    """Open a file with the viewer of the system, and do not wait for it.

    Raises CommandError for a type that is not opened, and if the system has no viewer.
    """
    if not is_opened(path.name):
        raise CommandError(
            f"{path} is not opened: its type is not one that viewers show. Open it yourself if you trust it."
        )
    try:
        _hand_over(path.absolute())
    except OSError as exc:
        raise CommandError(
            f"{path} is saved, but this machine has no viewer for it ({exc.strerror}). Open it elsewhere."
        ) from exc


def _hand_over(path: Path) -> None:
    if sys.platform == "win32":
        # The zone of the internet.
        with contextlib.suppress(OSError):
            Path(f"{path}:Zone.Identifier").write_text("[ZoneTransfer]\r\nZoneId=3\r\n", encoding="ascii")
        os.startfile(path)  # noqa: S606
        return
    program = "open" if sys.platform == "darwin" else "xdg-open"
    subprocess.Popen(
        [program, os.fspath(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
