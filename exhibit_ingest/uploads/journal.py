"""Which import or volume of a stack a file or folder is being sent to, so that a later command goes on with it.

Guaranteed: an entry is there before the request that it names, and complete or not at all after a power cut; it is
found only for the same stack, the same request (case, names, options) and a file that was not changed; it has no URL,
no token and no content. Not guaranteed: that two commands at once do not send the same parts.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

FOLDER = "uploads"
# The storage deletes parts after seven days; the whole files of a folder stay.
_KEPT_S = 30 * 86_400


@dataclass(frozen=True)
class Entry:
    """An upload that was begun: the key of its announcement, and the number of import or volume once it is known.

    `created` is when that was created: it tells two databases apart.
    """

    key: str
    number: int | None = None
    created: str = ""
    name: str = ""


class Journal:
    """Files below a folder of the configuration, one for each upload that has not ended."""

    def __init__(self, configuration: Path) -> None:
        self._folder = configuration / FOLDER

    def open(self, stack: str, route: str, body: dict[str, Any], fingerprint: str) -> Record:
        """Return the record of an upload: that of an earlier command, or a new one, which is not stored yet."""
        place = json.dumps([stack, route, body, fingerprint], sort_keys=True)
        path = self._folder / f"{hashlib.sha256(place.encode()).hexdigest()}.json"
        self._remove_old()
        name = str(body.get("fileName") or body.get("name") or "")
        return Record(path, _read(path) or Entry(str(uuid.uuid4()), name=name))

    def _remove_old(self) -> None:
        for path in self._folder.glob("*.json"):
            with suppress(OSError):
                if path.stat().st_mtime < time.time() - _KEPT_S:
                    path.unlink()


def _read(path: Path) -> Entry | None:
    """Return an entry; None where there is none, or one that a later version wrote."""
    with suppress(OSError, ValueError, TypeError):
        return Entry(**json.loads(path.read_text(encoding="utf-8")))
    return None


class Record:
    """The entry of one upload, and where it is."""

    def __init__(self, path: Path, entry: Entry) -> None:
        self._path, self.entry = path, entry

    def begin(self) -> None:
        """Store the key before it is sent. Raises OSError."""
        if self.entry.number is None:
            self._write()

    def name_number(self, number: int, created: str) -> None:
        """Store the number of the import or volume, and when it was created. Raises OSError."""
        self.entry = replace(self.entry, number=number, created=created)
        self._write()

    def renew(self) -> None:
        """Begin another upload instead of one that takes no file any more. Raises OSError."""
        self.entry = Entry(str(uuid.uuid4()), name=self.entry.name)
        self._write()

    def remove(self) -> None:
        """Delete the entry: what follows the upload has been requested."""
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Of mode 0600.
        handle, draft = tempfile.mkstemp(dir=self._path.parent, prefix=".")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(self.entry), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self._path)
