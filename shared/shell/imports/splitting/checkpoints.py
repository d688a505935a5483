"""Store a split at checkpoints, so that a file of any size is split by several invocations.

A file of fewer than SPLIT_CHECKPOINT_CHUNKS chunks is split in one pass, without a checkpoint. At each checkpoint the
ids since the last one become an object in S3, then the chunks and the state of the pass go into the database. After the
end of the file, duplicate ids are found in groups of partitions; each batch of them is a checkpoint too.
Guaranteed: a worker that is killed anywhere loses the work since the last checkpoint; the chunks, duplicates and
warnings are those of an undisturbed pass. Memory and /tmp do not grow with the file. However many ids are repeated,
each invocation stores more of them, or is killed and its import given up.
"""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import uuid4

from core.errors import FileRefusedError, SplitPausedError, StorageUnavailableError
from core.load_file.dialect import Opening
from core.load_file.split_state import SplitState
from core.load_file.splitter import Splitter
from shell.aws.s3 import delete_prefix, write_stream
from shell.deadline import build_deadline_check
from shell.imports.splitting.checkpoint_store import (
    Place,
    StoredSplit,
    discard_some,
    read_checkpoint,
    write_checkpoint,
    write_duplicates,
)
from shell.imports.splitting.duplicate_ids import PARTITIONS
from shell.imports.splitting.registration import ROWS_PER_STATEMENT
from shell.imports.splitting.split import Checkpoints, Split
from shell.imports.splitting.stored_ids import GROUP_BYTES, StoredIds
from shell.observability import logger
from shell.settings import settings
from shell.tables.imports import Imports

# Raise it when a change of the code changes what the stored state means.
STATE_VERSION = 1
# The ids since the last checkpoint are in /tmp, which has 512 MB by default; repeats are looked for in as much memory.
MAX_SPILLED_BYTES = 64_000_000
# Enough for a checkpoint, also while the database fails over.
_PAUSE_S = 60


class SplitCheckpoints(Checkpoints):
    """The checkpoints of one import; `given` is what else decides how the file is split."""

    def __init__(self, import_record: Imports, *given: object) -> None:
        self.place = Place(import_record.id, import_record.generation, import_record.split_checkpoint)
        self._given = given
        self._fingerprint = b""
        self._stored: StoredSplit | None = None
        self._parts: list[str] = []
        self._is_deadline_near = build_deadline_check(_PAUSE_S)

    @property
    def is_file_read(self) -> bool:
        """Whether the last checkpoint is one after the end of the file."""
        return self._stored is not None and self._stored.partition is not None

    def load(self, opening: Opening) -> SplitState | None:
        """Return the state to go on from; discard that of a split which would have other chunks.

        Raises ImportBusyError, also in the other methods, if another worker splits the file.
        """
        decides = (STATE_VERSION, GROUP_BYTES, settings().chunk_rows, self.place.generation, opening, *self._given)
        self._fingerprint = hashlib.sha256(repr(decides).encode("utf-8", "surrogatepass")).digest()
        if self.place.checkpoint is None:
            return None
        self._stored = read_checkpoint(self.place.import_id, self._fingerprint)
        if self._stored is None:
            self._discard()
            return None
        self._parts = self._stored.state["parts"]
        return SplitState.from_dict(self._stored.state["pass"])

    def after_block(self, splitter: Splitter, split: Split) -> None:
        """Write a checkpoint if one is due; raise SplitPausedError after it if the deadline is near."""
        is_due = len(split.chunks) >= settings().split_checkpoint_chunks or split.keys.spilled_bytes > MAX_SPILLED_BYTES
        is_near = self._is_deadline_near()
        state = splitter.export_state() if is_due or is_near else None
        if state:
            self._write(split, state, None)
            if is_near:
                raise SplitPausedError

    def after_file(self, splitter: Splitter, split: Split) -> None:
        """Write a checkpoint unless there was none: a small file is registered in one transaction."""
        state = splitter.export_state() if self._stored else None
        if state:
            self._write(split, state, 0)

    def _write(self, split: Split, state: SplitState, partition: int | None) -> None:
        name = uuid4().hex
        key = f"{build_prefix(self.place.import_id)}{name}"
        write_stream(settings().bucket, key, split.keys.pack(), "application/octet-stream")
        parts = [*self._parts, name]
        values: dict[str, Any] = {"pass": state.to_dict(), "parts": parts}
        stored = StoredSplit(self._fingerprint, state.bytes_read, partition, values)
        write_checkpoint(self.place, name, split.chunks, stored)
        self.place, self._stored, self._parts = self.place._replace(checkpoint=name), stored, parts
        logger.info("split checkpoint", extra={"import_id": self.place.import_id, "bytes_read": state.bytes_read})
        split.chunks.clear()
        split.keys.clear()

    def store_duplicates(self) -> None:
        """Find and store the duplicate ids of a file with checkpoints; raise SplitPausedError if the deadline is near.

        If some ids do not exist any more, the split is discarded and SplitPausedError raised: it starts over.
        """
        if self._stored is None:
            return
        try:
            self._store_duplicates(self._stored.partition or 0, self._stored.repeats)
        except FileRefusedError:
            logger.warning("stored ids are gone; the split starts over", extra={"import_id": self.place.import_id})
            self._discard()
            raise SplitPausedError from None

    def _store_duplicates(self, start: int, stored: int) -> None:
        prefix = build_prefix(self.place.import_id)
        ids = StoredIds(settings().bucket, [f"{prefix}{name}" for name in self._parts])
        while start < PARTITIONS:
            end = ids.find_group_end(start)
            for found in ids.find_repeats(start, end, ROWS_PER_STATEMENT, stored):
                stored += len(found)
                self._write_duplicates(found, start, stored)
            start, stored = end, 0
            self._write_duplicates([], start, stored)

    def _write_duplicates(self, found: list[tuple[int, int]], partition: int, repeats: int) -> None:
        name = uuid4().hex
        write_duplicates(self.place, name, found, partition, repeats)
        self.place = self.place._replace(checkpoint=name)
        if self._is_deadline_near():
            raise SplitPausedError

    def _discard(self) -> None:
        more = True
        while more:
            name = uuid4().hex
            more = discard_some(self.place, name)
            self.place = self.place._replace(checkpoint=name)
            if more and self._is_deadline_near():
                raise SplitPausedError
        self._stored, self._parts = None, []

    def delete_parts(self) -> None:
        """Delete the stored ids; what cannot be deleted now expires."""
        if self._stored is None:
            return
        try:
            delete_prefix(settings().bucket, build_prefix(self.place.import_id))
        except StorageUnavailableError:
            logger.warning("stored ids not deleted", extra={"import_id": self.place.import_id})


def build_prefix(import_id: int) -> str:
    """Return the beginning of the keys of an import's stored ids."""
    return f"splits/{import_id}/"
