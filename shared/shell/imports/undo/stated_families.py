"""Find the attachments of documents in a case where rows state families, over all generations.

Guaranteed: a parent is the one that every other reader finds (`shell.families`). The number of statements depends on
the depth of the families, of which GENERATIONS are read, and not on their number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy.orm import Session

from core.families.kinds import FamilyKind
from core.families.resolution import Document, Parent
from shell.families.reading import find_children, find_parents, read_documents
from shell.imports.undo.context import CreatedDocument, UndoContext
from shell.imports.undo.store import GENERATIONS, Attachment, find_versions


class StatedAttachment(NamedTuple):
    """An attachment and how its parent is stated."""

    attachment: Attachment
    parent: Parent

    @property
    def is_explicit(self) -> bool:
        """Whether the column of the attachment states its parent."""
        return self.parent.kind is FamilyKind.PARENT


def find_parent_numbers(reading: Session, case_id: int, created: Sequence[CreatedDocument]) -> dict[int, str]:
    """Return the control number of the parent of each document that has one, by the id of the document."""
    documents = list(read_documents(reading, case_id, "id", {each.exhibit.id for each in created}))
    return {each: parent.control_number for each, parent in find_parents(reading, case_id, documents).items()}


def find_stated_descendants(
    reading: Session, context: UndoContext, parents: Mapping[str, int], known: Collection[int]
) -> list[StatedAttachment]:
    """Return the attachments of these parents and, if the import created them, theirs, without those that are known."""
    case_id, own = context.import_record.case_id, context.import_record.id
    found: dict[int, StatedAttachment] = {}
    generation, above = 1, list(read_documents(reading, case_id, "id", set(parents.values())))
    while above and generation <= GENERATIONS:
        children = [
            (child, parent)
            for child, parent in find_children(reading, case_id, above)
            if child.id not in known and child.id not in found
        ]
        versions = find_versions(reading, case_id, [child.id for child, _ in children])
        for child, parent in children:
            found[child.id] = StatedAttachment(_build(child, parent, versions[child.id], generation), parent)
        above = [child for child, _ in children if child.import_id == own]
        generation += 1
    return list(found.values())


def _build(child: Document, parent: Parent, version: int, generation: int) -> Attachment:
    place = (child.import_id, version, generation)
    return Attachment(child.id, child.control_number, parent.control_number, *place)
