"""Write what the rows of a chunk change in existing exhibits: values, history and links.

Guaranteed: everything is decided and written under locks on the exhibits, which are taken in the order of their ids
before anything else; each changed exhibit gets one version more and one row of history in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session

from core.exhibit_history import Action, Change
from shell.db.bulk_insert import insert_bisecting, try_write
from shell.exhibits.history import Author, NewEntry, write_encoded, write_entries
from shell.exhibits.links import insert_links
from shell.exhibits.texts import set_text_ids
from shell.exhibits.updates import delete_links, update_columns, update_exhibits
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.exhibit_store import build_refusal
from shell.imports.chunks.number_claims import ReplacedRange, claim_replaced, find_replaced
from shell.imports.chunks.overlay_rows import ChunkOverlay, OverlaidRow
from shell.imports.chunks.overlay_targets import OverlayTargets
from shell.imports.chunks.overlay_texts import TEXT_KEY
from shell.imports.chunks.results import RowResults
from shell.imports.chunks.text_packs import insert_packed
from shell.imports.overlays.columns import ColumnChanges
from shell.imports.overlays.links import LinkChanges
from shell.imports.rows.coercion import StorableRow
from shell.tables.name_kinds import NAME_KINDS, NameKind


class OverlayWriter:
    """The overlay of one attempt at one chunk."""

    def __init__(self, chunk_input: ChunkInput, results: RowResults) -> None:
        self._import, self._results, self._input = chunk_input.import_record, results, chunk_input
        self._overlay, self._targets = ChunkOverlay(chunk_input, results), OverlayTargets(chunk_input, results)
        self._author = Author(Action.OVERLAID, self._import.user_id, self._import.id)
        self._added: dict[NameKind, list[tuple[int, int]]] = {kind: [] for kind in NAME_KINDS}
        self._removed: dict[NameKind, list[tuple[int, int]]] = {kind: [] for kind in NAME_KINDS}

    def write(self, transaction: Session) -> list[StorableRow]:
        """Overlay the exhibits of the rows; return the rows whose exhibits have to be created."""
        targets = self._targets.find(transaction, locked=True)
        # A correction compares the versions of its documents row by row.
        by_column = self._import.corrects_import_id is None
        for part in self._overlay.decide(transaction, targets, by_column=by_column):
            self._write_columns(transaction, part.columns)
            self._write_part(transaction, part.rows)
        for kind in NAME_KINDS:
            insert_links(transaction, kind, self._added[kind], self._import.user_id)
            delete_links(transaction, kind, self._removed[kind])
        return self._targets.new

    def _write_columns(self, transaction: Session, changes: ColumnChanges) -> None:
        """Write what was decided by column; row by row if the server refuses a value."""
        ids = [each.exhibit.id for each in changes.changed]
        if not ids:
            return
        if not try_write(transaction, lambda: update_columns(transaction, ids, changes.columns)):
            self._write_part(transaction, self._overlay.decide_rows(transaction, changes.changed))
            return
        write_encoded(transaction, self._author, changes.entries)
        for each in changes.changed:
            self._results.updated.append((each.row, each.exhibit.id))
            self._note_links(each.exhibit.id, each.links)

    def _write_part(self, transaction: Session, part: Sequence[OverlaidRow]) -> None:
        refused = insert_bisecting(
            transaction, lambda rows: update_exhibits(transaction, rows), [each.update for each in part]
        )
        numbers = {update.id: number for update, number in refused}
        written = [each for each in part if each.exhibit.id not in numbers]
        claim_replaced(transaction, self._import.case_id, list(_list_replaced(written)))
        texts = self._write_texts(transaction, written)
        write_entries(transaction, self._author, [_build_entry(each, texts.get(each.exhibit.id)) for each in written])
        for each in written:
            self._results.updated.append((each.row, each.exhibit.id))
            self._note_links(each.exhibit.id, each.links)
        self._results.rejected += [
            (each.row, [build_refusal(numbers[each.exhibit.id])]) for each in part if each.exhibit.id in numbers
        ]

    def _write_texts(self, transaction: Session, written: Sequence[OverlaidRow]) -> dict[int, int | None]:
        """Have the exhibits whose text changes point to the one of their row, or to none; return their new texts."""
        changed = {each.row.source.line_no: each for each in written if TEXT_KEY in each.changes}
        lines = [line for line, each in changed.items() if each.changes[TEXT_KEY].new is not None]
        ids = insert_packed(transaction, self._import, self._input.pack, self._input.stored_pack, lines)
        texts = {each.exhibit.id: ids.get(line) for line, each in changed.items()}
        set_text_ids(transaction, texts)
        return texts

    def _note_links(self, exhibit_id: int, links: LinkChanges) -> None:
        for kind, name_id, _ in links.added:
            self._added[kind].append((exhibit_id, name_id))
        for kind, name_id, _ in links.removed:
            self._removed[kind].append((exhibit_id, name_id))


def _list_replaced(part: Sequence[OverlaidRow]) -> Iterator[ReplacedRange]:
    for each in part:
        begin, end = find_replaced(each.changes, each.update.columns) or (None, None)
        # An end without a begin is not a number.
        if begin is not None:
            yield ReplacedRange(each.exhibit.id, each.exhibit.version, begin, end)


def _build_entry(overlaid: OverlaidRow, text_id: int | None) -> NewEntry:
    exhibit, changes = overlaid.exhibit, overlaid.changes
    if text_id is not None:
        changes = {**changes, TEXT_KEY: Change(changes[TEXT_KEY].old, str(text_id))}
    return NewEntry(exhibit.id, exhibit.version + 1, changes, overlaid.row.source.line_no, overlaid.stated)
