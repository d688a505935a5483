"""What the steps of an undo share: whose undo it is, which entries of a history count, and what was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.exhibit_history import Entry
from core.imports.history_fold import is_live
from core.imports.undo import Kept, OtherKind
from core.statuses import UNDONE_STATUSES
from shell.exhibits.updates import KeyedExhibit
from shell.tables.imports import Imports
from shell.tables.undos import ImportUndos

_UNDONE = text("SELECT id FROM imports WHERE case_id = :case_id AND status IN :statuses").bindparams(
    bindparam("statuses", expanding=True)
)
_BEGAN = text("SELECT MIN(finished_at) FROM import_chunks WHERE import_id = :import_id AND status = 'done'")


@dataclass(frozen=True)
class UndoContext:
    """An undo of an import. `undone` are the imports of the case that do not count, this one among them.

    `began` is when the first chunk of the import was committed: what was changed before was changed before all that
    the import did.
    """

    import_record: Imports
    undo: ImportUndos
    undone: frozenset[int]
    began: datetime

    def is_live(self, entry: Entry) -> bool:
        """Return whether the entry counts."""
        return is_live(entry, self.undone)


class CreatedDocument(NamedTuple):
    """A locked document that the import created: with its line in the file, and the number of its parent, if any."""

    exhibit: KeyedExhibit
    line_no: int
    parent: str | None


class KeptDocument(NamedTuple):
    """A document and the line of the import's file that names it, with all that is kept of it."""

    line_no: int
    exhibit_id: int
    control_number: str
    kept: Sequence[Kept]


@dataclass
class PartResult:
    """What one part of an undo did: the ids of the documents that it restored and removed, and what it kept.

    `others` counts documents by what another import has to do with them, and by that import.
    """

    restored: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    links_restored: int = 0
    kept: list[KeptDocument] = field(default_factory=list)
    others: Counter[tuple[OtherKind, int]] = field(default_factory=Counter)

    def keep(self, exhibit: KeyedExhibit, line_no: int, kept: Sequence[Kept]) -> None:
        """Add what was kept of a document, if that is anything."""
        if kept:
            self.kept.append(KeptDocument(line_no, exhibit.id, exhibit.control_number, kept))

    def count(self) -> dict[str, int]:
        """Return the counts by column of `import_undo_parts`."""
        kept = len({each.exhibit_id for each in self.kept})
        return {
            "restored": len(self.restored),
            "removed": len(self.removed),
            "kept": kept,
            "links_restored": self.links_restored,
        }


def read_context(reading: Session, import_record: Imports, undo: ImportUndos) -> UndoContext:
    """Read which imports of the case do not count; none can be undone while this undo is under way."""
    statuses = [each.value for each in sorted(UNDONE_STATUSES)]
    undone = reading.execute(_UNDONE, {"case_id": import_record.case_id, "statuses": statuses}).scalars()
    began: Any = reading.execute(_BEGAN, {"import_id": import_record.id}).scalar_one()
    return UndoContext(import_record, undo, frozenset(undone) | {import_record.id}, began)
