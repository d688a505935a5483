"""Which import or volume of a stack a file or folder is being sent to, so that a later command goes on with it.

Guaranteed: an entry is there before the request that it names, and complete or not at all after a power cut; it is
found only for the same stack, the same request (case, names, options) and a file that was not changed; it has no URL,
no token and no content. Of two commands that send the same, one is refused while the other sends.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from exhibit_ingest.file_lock import LockTakenError, hold_lock
from exhibit_ingest.private_file import write_private_file
from exhibit_ingest.uploads.faults import UploadFault

FOLDER = "uploads"
# The storage deletes parts after seven days; the whole files of a folder stay.
_KEPT_S = 30 * 86_400
# Stacks keep the response to a key for at least 24 hours (IdempotencyTtlHours).
KEY_KEPT_S = 24 * 3_600
# A command that was killed an instant ago may still be ending.
_PATIENCE_S = 1.0
_WAIT = "Wait until it has ended, or end it; then run the command again: what was sent is kept."


@dataclass(frozen=True)
class Entry:
    """An upload that was begun: the key of its announcement, and the number of import or volume once it is known.

    `created` is when that was created: it tells two databases apart. `act` is the hash of the request to import the
    volume whose result is not known yet, `act_key` its key, and `act_at` when that was made, in seconds since 1970.
    Once that request was answered, `generation` is the volume's, and `earlier` are the imports that it had; once it has
    those of the request, `imports` are these.
    """

    key: str
    number: int | None = None
    created: str = ""
    name: str = ""
    act: str = ""
    act_key: str = ""
    act_at: float = 0.0
    generation: int | None = None
    earlier: list[int] | None = None
    imports: list[int] | None = None

    def may_repeat(self) -> bool:
        """Return whether the stack still has the first response to the key of the act."""
        return 0 <= time.time() - self.act_at < KEY_KEPT_S


class Journal:
    """Files below a folder of the configuration, one for each upload that has not ended."""

    def __init__(self, configuration: Path) -> None:
        self._folder = configuration / FOLDER

    def open(self, stack: str, route: str, body: dict[str, Any], fingerprint: str) -> Record:
        """Return the record of an upload: that of an earlier command, or a new one, which is not stored yet."""
        place = json.dumps([stack, route, body, fingerprint], sort_keys=True)
        path = self._folder / f"{hashlib.sha256(place.encode()).hexdigest()}.json"
        name = str(body.get("fileName") or body.get("name") or "")
        self._remove_old()
        return Record(path, _read(path) or Entry(str(uuid.uuid4()), name=name))

    def _remove_old(self) -> None:
        for path in [*self._folder.glob("*.json"), *self._folder.glob("*.lock")]:
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

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Refuse the upload to other commands for the block. Raises UploadFault if another one holds it."""
        with ExitStack() as held:
            try:
                # Where no file can be written, writing the entry says so.
                with suppress(OSError):
                    held.enter_context(hold_lock(self._path.with_suffix(".lock"), _PATIENCE_S))
            except LockTakenError as exc:
                raise UploadFault(
                    "final", "ALREADY_SENT", f"Another command is sending {self.entry.name}.", _WAIT
                ) from exc
            # Another command can have written it since it was read.
            self.entry = _read(self._path) or self.entry
            yield

    def begin(self) -> None:
        """Store the key before it is sent. Raises UploadFault."""
        if self.entry.number is None:
            self._write()

    def name_number(self, number: int, created: str) -> None:
        """Store the number of the import or volume, and when it was created. Raises UploadFault."""
        self.entry = replace(self.entry, number=number, created=created)
        self._write()

    def renew(self) -> None:
        """Begin another upload instead of one that takes no file any more. Raises UploadFault."""
        self.entry = Entry(str(uuid.uuid4()), name=self.entry.name)
        self._write()

    def begin_act(self, body: dict[str, Any]) -> tuple[str, bool]:
        """Return the key of a request, and whether an earlier command sent it and has not ended it.

        It is stored before the request is sent. Raises UploadFault.
        """
        act = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        is_earlier = self.entry.act == act
        if not is_earlier:
            self._write_act(act, str(uuid.uuid4()), time.time())
        return self.entry.act_key, is_earlier

    def end_act(self) -> None:
        """Have the next command request it anew: its result is known, or it was refused. Raises UploadFault."""
        if self.entry.act:
            self._write_act("", "", 0.0)

    def name_request(self, generation: int, earlier: list[int]) -> None:
        """Store what the volume was when the request was answered. Raises UploadFault."""
        self.entry = replace(self.entry, generation=generation, earlier=earlier)
        self._write()

    def name_imports(self, imports: list[int]) -> None:
        """Store which imports are those of the request. Raises UploadFault."""
        self.entry = replace(self.entry, imports=imports)
        self._write()

    def _write_act(self, act: str, key: str, made_at: float) -> None:
        change: dict[str, Any] = {"act": act, "act_key": key, "act_at": made_at}
        self.entry = replace(self.entry, **change, generation=None, earlier=None, imports=None)
        self._write()

    def remove(self) -> None:
        """Delete the entry: what follows the upload has been requested."""
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        try:
            write_private_file(self._path, json.dumps(asdict(self.entry)))
        except OSError as exc:
            message = f"The journal of uploads, {self._path.parent}, cannot be written: {exc.strerror}."
            advice = "Make it writable: without it, an upload could not be continued after an interruption."
            raise UploadFault("halt", "JOURNAL", message, advice) from exc
