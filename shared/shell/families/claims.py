"""Find the Bates numbers that documents were delivered under before, by which statements name them, too.

Guaranteed: one statement for any number of documents or numbers; numbers are equal byte for byte.
Not guaranteed: a lock.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.families.resolution import Document
from shell.tables.production_numbers import ProductionNumbers
from shell.utils.db_helpers import force_index, is_in


def add_claims(reading: Session, documents: Sequence[Document]) -> list[Document]:
    """Return the documents with the first number of each range that they claim."""
    found = dict[int, set[str]]()
    if documents:
        claim = ProductionNumbers
        statement = select(claim.exhibit_id, claim.bates_begin).where(
            is_in(claim.exhibit_id, sorted({each.id for each in documents}))
        )
        for exhibit_id, number in reading.execute(statement):
            found.setdefault(exhibit_id, set()).add(number)
    return [each._replace(claims=tuple(sorted(found.get(each.id, ())))) for each in documents]


def find_claimed(reading: Session, case_id: int, numbers: Collection[str]) -> set[str]:
    """Return those of the numbers with which a range begins that a document of the case claims."""
    if not numbers:
        return set()
    claim = ProductionNumbers
    statement = force_index(
        select(claim.bates_begin).distinct().where(claim.case_id == case_id), claim, "ix_production_numbers_begin"
    )
    return set(reading.scalars(statement.where(is_in(claim.bates_begin, sorted(numbers))))).intersection(numbers)
