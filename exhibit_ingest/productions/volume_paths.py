"""Paths of a volume on this machine.

Guaranteed: whatever the API names, a file is written below the folder of the volume or not at all; no name means
another place on any of Linux, macOS and Windows, and no file takes the place of another where the case of letters does
not count.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from exhibit_ingest.errors import CommandError
from exhibit_ingest.printable import shorten_printable

# What Windows and macOS take for a separator, a drive, a stream or a wildcard, and control characters.
_FORBIDDEN = re.compile(r'[\\:*?"<>|\x00-\x1f\x7f]')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_LONGEST = 1_024


def resolve_path(root: Path, path: str) -> Path:
    """Return the place of a file below a folder; raise CommandError for a path that could lead to another place."""
    parts = path.split("/")
    if len(path) > _LONGEST or not all(map(_is_name, parts)):
        raise _refuse(path)
    place = root.joinpath(*parts)
    # A link in the folder, from whomever it has it, may lead out of it.
    if not place.parent.resolve().is_relative_to(root.resolve()) or place.is_symlink():
        raise _refuse(path)
    return place


class Places:
    """The places of the files of a volume below a folder, which must exist."""

    def __init__(self, root: Path) -> None:
        self._root = root
        # Of 100,000s of files, the hashes are enough.
        self._seen: set[int] | None = set() if _ignores_case(root) else None

    def add(self, path: str) -> Path:
        """Return the place of a file; raise CommandError for a path that could lead to another file's, or elsewhere."""
        place = resolve_path(self._root, path)
        if self._seen is not None:
            key = hash(unicodedata.normalize("NFC", path).casefold())
            if key in self._seen:
                raise CommandError(
                    f"Two files of the volume have the path {shorten_printable(path, 200)!r}, but for upper and lower"
                    f" case, which the disk of {self._root} does not tell apart. Download it to another disk or system."
                )
            self._seen.add(key)
        return place


def _ignores_case(folder: Path) -> bool:
    """Return whether a name in other letters leads to the same folder; one without letters cannot say it."""
    other = folder.resolve().parent / folder.resolve().name.swapcase()
    return other.name != folder.resolve().name and other.exists() and other.samefile(folder)


def _is_name(part: str) -> bool:
    is_plain = part not in ("", ".", "..") and not part.endswith((".", " "))
    return is_plain and _FORBIDDEN.search(part) is None and _DEVICE.fullmatch(part) is None


def _refuse(path: str) -> CommandError:
    return CommandError(
        f"The API names a file {shorten_printable(path, 200)!r}, whose path could lead out of the folder of the volume."
        " Nothing is written there. Check the address of the stack, and ask its operator."
    )
