"""Read what the case of a chunk holds for its rows, before the transaction that writes or checks them.

Guaranteed: it only reads. The values of rows that the case holds already are not built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat

from sqlalchemy.orm import Session

from core.imports.columns.facts import ColumnFacts
from core.load_file.layout import Layout
from core.load_mode import Blanks, OverlayKey
from core.statuses import ImportStatus
from core.texts.cells import EXTRACTED_TEXT
from shell.db.session import session
from shell.exhibits.texts import read_text_hashes
from shell.exhibits.updates import find_by_key
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.chunk_source import LoadedChunk
from shell.imports.chunks.earlier_keys import choose_keys, read_earlier_keys
from shell.imports.chunks.exhibit_store import StoredExhibit, find_exhibits, may_hold
from shell.imports.chunks.file_links import link_rows
from shell.imports.rows.coercion import StorableRow
from shell.imports.rows.columnar_rows import ColumnarRows
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict


@retry_on_db_conflict(resolve=rerun_if_unknown)
def read_case(
    loaded: LoadedChunk, columnar: ColumnarRows, others: Sequence[StorableRow], facts: ColumnFacts
) -> ChunkInput:
    """Return the rows of a chunk in file order, with the exhibits, files and names that exist."""
    earlier = read_earlier_keys(loaded, others)
    rows = (*(row for row in others if not row.errors), *earlier.values())
    numbers = [*columnar.numbers, *(str(row.control_number) for row in rows)]
    with session() as reading:
        held = _find_held(reading, loaded.import_record.case_id, numbers, loaded.layout)
        others = choose_keys(others, earlier, held)
        found = _drop_later_names(loaded.layout, held, [*_build_rows(loaded, columnar, held), *others])
        if others:
            found.sort(key=lambda row: row.source.line_no)
        in_volume = loaded.import_record.volume_id is not None
        linked, files = link_rows(reading, loaded.import_record, loaded.layout, found) if in_volume else (found, None)
        texts = _read_texts(reading, loaded.layout, held)
        chunk_input = ChunkInput(loaded, linked, held, files, facts, texts)
        chunk_input.find_names(reading)
    return chunk_input


def _drop_later_names(layout: Layout, held: Mapping[str, StoredExhibit], rows: list[StorableRow]) -> list[StorableRow]:
    """Return the rows without the names of columns that earlier versions read as properties, if the case has them.

    A document that such a version stored has no link to them, and its row is unchanged all the same.
    """
    if not layout.later_names or not held or layout.load_mode.is_overlay:
        return rows
    return [_drop_names(row, layout.later_names) if _is_held(row, held) else row for row in rows]


def _is_held(row: StorableRow, held: Mapping[str, StoredExhibit]) -> bool:
    number = str(row.control_number)
    return number in held and row.is_equal(held[number].row_hash)


def _drop_names(row: StorableRow, columns: frozenset[str]) -> StorableRow:
    custodians = [name for name in row.custodians if name.column not in columns]
    return row._replace(custodians=custodians, tags=[name for name in row.tags if name.column not in columns])


def _find_held(reading: Session, case_id: int, numbers: Sequence[str], layout: Layout) -> Mapping[str, StoredExhibit]:
    key = layout.load_mode.overlay_key
    if layout.load_mode.is_overlay and key is not OverlayKey.CONTROL_NUMBER:
        found = find_by_key(reading, case_id, key, set(numbers), any_number=layout.any_number)
        return {key: StoredExhibit(first.id, 0, 0, first.row_hash) for key, [first, *_] in found.items()}
    # The case of an overlay has them.
    may_be_held = layout.load_mode.is_overlay or may_hold(reading, case_id, numbers)
    return find_exhibits(reading, case_id, numbers) if may_be_held else {}


def _read_texts(reading: Session, layout: Layout, held: Mapping[str, StoredExhibit]) -> Mapping[int, bytes]:
    """Return the hashes of the texts that the rows of an overlay may find in their exhibits already."""
    if not layout.load_mode.is_overlay or EXTRACTED_TEXT not in layout.fields:
        return {}
    return read_text_hashes(reading, [each.id for each in held.values()])


def _build_rows(
    loaded: LoadedChunk, columnar: ColumnarRows, held: Mapping[str, StoredExhibit]
) -> Iterator[StorableRow]:
    """Yield the regular rows with the values that are needed of them.

    The end of a check needs dates and parents, and what describes how rows differ from exhibits, of which there may be
    none, needs the properties. Where blanks clear, equal hashes do not prove equal values. For an overlay, the earlier
    ones never do: it fills what the versions that computed them did not store.
    """
    is_check, load_mode = loaded.import_record.status == ImportStatus.CHECKING, loaded.layout.load_mode
    compares_earlier = bool(held) and not load_mode.is_overlay
    earlier = columnar.earlier_hashes if compares_earlier else repeat(())
    with_values = (
        is_check
        or loaded.import_record.volume_id is not None
        or (load_mode.is_overlay and load_mode.blanks is Blanks.CLEAR)
        or any(map(partial(_is_new_or_differs, held), columnar.numbers, columnar.hashes, earlier))
    )
    return columnar.build_rows(
        with_values=with_values, with_properties=bool(held) or not is_check, with_earlier=compares_earlier
    )


def _is_new_or_differs(
    held: Mapping[str, StoredExhibit], number: str, row_hash: bytes, earlier_hashes: tuple[bytes, ...]
) -> bool:
    return number not in held or held[number].row_hash not in (row_hash, *earlier_hashes)
