"""Uploads in parts that have not been completed, as rows of the index: they go on after a restart."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from local.storage.storage import Segment, Storage


class Upload(NamedTuple):
    """An upload in parts; `facts` are what its object will state."""

    id: str
    bucket: str
    name: str
    created: str
    facts: Mapping[str, Any]


class Part(NamedTuple):
    """A part of an upload; size in bytes."""

    number: int
    content: int
    size: int
    etag: str
    created: str
    facts: Mapping[str, Any]


class Uploads:
    """The uploads of a storage; what writes must be called in a transaction of its index."""

    def __init__(self, storage: Storage) -> None:
        self._storage, self._index = storage, storage.index

    def add(self, upload: Upload) -> None:
        """Begin an upload."""
        values = (*upload[:4], json.dumps(upload.facts))
        self._index.write("INSERT INTO uploads (id, bucket, name, created, facts) VALUES (?, ?, ?, ?, ?)", *values)

    def find(self, bucket: str, upload: str) -> Upload | None:
        """Return an upload that has been neither completed nor aborted."""
        query = "SELECT id, bucket, name, created, facts FROM uploads WHERE id = ? AND bucket = ?"
        return next((_read_upload(row) for row in self._index.read(query, upload, bucket)), None)

    def list_of(self, bucket: str) -> list[Upload]:
        """Return the uploads of a bucket, by name and time."""
        query = "SELECT id, bucket, name, created, facts FROM uploads WHERE bucket = ? ORDER BY name, created"
        return [_read_upload(row) for row in self._index.read(query, bucket)]

    def put_part(self, upload: str, part: Part, segments: Sequence[Segment]) -> None:
        """Add a part, in place of an earlier one of its number; `content` of the part is assigned here."""
        earlier = self.list_parts(upload, part.number - 1, 1)
        content = self._storage.add_content(segments)
        self._index.write(
            "INSERT OR REPLACE INTO parts (upload, number, content, size, etag, created, facts)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(upload, part.number, content, part.size, part.etag, part.created, json.dumps(part.facts)),
        )
        self._storage.delete_contents([each.content for each in earlier if each.number == part.number])

    def list_parts(self, upload: str, after: int = 0, limit: int = 10_000) -> list[Part]:
        """Return parts with numbers above `after`, in order."""
        query = (
            "SELECT number, content, size, etag, created, facts FROM parts WHERE upload = ? AND number > ?"
            " ORDER BY number LIMIT ?"
        )
        return [Part._make((*row[:5], json.loads(row[5]))) for row in self._index.read(query, upload, after, limit)]

    def change_facts(self, upload: str, part: Part) -> None:
        """Store the facts of a part."""
        statement = "UPDATE parts SET facts = ? WHERE upload = ? AND number = ?"
        self._index.write(statement, json.dumps(part.facts), upload, part.number)

    def delete(self, upload: str) -> None:
        """End an upload and delete its parts; bytes that an object has been given stay."""
        contents = [part.content for part in self.list_parts(upload)]
        self._index.write("DELETE FROM parts WHERE upload = ?", upload)
        self._index.write("DELETE FROM uploads WHERE id = ?", upload)
        self._storage.delete_contents(contents)


def _read_upload(row: tuple[Any, ...]) -> Upload:
    return Upload._make((*row[:4], json.loads(row[4])))
