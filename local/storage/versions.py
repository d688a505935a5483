"""The versions of objects, and delete markers, as rows of the index: found by name, listed in the order of S3.

Guaranteed: names are in the order of their UTF-8 bytes, as S3 lists them; of one name, the version that was written
last is the latest. A listing is a page at a time, and reads what it returns, not the whole bucket.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from local.storage.storage import Storage

# After every name with the same beginning.
_LAST = chr(0x10FFFF)
_PAGE = 1_000
_NO_LIMIT = 2**63 - 1
COLUMNS = "seq, name, version, content, size, etag, created, facts"
_IS_LATEST = "seq = (SELECT MAX(seq) FROM versions o WHERE o.bucket = v.bucket AND o.name = v.name)"


class Version(NamedTuple):
    """A version of an object; without `content` it is a delete marker."""

    seq: int
    name: str
    version: str
    content: int | None
    size: int
    etag: str
    created: str
    facts: Mapping[str, Any]


class Versions:
    """The versions of a storage; what writes must be called in a transaction of its index."""

    def __init__(self, storage: Storage) -> None:
        self._storage, self._index = storage, storage.index

    def add(self, bucket: str, version: Version) -> Version:
        """Add a version as the latest of its name; return it with its number."""
        values = (bucket, *version[1:7], json.dumps(version.facts))
        statement = (
            "INSERT INTO versions (bucket, name, version, content, size, etag, created, facts)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        return version._replace(seq=self._index.write(statement, *values).lastrowid or 0)

    def change_facts(self, seq: int, facts: Mapping[str, Any]) -> None:
        """Replace what a version states beside its bytes."""
        self._index.write("UPDATE versions SET facts = ? WHERE seq = ?", json.dumps(facts), seq)

    def find(self, bucket: str, name: str, version: str | None = None) -> Version | None:
        """Return a version of a name, or the latest."""
        which, values = ("AND version = ?", (version,)) if version else ("", ())
        query = f"SELECT {COLUMNS} FROM versions WHERE bucket = ? AND name = ? {which} ORDER BY seq DESC LIMIT 1"  # noqa: S608
        return next(map(read_version, self._index.read(query, bucket, name, *values)), None)

    def list_of(self, bucket: str, name: str) -> list[Version]:
        """Return all versions of a name, the latest first."""
        query = f"SELECT {COLUMNS} FROM versions WHERE bucket = ? AND name = ? ORDER BY seq DESC"  # noqa: S608
        return [read_version(row) for row in self._index.read(query, bucket, name)]

    def delete(self, versions: Iterable[Version]) -> None:
        """Delete versions, and their bytes where no other version has them."""
        found = list(versions)
        for version in found:
            self._index.write("DELETE FROM versions WHERE seq = ?", version.seq)
        self._storage.delete_contents([each.content for each in found if each.content is not None])

    def walk_latest(self, bucket: str, prefix: str, after: str) -> Iterator[Version]:
        """Yield the latest versions, without delete markers, whose names begin so and come after a name."""
        query = (
            f"SELECT {COLUMNS} FROM versions v WHERE bucket = ? AND name >= ? AND name < ? AND name > ?"  # noqa: S608
            f" AND content IS NOT NULL AND {_IS_LATEST} ORDER BY name LIMIT {_PAGE}"
        )
        while page := self._index.read(query, bucket, prefix, prefix + _LAST, after):
            yield from map(read_version, page)
            after = page[-1][1]

    def list_all(
        self, bucket: str, prefix: str, after: tuple[str, str | None], limit: int
    ) -> list[tuple[Version, bool]]:
        """Return versions and markers after a name and version of it, and whether each is the latest of its name."""
        name, version = after
        # Where the marker has been deleted since, so have the versions before it.
        seq = _find_seq(self.list_of(bucket, name), version) if version else 0
        query = (
            f"SELECT {COLUMNS}, {_IS_LATEST} FROM versions v WHERE bucket = ? AND name >= ? AND name < ?"  # noqa: S608
            " AND (name > ? OR (name = ? AND seq < ?)) ORDER BY name, seq DESC LIMIT ?"
        )
        rows = self._index.read(query, bucket, prefix, prefix + _LAST, name, name, seq, limit)
        return [(read_version(row[:-1]), bool(row[-1])) for row in rows]


def _find_seq(versions: Iterable[Version], version: str) -> int:
    return next((each.seq for each in versions if each.version == version), _NO_LIMIT)


def read_version(row: tuple[Any, ...]) -> Version:
    """Return the version of a row with COLUMNS."""
    return Version._make((*row[:7], json.loads(row[7])))
