"""Store what a chunk counted and named of its volume's files, and delete the links of an import that is undone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.volumes.documents import NamedDocument, pack_documents
from core.volumes.path_tally import PathTally
from core.volumes.referenced import ReferencedFiles
from shell.db.bulk_insert import insert_new
from shell.tables.chunks import ImportChunks

_COUNT_COLUMNS = ("import_id", "chunk_no", "counts", "referenced", "documents", "paths", "pages")
_DELETE_COUNTS = text("DELETE FROM import_chunk_files WHERE import_id = :import_id AND chunk_no = :chunk_no")
_UNLINK = text(
    "DELETE FROM exhibit_files WHERE import_id = :import_id AND line_no BETWEEN :first_line AND :last_line "
    "AND exhibit_id NOT IN :kept"
).bindparams(bindparam("kept", expanding=True))


def store_counts(
    transaction: Session,
    chunk: ImportChunks,
    counts: Mapping[str, int],
    file_numbers: Iterable[int],
    documents: Iterable[NamedDocument] | None = None,
    *,
    paths: PathTally | None = None,
    pages: bytes | None = None,
) -> None:
    """Write what a chunk counted, and which files and documents it names, in place of what its check wrote.

    `documents` are None unless load files of the volume are compared. `paths` is how its paths were found. `pages` are
    the facts of the reconciliation of pages (`core.checks.page_facts`), None for a file that states none.
    """
    transaction.execute(_DELETE_COUNTS, {"import_id": chunk.import_id, "chunk_no": chunk.chunk_no})
    named = ReferencedFiles(file_numbers).to_bytes()
    packed = None if documents is None else pack_documents(documents)
    tally = paths and paths.to_json()
    counted = (chunk.import_id, chunk.chunk_no, json.dumps(counts, sort_keys=True), named, packed, tally, pages)
    insert_new(transaction, "import_chunk_files", _COUNT_COLUMNS, [counted])


def unlink_files(transaction: Session, import_id: int, first_line: int, last_line: int, *, kept: Sequence[int]) -> None:
    """Delete the links that an import made for lines of its file, for its undo; documents that it keeps have theirs."""
    place = {"import_id": import_id, "first_line": first_line, "last_line": last_line}
    transaction.execute(_UNLINK, {**place, "kept": list(kept)})
