"""Claim the Bates ranges that the rows of a chunk state, besides those that become the range of their documents.

Guaranteed: what a row of an overlay states is a claim of its document, whether it changes the document or not; a range
that an overlay replaces becomes a claim of the source that stated it, under the document's lock, in the transaction
that replaces it. A first import of a file with one pair of Bates columns claims nothing: its documents have the range.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.exhibit_history import Action, Changes, Entry, Key, Kind
from core.imports.production_columns import ProductionColumns, StatedRange
from core.slices import slice_by_size
from shell.exhibits.history import iterate_histories
from shell.exhibits.numbers import NewClaim, list_claimed, write_claims
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.results import RowResults
from shell.imports.rows.coercion import StorableRow
from shell.utils.key_validation import is_storable

BATES_KEYS = (Key(Kind.FIELD, "bates_begin"), Key(Kind.FIELD, "bates_end"))
HISTORIES_AT_ONCE = 100
_CREATORS = text(
    "SELECT e.id, e.import_id, e.line_no FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS named "
    "STRAIGHT_JOIN exhibits AS e FORCE INDEX (PRIMARY) ON e.id = named.id"
)


class ReplacedRange(NamedTuple):
    """The range that an exhibit had, and its version before it is replaced."""

    exhibit_id: int
    version: int
    begin: str
    end: str | None


def write_row_claims(transaction: Session, chunk_input: ChunkInput, results: RowResults) -> None:
    """Insert the claims of the rows that the case holds now, in the transaction of the chunk; at most one statement."""
    claims = list_claims(chunk_input, results)
    write_claims(transaction, chunk_input.import_record.case_id, claims)


def list_claims(chunk_input: ChunkInput, results: RowResults) -> Iterator[NewClaim]:
    """Yield what the rows claim, the ranges of fields with `seq` 0; new exhibits of a check have id 0."""
    columns, import_id = ProductionColumns.find(chunk_input.layout), chunk_input.import_record.id
    overlaid = [*results.updated, *results.unchanged] if chunk_input.layout.load_mode.is_overlay else []
    if columns.own:
        for row, exhibit_id in overlaid:
            own = columns.read_own(row.source.cells or ())
            if own:
                yield from _build(own, row, exhibit_id, import_id)
    if columns.others:
        for row, exhibit_id in (*results.inserted, *results.updated, *results.unchanged):
            for other in columns.read_others(row.source.cells or ()):
                yield from _build(other, row, exhibit_id, import_id)


def _build(stated: StatedRange, row: StorableRow, exhibit_id: int, import_id: int) -> Iterator[NewClaim]:
    """Yield the claim, unless its column cannot hold the number: of other columns that is a property only."""
    seq, begin, end, label = stated
    if is_storable(begin, "production_numbers", "bates_begin"):
        end = end if end and is_storable(end, "production_numbers", "bates_end") else None
        label = label if label and is_storable(label, "production_numbers", "label") else None
        yield NewClaim(exhibit_id, seq, begin, end, import_id, row.source.line_no, label)


def find_replaced(changes: Changes, columns: Mapping[str, Any]) -> tuple[str | None, str | None] | None:
    """Return the range, as begin and end, that changes of an exhibit replace; None if they replace none.

    `columns` are the exhibit's values after the changes.
    """
    changed = [key for key in BATES_KEYS if key in changes and changes[key].old != changes[key].new]
    if not changed:
        return None
    begin, end = (changes[key].old if key in changes else columns[key.name] for key in BATES_KEYS)
    before = (begin if isinstance(begin, str) else None, end if isinstance(end, str) else None)
    return before if any(before) else None


def claim_replaced(transaction: Session, case_id: int, replaced: Sequence[ReplacedRange]) -> None:
    """Insert a claim for each range that no source of its exhibit claims yet: of the one that stated it.

    The caller has locked the exhibits, and has not written their next versions to the history yet.
    """
    claimed = list_claimed(transaction, [each.exhibit_id for each in replaced])
    missing = [each for each in replaced if each[2:] not in claimed.get(each.exhibit_id, ())]
    if missing:
        creators = _find_creators(transaction, [each.exhibit_id for each in missing])
        setters = dict(_find_setters(transaction, [each for each in missing if each.version > 1]))
        write_claims(transaction, case_id, (_claim(each, setters.get(each.exhibit_id), creators) for each in missing))


def _claim(replaced: ReplacedRange, setter: Entry | None, creators: Mapping[int, tuple[int, int]]) -> NewClaim:
    exhibit_id, _, begin, end = replaced
    if setter is None:
        import_id, line_no = creators[exhibit_id]
        return NewClaim(exhibit_id, 0, begin, end, import_id, line_no)
    if setter.import_id is None:
        return NewClaim(exhibit_id, setter.version, begin, end)
    return NewClaim(exhibit_id, 0, begin, end, setter.import_id, setter.line_no or 0)


def _find_creators(transaction: Session, ids: Sequence[int]) -> dict[int, tuple[int, int]]:
    rows = transaction.execute(_CREATORS, {"ids": json.dumps(ids)})
    return {row.id: (row.import_id, row.line_no) for row in rows}


def _find_setters(transaction: Session, replaced: Sequence[ReplacedRange]) -> Iterator[tuple[int, Entry]]:
    """Yield each exhibit whose range an overlay or a user has set, with that entry; the others have their first one."""
    begins = {each.exhibit_id: each for each in replaced}
    for part in slice_by_size(sorted(begins), lambda _: 1, HISTORIES_AT_ONCE):
        for exhibit_id, entries in iterate_histories(transaction, part):
            setter = find_setter(entries, begins[exhibit_id])
            if setter:
                yield exhibit_id, setter


def find_setter(entries: Iterable[Entry], replaced: ReplacedRange) -> Entry | None:
    """Return the last entry, but for undos, that gave the exhibit the number; None if it has had it from the first."""
    found = None
    for entry in entries:
        change = entry.changes.get(BATES_KEYS[0])
        if change and change.new == replaced.begin and entry.action is not Action.UNDONE:
            found = entry
    return found
