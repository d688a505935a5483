"""Find the attachments of a document, and all members of its family.

Guaranteed: parents are those of `shell.families.reading`, whatever states them; a family is followed to its ends in
both directions, and the number of statements depends on its depth alone. A document that states a parent which the case
does not have is at the top of its family.
Not guaranteed: that the family stays the same afterwards; no row is locked.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from core.families.resolution import Document
from shell.families.reading import find_children, find_parents, read_documents


def list_attachments(reading: Session, case_id: int, control_number: str) -> list[int]:
    """Return the ids of the documents whose parent is the document with this control number, sorted."""
    parents = list(read_documents(reading, case_id, "control_number", [control_number]))
    return sorted(child.id for child, _ in find_children(reading, case_id, parents))


def list_family(reading: Session, case_id: int, control_number: str) -> list[int]:
    """Return the ids of the document with this control number, of those above it, and of all below these, sorted."""
    known: dict[int, Document] = {}
    above = list(read_documents(reading, case_id, "control_number", [control_number]))
    while above:
        known.update((each.id, each) for each in above)
        numbers = {each.control_number for each in find_parents(reading, case_id, above).values()}
        above = [each for each in read_documents(reading, case_id, "control_number", numbers) if each.id not in known]
    below = list(known.values())
    while below:
        below = [child for child, _ in find_children(reading, case_id, below) if child.id not in known]
        known.update((each.id, each) for each in below)
    return sorted(known)
