"""Store the texts of a chunk's rows: one object before the transaction, then rows that point into it.

Guaranteed: an object is written whole, once, and never replaced. A worker whose answer was lost, or that comes second,
finds the object, compares its hash and takes its version. A check writes none. An object without a row that points to
it can be left by a worker that lost its chunk; nothing reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from core.errors import StorageRefusedError, UnavailableError
from core.load_file.layout import Layout
from core.texts.cells import find_text_columns
from core.texts.packs import TextPack, build_pack, build_pack_key
from shell.aws.new_objects import find_object, put_new
from shell.exhibits.texts import NewText, insert_texts
from shell.imports.rows.coercion import StorableRow
from shell.settings import settings
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports


@dataclass(frozen=True)
class StoredPack:
    """The object with the texts of a chunk."""

    key: str
    version_id: str | None


def pack_texts(layout: Layout, rows: Iterable[StorableRow], stored: Collection[tuple[int, bytes]] = ()) -> TextPack:
    """Return the pack of the rows' texts, without those whose line and hash are `stored`; empty if no row has one."""
    columns = find_text_columns(layout.names, layout.fields, layout.newline)
    if not columns.indexes:
        return TextPack()
    texts = ((row.source.line_no, columns.join(row.source.cells or ())) for row in rows)
    return build_pack(((line_no, text) for line_no, text in texts if text is not None), stored)


def store_pack(import_record: Imports, chunk: ImportChunks, pack: TextPack) -> StoredPack | None:
    """Write the pack unless it is in the bucket; return where it is, None for one without texts.

    Raises StorageUnavailableError if S3 fails, and StorageRefusedError if the key has other bytes.
    """
    if not pack.places:
        return None
    sha256 = pack.sha256
    place = (import_record.tenant_id, import_record.case_id, chunk.import_id, chunk.chunk_no)
    bucket, key = settings().bucket, build_pack_key(*place, sha256)
    stored = put_new(bucket, key, pack.data, sha256) or find_object(bucket, key)
    if stored is None or (stored.size, stored.sha256) != (len(pack.data), sha256):
        raise StorageRefusedError("The object with the texts of the chunk is not the one that was written.")
    return StoredPack(key, stored.version_id)


def insert_packed(
    transaction: Session,
    import_record: Imports,
    pack: TextPack,
    stored: StoredPack | None,
    lines: Collection[int],
) -> dict[int, int]:
    """Insert the texts of these lines, as far as they have one; return their ids by line.

    Raises UnavailableError, so that the chunk is read again, if a text was left out of the pack because an exhibit
    had it, and has another one now.
    """
    found = [line for line in sorted(lines) if line in pack.hashes]
    if not found:
        return {}
    if stored is None or any(line not in pack.places for line in found):
        raise UnavailableError("The text of an exhibit was changed after the chunk was read; the chunk is read again.")
    texts = [_build_text(line, stored, pack) for line in found]
    return insert_texts(transaction, import_record.case_id, import_record.id, texts)


def _build_text(line: int, stored: StoredPack, pack: TextPack) -> NewText:
    offset, length, sha256 = pack.places[line]
    return NewText(line, stored.key, stored.version_id, offset, length, sha256)
