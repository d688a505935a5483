"""The objects and messages of the local S3 and SQS, on disk.

Guaranteed: a content consists of ranges of blobs, which objects share: a copy, and an object of many parts, take no
bytes of their own. A blob that nothing names any more is deleted after the commit, or at the next start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from local.private_files import make_private_folder
from local.storage.blobs import Blobs
from local.storage.index import Index


class Segment(NamedTuple):
    """A range of a blob."""

    blob: str
    start: int
    size: int


class Storage:
    """The storage in a folder; opening it takes the same time however many objects it has.

    Open it `beside` the server that has it: what looks like the rest of an earlier process may be a write of it.
    """

    def __init__(self, folder: Path, *, beside: bool = False) -> None:
        self.index = Index(make_private_folder(folder))
        self.blobs = Blobs(folder)
        if not beside:
            self._finish_interrupted()

    def add_content(self, segments: Iterable[Segment]) -> int:
        """Record a content in the transaction of this thread, and return its id; its drafts are kept at the commit."""
        content = self.index.write("INSERT INTO contents DEFAULT VALUES").lastrowid or 0
        for position, segment in enumerate(segments):
            self.index.write("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", content, position, *segment)
            self.index.after_commit(lambda blob=segment.blob: self.blobs.keep(blob))  # type: ignore[misc]
        return content

    def read_segments(self, content: int) -> list[Segment]:
        """Return the segments of a content in order."""
        query = "SELECT blob, start, size FROM segments WHERE content = ? ORDER BY position"
        return [Segment(*row) for row in self.index.read(query, content)]

    def delete_contents(self, contents: Sequence[int]) -> None:
        """Delete contents in the transaction of this thread; blobs that nothing else names go after the commit."""
        blobs = {segment.blob for content in contents for segment in self.read_segments(content)}
        for content in contents:
            self.index.write("DELETE FROM segments WHERE content = ?", content)
            self.index.write("DELETE FROM contents WHERE id = ?", content)
        unnamed = "SELECT ? WHERE NOT EXISTS (SELECT 1 FROM segments WHERE blob = ?)"
        for blob in blobs:
            self.index.write(f"INSERT OR IGNORE INTO doomed {unnamed}", blob, blob)
        self.index.after_commit(self.delete_doomed)

    def delete_doomed(self) -> None:
        """Delete the blobs that nothing names, unless a backup reads; those are left for the next call."""
        doomed = [str(blob) for (blob,) in self.index.read("SELECT blob FROM doomed")]
        if not doomed:
            return
        with self.blobs.unless_held() as allowed:
            if not allowed:
                return
            self.blobs.delete(doomed)
        with self.index.transaction():
            for blob in doomed:
                self.index.write("DELETE FROM doomed WHERE blob = ?", blob)

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    def _finish_interrupted(self) -> None:
        """Keep or delete what an earlier process left half done, before anything else is written."""
        for draft in self.blobs.list_drafts():
            if self.index.read("SELECT 1 FROM segments WHERE blob = ? LIMIT 1", draft):
                self.blobs.keep(draft)
            else:
                self.blobs.delete([draft])
        self.delete_doomed()
