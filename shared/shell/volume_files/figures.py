"""What an import found of its volume's files, and of pages, as counts.

Guaranteed: the counts are those of the chunks that are done, each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import RowMapping, TextClause, text
from sqlalchemy.orm import Session

from core.contracts.imports.details import FileFigures, UncomparedHashes
from core.contracts.imports.pages import PageCounts
from core.contracts.paths import PathFigures, StoredPaths
from core.volumes.hashes import list_uncompared
from core.volumes.path_tally import PathTally, list_figures
from shell.db.session import session
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.documents import OF_REJECTED_ROWS, UNREFERENCED
from shell.volume_files.path_figures import read_paths

# NULL until all imports of the volume have ended.
_WHOLE = (UNREFERENCED, OF_REJECTED_ROWS)
_FILES = ("natives_linked", "natives_missing", "texts_linked", "texts_missing")
_HASHES = ("hash_mismatches", "hashes_compared")
# Of load files that are not of a volume.
_NAMED = text(
    "SELECT COALESCE(SUM(named_natives), 0) AS natives, COALESCE(SUM(named_texts), 0) AS texts FROM import_chunks "
    "WHERE import_id = :import_id"
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


class FoundFiles(NamedTuple):
    """What an import found of the files of its volume; without a volume, how many paths it stored."""

    files: FileFigures | None = None
    stored_paths: StoredPaths | None = None


def read_found_files(
    reading: Session, import_id: int, names: Sequence[str], fields: Sequence[str | None]
) -> FoundFiles:
    """Return what the import found of files; `names` are the columns of its file, and `fields` those that they feed."""
    files = read_file_figures(reading, import_id, names, fields)
    return FoundFiles(files, None if files else read_stored_paths(reading, import_id))


def read_file_figures(
    reading: Session, import_id: int, names: Sequence[str], fields: Sequence[str | None]
) -> FileFigures | None:
    """Return what an import found of its volume's files; None for one that is not of a volume, or has no chunk yet.

    `names` are the columns of the load file, and `fields`
    those that they feed.
    """
    columns = list_uncompared(names, fields)
    sums = _build_sums((*_FILES, *_HASHES, *_WHOLE, *columns))
    found = reading.execute(sums, {"import_id": import_id}).one()._mapping
    counts = {name: int(value or 0) for name, value in found.items()}
    if not counts["chunks"]:
        return None
    return FileFigures(
        **{name: counts[name] for name in _FILES},
        unreferenced=_read_whole(found, UNREFERENCED),
        of_rejected_rows=_read_whole(found, OF_REJECTED_ROWS),
        # An earlier version counted mismatches alone.
        hash_mismatches=counts["hash_mismatches"] if any(counts[name] for name in _HASHES) else None,
        hashes_not_compared=[
            UncomparedHashes(column=column[:255], hashes=counts[name])
            for name, column in columns.items()
            if counts[name]
        ],
        paths=_describe_paths(read_paths(reading, import_id)),
    )


def has_unreferenced(reading: Session, import_id: int) -> bool:
    """Return whether the list of the volume's files that no imported row or page names was written for the import."""
    found = reading.execute(_build_sums(_WHOLE), {"import_id": import_id}).one()._mapping
    return any(found[name] for name in _WHOLE)


def read_stored_paths(reading: Session, import_id: int) -> StoredPaths | None:
    """Return how many documents an import without a volume gave the path of a file; None if it gave none a path."""
    found = reading.execute(_NAMED, {"import_id": import_id}).one()
    return StoredPaths(natives=int(found.natives), texts=int(found.texts)) if any(found) else None


def _read_whole(sums: RowMapping, name: str) -> int | None:
    return None if sums[name] is None else int(sums[name])


def _build_sums(names: Iterable[str]) -> TextClause:
    sums = ", ".join(f"SUM(JSON_VALUE(counts, '$.{name}')) AS {name}" for name in names)
    return text(f"SELECT COUNT(*) AS chunks, {sums} FROM import_chunk_files WHERE import_id = :import_id")  # noqa: S608


def _describe_paths(tally: PathTally | None) -> list[PathFigures] | None:
    return None if tally is None else [PathFigures.model_validate(each) for each in list_figures(tally)]
