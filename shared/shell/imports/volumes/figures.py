"""What an import found of its volume's files, and of pages, as counts.

Guaranteed: the counts are those of the chunks that are done, each once.
"""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.contracts.imports import FileFigures, PageCounts, StoredPaths
from shell.db.session import session
from shell.imports.volumes.documents import OF_REJECTED_ROWS, UNREFERENCED
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# NULL until all imports of the volume have ended.
_WHOLE = (UNREFERENCED, OF_REJECTED_ROWS)
_NAMES = ("natives_linked", "natives_missing", "texts_linked", "texts_missing", "hash_mismatches", *_WHOLE)
# Of load files that are not of a volume.
_NAMED = ("natives_named", "texts_named")
_SUMS = text(
    "SELECT COUNT(*) AS chunks, "  # noqa: S608 - constants
    + ", ".join(f"SUM(JSON_VALUE(counts, '$.{name}')) AS {name}" for name in (*_NAMES, *_NAMED))
    + " FROM import_chunk_files WHERE import_id = :import_id"
)
# The names of the API by those of the stored counts.
_PAGES = {
    "lines": "lines_seen",
    "pages": "imported",
    "lines_rejected": "rejected",
    **{name: name for name in ("documents", "missing_images", "declared", "listed")},
    **{name: name for name in ("in_files", "unreadable_images", "without_images")},
}
# NULL unless images are verified, and load files compared.
_OPTIONAL = {"in_files", "unreadable_images", "without_images"}
_PAGE_SUMS = text(
    "SELECT "  # noqa: S608 - constants
    + ", ".join(f"SUM(JSON_VALUE(counts, '$.{stored}')) AS {name}" for stored, name in _PAGES.items())
    + " FROM import_chunk_files WHERE import_id = :import_id"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def read_page_figures(import_id: int) -> PageCounts:
    """Return what an import of an image load file found of pages."""
    with session() as reading:
        sums = reading.execute(_PAGE_SUMS, {"import_id": import_id}).one()._mapping
    counts = {name: None if value is None and name in _OPTIONAL else int(value or 0) for name, value in sums.items()}
    return PageCounts.model_validate(counts)


def read_file_figures(reading: Session, import_id: int) -> FileFigures | StoredPaths | None:
    """Return what an import found of its volume's files, or how many paths without a volume it stored.

    None before its first chunk is done, and without a path.
    """
    found = reading.execute(_SUMS, {"import_id": import_id}).one()
    natives, texts = (getattr(found, name) for name in _NAMED)
    if natives is not None or texts is not None:
        named = StoredPaths(natives=int(natives or 0), texts=int(texts or 0))
        return named if named.natives or named.texts else None
    if not found.chunks:
        return None
    counts = {name: getattr(found, name) for name in _NAMES}
    known = {name: int(value or 0) for name, value in counts.items() if value is not None or name not in _WHOLE}
    return FileFigures.model_validate(dict.fromkeys(_WHOLE) | known)
