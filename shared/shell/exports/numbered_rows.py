"""Read rows of documents that are numbered within each document: its pages, and the versions of its history.

Guaranteed: at most ROWS_AT_ONCE of them, or VERSIONS_AT_ONCE, are read by a statement and held, also of a document that
has more; a version is held as it is stored, and its values are made when they are written. Each document comes with its
own rows, in the order of the documents and then of the numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Result, select
from sqlalchemy.orm import Session

from core.exhibit_history import Action, decode_changes, describe_changes
from shell.exhibits.match_keys import MatchKey
from shell.exports.documents import Found, Row, name_document
from shell.tables.chunks import ImportChunks
from shell.tables.exhibits import Exhibits
from shell.tables.history import ExhibitChanges
from shell.tables.imports import Imports
from shell.tables.pages import Pages, PageSets
from shell.tables.volumes import VolumeFiles
from shell.utils.db_helpers import force_index, is_in

ROWS_AT_ONCE = 2_000
# A version has hundreds of values where an overlay replaced all properties.
VERSIONS_AT_ONCE = 200
# Reads the rows of documents with numbers from the first to the last one, in the order of the numbers.
Read = Callable[[Sequence[MatchKey], int, int], Mapping[int, Iterable[Row]]]
# What a history records for the application alone: it means nothing to a reader.
_HIDDEN = "row_hash"
# Of an entry without a value. `old` and `new` are missing where the document had none, which null is not.
_NO_VALUE = {"kind": None, "name": None}
# What a line stated besides is no part of an export and can be as large as the changes.
_CHANGE_COLUMNS = tuple(each for each in ExhibitChanges.__table__.columns if each.name != "stated")


def read_pages(reading: Session, keys: Sequence[MatchKey]) -> Found:
    """Yield each document with a row for each of its pages."""
    sets = select(Exhibits.id, PageSets.page_count, Exhibits.page_set_id, PageSets.volume_id, PageSets.import_id)
    sets = sets.join(PageSets, PageSets.id == Exhibits.page_set_id)
    sets = force_index(sets.where(is_in(Exhibits.id, sorted(each.id for each in keys))), Exhibits, "PRIMARY")
    found = {row.id: row for row in reading.execute(sets)}

    def read(documents: Sequence[MatchKey], first: int, last: int) -> Mapping[int, Sequence[Row]]:
        pages = _read_pages(reading, sorted({found[each.id].page_set_id for each in documents}), first, last)
        return {
            each.id: [_describe_page(found[each.id], row) for row in pages[found[each.id].page_set_id]]
            for each in documents
        }

    return _iterate(keys, {each: row.page_count for each, row in found.items()}, read, ROWS_AT_ONCE)


def _read_pages(reading: Session, page_set_ids: Sequence[int], first: int, last: int) -> Mapping[int, Sequence[Any]]:
    statement = select(Pages, VolumeFiles.path.label("file")).outerjoin(VolumeFiles, VolumeFiles.id == Pages.file_id)
    statement = statement.where(is_in(Pages.page_set_id, page_set_ids), Pages.page_no.between(first, last))
    found: dict[int, list[Any]] = defaultdict(list)
    for row in reading.execute(statement.order_by(Pages.page_set_id, Pages.page_no)):
        found[row[0].page_set_id].append(row)
    return found


def _describe_page(page_set: Any, row: Any) -> Row:
    page, file = row
    return {
        "page": page.page_no,
        "image_key": page.image_key,
        "volume_id": page_set.volume_id,
        "file": file,
        "path": page.path,
        "page_in_file": page.page_in_file,
        "rotation": page.rotation,
        "import_id": page_set.import_id,
    }


def read_history(reading: Session, keys: Sequence[MatchKey]) -> Found:
    """Yield each document with its history: its creation, then a row for each value that a change concerns."""
    columns = (Exhibits.id, Exhibits.version, Exhibits.import_id, Exhibits.line_no)
    documents = select(*columns).where(is_in(Exhibits.id, sorted(each.id for each in keys)))
    found = {row.id: row for row in reading.execute(force_index(documents, Exhibits, "PRIMARY"))}
    creations = _read_creations(reading, list(found.values()))

    def read(documents: Sequence[MatchKey], first: int, last: int) -> Mapping[int, Iterable[Row]]:
        changes: dict[int, list[Any]] = defaultdict(list)
        for row in _read_changes(reading, [each.id for each in documents], first, last):
            changes[row.exhibit_id].append(row)
        # A version can have hundreds of values: they exist while it is written, not for the whole run.
        return {
            each.id: chain([creations[each.id]] if first == 1 else (), _describe_changes(changes[each.id]))
            for each in documents
        }

    return _iterate(keys, {each: row.version for each, row in found.items()}, read, VERSIONS_AT_ONCE)


def _read_changes(reading: Session, ids: Sequence[int], first: int, last: int) -> Result[Any]:
    statement = select(*_CHANGE_COLUMNS).where(
        is_in(ExhibitChanges.exhibit_id, sorted(ids)), ExhibitChanges.version.between(first, last)
    )
    return reading.execute(statement.order_by(ExhibitChanges.exhibit_id, ExhibitChanges.version))


def _describe_changes(changes: Iterable[Any]) -> Iterator[Row]:
    return chain.from_iterable(map(_describe_change, changes))


def _describe_change(change: Any) -> Iterator[Row]:
    """Yield a row for each value; one without a value for a change of none that is shown."""
    entry = {
        "version": change.version,
        "action": change.action,
        "user_id": change.user_id,
        "changed_at": change.created_at_gmt,
        "import_id": change.import_id,
        "line": change.line_no,
        "undo_no": change.undo_no,
        "tagging_job_id": change.tagging_job_id,
        **_NO_VALUE,
    }
    described = describe_changes(decode_changes(change.changes))
    values = [
        {**entry, "kind": kind, "name": name, **values}
        for kind, named in described.items()
        for name, values in named.items()
        if name != _HIDDEN or kind != "fields"
    ]
    yield from values or [entry]


def _read_creations(reading: Session, exhibits: Sequence[Any]) -> dict[int, Row]:
    """Return the first entry of each document: its import created it when its chunk ended."""
    imports = sorted({each.import_id for each in exhibits})
    requested = reading.execute(select(Imports.id, Imports.user_id).where(is_in(Imports.id, imports)))
    users = {row.id: row.user_id for row in requested}
    chunk = ImportChunks
    columns = (chunk.import_id, chunk.first_line, chunk.last_line, chunk.finished_at)
    chunks: dict[int, list[Any]] = defaultdict(list)
    for row in reading.execute(select(*columns).where(is_in(chunk.import_id, imports)).order_by(*columns[:2])):
        chunks[row.import_id].append(row)
    return {each.id: _describe_creation(each, users.get(each.import_id), chunks[each.import_id]) for each in exhibits}


def _describe_creation(exhibit: Any, user_id: str | None, chunks: Sequence[Any]) -> Row:
    place = bisect_right(chunks, exhibit.line_no, key=lambda chunk: chunk.first_line)
    has_line = place > 0 and exhibit.line_no <= chunks[place - 1].last_line
    return {
        "version": 1,
        "action": Action.IMPORTED.value,
        "user_id": user_id,
        "changed_at": chunks[place - 1].finished_at if has_line else None,
        "import_id": exhibit.import_id,
        "line": exhibit.line_no,
        "undo_no": None,
        "tagging_job_id": None,
        **_NO_VALUE,
    }


def _iterate(keys: Sequence[MatchKey], counts: Mapping[int, int], read: Read, at_once: int) -> Found:
    """Yield each document with its rows, which `read` returns by document; `counts` are the highest numbers."""
    for run in _split_runs(keys, counts, at_once):
        most = counts.get(run[0].id, 0)
        if len(run) == 1 and most > at_once:
            yield run[0], _read_on(run[0], most, read, at_once)
            continue
        counted = [each for each in run if each.id in counts]
        found = read(counted, 1, at_once) if counted else {}
        for key in run:
            yield key, (name_document(key) | row for row in found.get(key.id, ()))


def _read_on(key: MatchKey, most: int, read: Read, at_once: int) -> Iterator[Row]:
    for first in range(1, most + 1, at_once):
        for row in read([key], first, first + at_once - 1).get(key.id, ()):
            yield name_document(key) | row


def _split_runs(keys: Sequence[MatchKey], counts: Mapping[int, int], at_once: int) -> Iterator[list[MatchKey]]:
    """Yield documents in runs that have at most `at_once` rows, or are one document."""
    run: list[MatchKey] = []
    total = 0
    for key in keys:
        count = counts.get(key.id, 0)
        if run and total + count > at_once:
            yield run
            run, total = [], 0
        run.append(key)
        total += count
    if run:
        yield run
