"""Link the rows of a chunk to the files of their volume.

Guaranteed: one lookup for all paths of a chunk; links, counts and the set of named files commit with the chunk's rows,
once. A link is never changed: the one that counts for a document is that of the latest import whose path the document
still has, so that overlays, edits and undos need not write links of others. A path for which the volume has no file is
recorded beside them, with NO_FILE in place of the file; a link for that path counts instead, whichever came first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.imports.production_columns import ProductionColumns
from core.load_file.layout import Layout
from core.load_file.original_lines import find_original_line
from core.load_file.rows import read_key
from core.volumes.documents import NamedDocument
from core.volumes.linking import PATH_FIELDS, FileKind, RowFiles, RowLinker
from core.volumes.path_guesses import NamedPath
from core.volumes.path_tally import PathTally
from shell.db.bulk_insert import insert_new
from shell.imports.chunks.page_rows import pack_page_rows
from shell.imports.chunks.results import RowResults
from shell.imports.rows.coercion import COLUMNS, StorableRow
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.tables.volumes import NO_FILE, ExhibitFiles
from shell.utils.db_helpers import is_in
from shell.volume_files.chunk_counts import store_counts
from shell.volume_files.lookup import find_named_files

_LINK_COLUMNS = ("exhibit_id", "kind", "import_id", "line_no", "text_hash", "file_id", "rule")
_BATES_BEGIN = COLUMNS.index("bates_begin")
_PLACES = {kind: COLUMNS.index(name) for kind, name in PATH_FIELDS.items()}
_IS_COMPARED = text(
    "SELECT 1 FROM imports WHERE after_import_id = :import_id "
    "UNION ALL SELECT 1 FROM imports WHERE id = :import_id AND corrects_import_id IS NOT NULL LIMIT 1"
)


class LinkedRows(NamedTuple):
    """The rows, with what is wrong with their files, and the files of each, by line."""

    rows: list[StorableRow]
    files: Mapping[int, RowFiles]


def link_rows(reading: Session, import_record: Imports, layout: Layout, rows: Sequence[StorableRow]) -> LinkedRows:
    """Return the rows of a volume's load file linked to its files; rows with errors are left as they are.

    The files of these are found too, so that they are not taken for files that no row names.
    """
    columns = {kind: layout.fields.index(name) for kind, name in PATH_FIELDS.items() if name in layout.fields}
    paths = {row.source.line_no: _list_paths(row, columns) for row in rows}
    texts = (NamedPath(text) for of in paths.values() for text in of.values())
    named = find_named_files(reading, import_record, layout, texts)
    linker = RowLinker(layout)
    linked = {
        row.source.line_no: linker.link(paths[row.source.line_no], row.source.cells or (), named)
        for row in rows
        if paths.get(row.source.line_no)
    }
    return LinkedRows([_add_findings(row, linked.get(row.source.line_no)) for row in rows], linked)


def _list_paths(row: StorableRow, columns: Mapping[FileKind, int]) -> dict[FileKind, str]:
    """Return the paths of a row by kind; those of a rejected row, which has no values, are its cells."""
    if row.errors:
        cells = row.source.cells or ()
        paths = {kind: cells[index] if index < len(cells) else None for kind, index in columns.items()}
    else:
        paths = {kind: row.values[_PLACES[kind]] for kind in columns}
    return {kind: path for kind, path in paths.items() if path and path.strip()}


def _add_findings(row: StorableRow, files: RowFiles | None) -> StorableRow:
    if files is None or row.errors or not (files.errors or files.warnings):
        return row
    return row._replace(errors=[*row.errors, *files.errors], changes=[*row.changes, *files.warnings])


def write_links(
    transaction: Session,
    import_record: Imports,
    chunk: ImportChunks,
    layout: Layout,
    files: Mapping[int, RowFiles],
    results: RowResults,
    *,
    with_unchanged: bool,
) -> None:
    """Write the links of the rows that the case holds now, in the transaction of the chunk.

    An overlay links unchanged documents too: their files can be new ones with the same paths. Without
    `with_unchanged`, an unchanged document gets the files that it lacks, and keeps those that it has.
    """
    changed = _build_links([*results.inserted, *results.updated], import_record, files)
    unchanged = _build_links(results.unchanged, import_record, files)
    links = [*changed, *(unchanged if with_unchanged else _list_lacking(transaction, unchanged))]
    insert_new(transaction, "exhibit_files", _LINK_COLUMNS, sorted(links))
    write_counts(transaction, import_record, chunk, layout, files, results)


def _build_links(
    accepted: Iterable[tuple[StorableRow, int]], import_record: Imports, files: Mapping[int, RowFiles]
) -> list[tuple[Any, ...]]:
    source = import_record.id
    return [
        (exhibit_id, kind.value, source, row.source.line_no, text_hash, file_id, rule)
        for row, exhibit_id in accepted
        if row.source.line_no in files
        for kind, text_hash, file_id, rule in _list_named(files[row.source.line_no])
    ]


def _list_named(files: RowFiles) -> Iterator[tuple[FileKind, bytes, int, int]]:
    """Yield kind, hash of the path, file and rule of what a row names; NO_FILE and no rule for what is missing."""
    yield from ((link.kind, link.text_hash, link.file.id, int(link.rule)) for link in files.links)
    yield from ((kind, text_hash, NO_FILE, 0) for kind, text_hash in files.missing)


def _list_lacking(reading: Session, links: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the links of documents that have no file for that kind and path, unless both are known to be missing."""
    if not links:
        return []
    table, ids = ExhibitFiles, [link[0] for link in links]
    query = select(table.exhibit_id, table.kind, table.text_hash, table.file_id).where(is_in(table.exhibit_id, ids))
    there: dict[tuple[Any, ...], int] = {}
    for *key, file_id in reading.execute(query):
        there[tuple(key)] = max(file_id, there.get(tuple(key), NO_FILE))
    known = [there.get((link[0], link[1], link[4])) for link in links]
    return [link for link, one in zip(links, known, strict=True) if one is None or one == NO_FILE < link[5]]


