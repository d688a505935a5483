"""List the files of a volume that no row and no page names, and those that only rejected rows name.

Guaranteed: the list is a function of the sets that the chunks of the volume's last imports, and of error files after
them, stored, in any order. It is not written while another import of the volume is under way: what that one will name
is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import bindparam, text

from core.codes import VolumeCode
from core.imports.report_files import build_unreferenced_key
from core.statuses import ImportPhase
from core.volumes.referenced import ReferencedFiles, RejectedFiles
from shell.aws.s3 import write_stream
from shell.db.session import session
from shell.tables.imports import Imports
from shell.tables.volumes import Volumes
from shell.utils.csv_format import format_csv
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.documents import OF_REJECTED_ROWS, UNREFERENCED, read_rejected, store_whole_counts
from shell.work.messages import ImportEndedMessage

PAGE = 2_000
HEADER = ("code", "path", "size", "line", "row_code")
# The row of chunk 0 has what is known of the whole import.
_WHOLE = 0
# An error file or a correction adds to the last imports of its kind, several of which come after one data file; the
# check of an error file adds to what is imported. What was undone names nothing, nor what is held.
_LAST_IMPORTS = text("""
    SELECT i.id, i.finished_at IS NULL AND i.status NOT IN ('checked', 'blocked') AS running
    FROM imports AS i LEFT JOIN (
        SELECT newest.kind, MIN(beside.id) AS id FROM (
            SELECT MAX(whole.id) AS id FROM imports AS whole JOIN volumes AS v ON v.id = whole.volume_id
            WHERE whole.volume_id = :volume_id AND whole.phase = :phase AND whole.status NOT IN ('undone', 'uploaded')
              AND LEFT(whole.object_key, CHAR_LENGTH(v.prefix)) = v.prefix AND whole.corrects_import_id IS NULL
            GROUP BY whole.kind
        ) AS last JOIN imports AS newest ON newest.id = last.id
        JOIN imports AS beside ON beside.volume_id = newest.volume_id
          AND (beside.id = newest.id OR beside.after_import_id = newest.after_import_id)
        GROUP BY newest.kind
    ) AS last ON last.kind = i.kind
    WHERE i.volume_id = :volume_id AND (
        i.id = :import_id
        OR (i.phase = :phase AND i.status NOT IN ('undone', 'uploaded') AND i.id >= COALESCE(last.id, 0))
    )
    ORDER BY i.id
""")
_SETS = text(
    "SELECT chunk_no, referenced FROM import_chunk_files WHERE import_id = :import_id AND chunk_no > :after "
    "ORDER BY chunk_no LIMIT :page"
)
_LOAD_FILES = text(
    "SELECT f.file_no FROM volumes v JOIN imports i ON i.volume_id = v.id "
    "JOIN volume_files f ON f.volume_id = v.id AND CONCAT(v.prefix, f.path) = i.object_key WHERE v.id = :volume_id"
)
_FILES = text(
    "SELECT file_no, path, size FROM volume_files WHERE volume_id = :volume_id AND file_no IN :numbers ORDER BY file_no"
).bindparams(bindparam("numbers", expanding=True))
_COUNT = text("SELECT files FROM volumes WHERE id = :volume_id")


def write_unreferenced(message: ImportEndedMessage) -> None:
    """Write the list of the volume's files that nothing names, and their count, for an import that has ended.

    Does nothing for an import that is not of a volume, or while another import of the volume is under way.
    """
    import_record = _load(message.import_id)
    volume_id = import_record.volume_id if import_record else None
    imports = _list_imports(import_record) if import_record and volume_id is not None else None
    if import_record is None or volume_id is None or imports is None:
        return
    total = _read_total(volume_id)
    missing = list(_read_named(volume_id, imports).list_missing(total))
    rejected = _read_rejected_rows(imports, total)
    if missing:
        key = build_unreferenced_key(import_record.id, message.generation)
        lines = format_csv(HEADER, _describe(volume_id, missing, rejected))
        write_stream(import_record.bucket, key, lines, "text/csv; charset=utf-8")
    of_rejected = sum(rejected.find(number) is not None for number in missing)
    _store(import_record.id, len(missing) - of_rejected, of_rejected)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load(import_id: int) -> Imports | None:
    with session() as reading:
        return reading.get(Imports, import_id)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_imports(import_record: Imports) -> list[int] | None:
    with session() as reading:
        volume = reading.get_one(Volumes, import_record.volume_id)
        is_whole = import_record.object_key.startswith(volume.prefix)
        phase = import_record.phase if is_whole else ImportPhase.IMPORT.value
        values = {"volume_id": volume.id, "phase": phase, "import_id": import_record.id}
        rows = reading.execute(_LAST_IMPORTS, values).all()
    return None if any(row.running for row in rows) else [row.id for row in rows]


def _read_named(volume_id: int, imports: Sequence[int]) -> ReferencedFiles:
    named = ReferencedFiles()
    for import_id in imports:
        for stored in _read_sets(import_id):
            named.unite(ReferencedFiles.from_bytes(stored))
    for number in _read_load_files(volume_id):
        named.add(number)
    return named


def _read_rejected_rows(imports: Sequence[int], total: int) -> RejectedFiles:
    """Return the files that rejected rows name; of several rows, that of the latest import counts."""
    rejected = RejectedFiles(total)
    for import_id in imports:
        for rows in read_rejected(import_id):
            for row in rows:
                for number in row.files:
                    rejected.add(number, row.line_no, str(row.code))
    return rejected


def _read_sets(import_id: int) -> Iterator[bytes]:
    after = _WHOLE
    while rows := _read_page(import_id, after):
        yield from (row.referenced for row in rows if row.referenced is not None)
        after = rows[-1].chunk_no


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_page(import_id: int, after: int) -> Sequence[Any]:
    with session() as reading:
        return reading.execute(_SETS, {"import_id": import_id, "after": after, "page": 100}).all()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_load_files(volume_id: int) -> list[int]:
    with session() as reading:
        return list(reading.execute(_LOAD_FILES, {"volume_id": volume_id}).scalars())


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_total(volume_id: int) -> int:
    with session() as reading:
        return int(reading.execute(_COUNT, {"volume_id": volume_id}).scalar_one())


def _describe(volume_id: int, numbers: Sequence[int], rejected: RejectedFiles) -> Iterator[Sequence[Any]]:
    for start in range(0, len(numbers), PAGE):
        for row in _read_files(volume_id, numbers[start : start + PAGE]):
            found = rejected.find(row.file_no)
            code = VolumeCode.FILE_OF_REJECTED_ROW if found else VolumeCode.UNREFERENCED_FILE
            yield code.value, row.path, row.size, *(found or ("", ""))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_files(volume_id: int, numbers: Sequence[int]) -> Sequence[Any]:
    with session() as reading:
        return reading.execute(_FILES, {"volume_id": volume_id, "numbers": list(numbers)}).all()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _store(import_id: int, unreferenced: int, of_rejected: int) -> None:
    with session() as transaction:
        counts = {UNREFERENCED: unreferenced, OF_REJECTED_ROWS: of_rejected}
        store_whole_counts(transaction, import_id, **counts)
