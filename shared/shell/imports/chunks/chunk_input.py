"""Everything that is known of a chunk before its transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from sqlalchemy.orm import DeclarativeBase, Session

from core.imports.columns.facts import ColumnFacts
from core.statuses import ImportStatus
from core.texts.packs import TextPack
from core.volumes.linking import RowFiles
from shell.imports.chunks.chunk_source import LoadedChunk
from shell.imports.chunks.exhibit_store import StoredExhibit, prepare_exhibits
from shell.imports.chunks.text_packs import StoredPack, pack_texts, store_pack
from shell.imports.rows.coercion import StorableRow
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.named_rows import NamedRow, add_named, find_named

Model = type[DeclarativeBase]


class ChunkInput:
    """The rows of a chunk, and what its case held for them when they were read; the same for every attempt.

    `held` are the exhibits under the rows' control numbers, by control number; `new` are the rows that can be stored
    under other numbers. `found_names` are those that exist; attempts change it. For a check, which inserts nothing,
    `new` is empty. `files` are those that the rows name, by line; None if the load file is not one of a volume.
    `column_facts` are what the chunk has for the end of the import. `held_texts` are the hashes of the texts that
    exhibits have, by their ids, for an overlay.
    """

    def __init__(
        self,
        loaded: LoadedChunk,
        rows: Sequence[StorableRow],
        held: Mapping[str, StoredExhibit],
        files: Mapping[int, RowFiles] | None,
        column_facts: ColumnFacts,
        held_texts: Mapping[int, bytes],
    ) -> None:
        self.import_record, self.chunk, self.layout = loaded[:3]
        self.rows, self.held, self.files, self.column_facts = rows, held, files, column_facts
        self.rejected = [row for row in rows if row.errors]
        self.valid = [row for row in rows if not row.errors] if self.rejected else rows
        self.is_check = self.import_record.status == ImportStatus.CHECKING
        self._name_lines: dict[Model, dict[str, int]] = {
            kind.model: self._list_first_lines(kind) for kind in NAME_KINDS
        }
        self.found_names: dict[Model, dict[str, NamedRow]] = {}
        self.clear_names()
        self.new = prepare_exhibits(() if self.is_check else self.list_new_rows())
        self.pack = self._pack_texts(held_texts)
        self.stored_pack: StoredPack | None = None

    def _pack_texts(self, held_texts: Mapping[int, bytes]) -> TextPack:
        """Return the texts that the chunk needs: of a check their hashes alone, if they are compared."""
        if not self.layout.load_mode.is_overlay:
            return pack_texts(self.layout, () if self.is_check else self.list_new_rows())
        held = ((row, self.held.get(str(row.control_number))) for row in self.valid)
        stored = {(row.source.line_no, held_texts.get(exhibit.id, b"")) for row, exhibit in held if exhibit}
        return pack_texts(self.layout, self.valid, stored)

    def store_texts(self) -> Self:
        """Write the texts of the chunk to the bucket, once; a check writes none. Raises what `store_pack` raises."""
        if not self.is_check and self.stored_pack is None:
            self.stored_pack = store_pack(self.import_record, self.chunk, self.pack)
            self.pack.data = b""
        return self

    def list_new_rows(self) -> list[StorableRow]:
        """Return the rows whose exhibits the case did not hold when it was read; none if they are not created."""
        creates = self.layout.load_mode.creates
        return [row for row in self.valid if row.control_number not in self.held] if creates else []

    def clear_names(self) -> None:
        """Let the next attempt find the names again: one may have been deleted, or its transaction lost."""
        self.found_names.update((model, {}) for model in self._name_lines)

    def find_names(self, reading: Session) -> None:
        """Find the names that exist."""
        self.found_names.update(find_named(reading, self.import_record.case_id, self._name_lines))

    def list_missing_names(self) -> dict[Model, dict[str, int]]:
        """Return the names that are not known to exist, each with its lowest line."""
        return {
            model: {name: line for name, line in lines.items() if name not in self.found_names[model]}
            for model, lines in self._name_lines.items()
        }

    def number_missing_names(self) -> None:
        """Give the names that do not exist ids that no row has, for a check, which adds none."""
        for model, lines in self.list_missing_names().items():
            numbered = {name: NamedRow(-number, name) for number, name in enumerate(lines, start=1)}
            self.found_names[model] = {**self.found_names[model], **numbered}

    def add_names(self, transaction: Session) -> None:
        """Add the names that do not exist; the caller holds the lock on the chunk's row and commits."""
        self.find_names(transaction)
        missing = self.list_missing_names()
        for model, lines in missing.items():
            add_named(transaction, model, self.import_record.case_id, self.import_record.id, lines)
        for model, added in find_named(transaction, self.import_record.case_id, missing).items():
            self.found_names[model] |= added

    def _list_first_lines(self, kind: NameKind) -> dict[str, int]:
        """Return the names of the rows, each with its lowest line.

        Rows that conflict with an exhibit of the case, or lack the one to be changed, are not imported, and their names
        are left out.
        """
        lines: dict[str, int] = {}
        for row in filter(self._may_be_imported, self.valid):
            for name in row.get_names(kind):
                lines.setdefault(name.name, row.source.line_no)
        return lines

    def _may_be_imported(self, row: StorableRow) -> bool:
        stored, mode = self.held.get(str(row.control_number)), self.layout.load_mode
        if stored is None:
            return mode.creates
        return mode.is_overlay or row.is_equal(stored.row_hash)