def write_counts(
    transaction: Session,
    import_record: Imports,
    chunk: ImportChunks,
    layout: Layout,
    files: Mapping[int, RowFiles],
    results: RowResults,
) -> None:
    """Write what the rows that are accepted have and name of files, and the rejected rows; a run repeats its check."""
    accepted = [files[row.source.line_no] for row in results.list_accepted() if row.source.line_no in files]
    counts = sum((each.counts for each in accepted), Counter[str]())
    numbers = (link.file.file_no for each in accepted for link in each.links)
    # The image load file that waits for this import is compared with its rows, and one that begins after a correction.
    is_compared = transaction.execute(_IS_COMPARED, {"import_id": chunk.import_id}).first() is not None
    is_correction = import_record.corrects_import_id is not None
    compared = _list_documents(layout, results, is_correction=is_correction) if is_compared else ()
    documents = [*compared, *_list_rejected(layout, results, files)]
    named = documents if documents or is_compared else None
    tally, pages = _tally_paths(results, files), pack_page_rows(layout, results)
    store_counts(transaction, chunk, counts, numbers, named, paths=tally, pages=pages)


def _tally_paths(results: RowResults, files: Mapping[int, RowFiles]) -> PathTally:
    """Return how the paths of the accepted rows were found."""
    tally = PathTally()
    for line_no in (row.source.line_no for row in results.list_accepted() if row.source.line_no in files):
        for kind, path, resolved in files[line_no].named:
            tally.add(kind.value, line_no, path, resolved)
    return tally


def count_named_files(layout: Layout, results: RowResults) -> dict[str, int]:
    """Count the rows that name files of no volume: their paths are stored, and no file is linked."""
    rows = [row for row, _ in (*results.inserted, *results.updated)]
    places = {kind: _PLACES[kind] for kind, name in PATH_FIELDS.items() if name in layout.fields}
    return {f"named_{kind.value}s": sum(bool(row.values[place]) for row in rows) for kind, place in places.items()}


def _list_documents(layout: Layout, results: RowResults, *, is_correction: bool) -> Iterator[NamedDocument]:
    """Yield the accepted rows; those of a correction have the lines in the file that it corrects, each line once."""
    columns = ProductionColumns.find(layout)
    accepted = (*results.inserted, *results.updated, *results.unchanged)
    for row, exhibit_id in sorted(accepted, key=lambda one: one[0].source.line_no):
        numbers = [other.begin for other in columns.read_others(row.source.cells or ())]
        line_no = find_original_line(row.source, layout) if is_correction else None
        named = (exhibit_id, row.control_number, row.values[_BATES_BEGIN])
        yield NamedDocument(line_no or row.source.line_no, *named, numbers=numbers)


def _list_rejected(layout: Layout, results: RowResults, files: Mapping[int, RowFiles]) -> Iterator[NamedDocument]:
    """Yield the rejected rows, with the line that they have in the first load file."""
    begins = layout.find_columns("bates_begin")
    for row, errors in sorted(results.rejected, key=lambda one: one[0].source.line_no):
        source, found = row.source, files.get(row.source.line_no)
        cells = source.cells or ()
        begin = read_key(cells[begins[0]], layout) if begins and begins[0] < len(cells) else None
        numbers = [link.file.file_no for link in found.links] if found else []
        line_no = find_original_line(source, layout) or source.line_no
        yield NamedDocument(line_no, 0, row.control_number, begin, None, errors[0].code.value, numbers)
