"""What in a tenant's rows names the stack: the bucket, and keys that are derived from it.

Guaranteed: an import that has its file gets the key that a notification of the target's S3 for this version has, so
that a late one finds the import. The placeholders of files that have not arrived, and the keys of imports that no
notification starts, name no bucket and stay (`shell.imports.upload_matching`).
"""

from __future__ import annotations

from collections.abc import Sequence

from core.imports.uploads import build_upload_key
from tools.tenants.moving.connection import Row, read_text


class CellFields:
    """The fields of a table's rows that differ between two stacks whose buckets have these names."""

    def __init__(self, table: str, columns: Sequence[str], source: str, target: str) -> None:
        self._table, self._places = table, {name: place for place, name in enumerate(columns)}
        self._source, self._target = source, target

    def adapt(self, row: Row) -> Row:
        """Return a row as the target must have it."""
        if self._table == "imports":
            return self._adapt_import(row)
        return self._adapt_response(row) if self._table == "idempotency_keys" else row

    def _adapt_import(self, row: Row) -> Row:
        key, version, etag = (row[self._places[name]] for name in ("object_key", "version_id", "etag"))
        if row[self._places["bucket"]] != self._source.encode():
            return row
        changed = list(row)
        changed[self._places["bucket"]] = self._target.encode()
        facts = (read_text(key), read_text(version), read_text(etag))
        if version and row[self._places["upload_key"]] == build_upload_key(self._source, *facts):
            changed[self._places["upload_key"]] = build_upload_key(self._target, *facts)
        return tuple(changed)

    def _adapt_response(self, row: Row) -> Row:
        """Have the URLs of a repeated response signed for the target: the bucket is stored, URLs are not."""
        place = self._places["response_body"]
        body = row[place]
        if body is None:
            return row
        # A quotation mark within a value is escaped, so that only a member of the document has this text.
        source, target = (f'"bucket":"{name}"'.encode() for name in (self._source, self._target))
        return (*row[:place], body.replace(source, target), *row[place + 1 :])
