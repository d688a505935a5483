"""Write and find the Bates ranges that documents were delivered under, besides those of their own fields.

Guaranteed: a range is a claim of one source, and others may claim the same one; each is written and removed with its
source, and none with another. A document is found by a number if its fields or a claim have it. Void numbers of
productions are not here: a production claims its numbers when it is confirmed. Every statement is for any number of
documents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, false, or_, select, text
from sqlalchemy.orm import Session

from core.bates_numbers import BatesNumber, list_windows, read_span
from shell.db.bulk_insert import insert_missing
from shell.tables.exhibits import Exhibits
from shell.tables.production_numbers import ProductionNumbers
from shell.utils.db_helpers import force_index, is_in

_KEY = ("exhibit_id", "import_id", "production_id", "seq")
_COLUMNS = (
    *_KEY,
    *("case_id", "line_no", "prefix", "level", "first_number", "last_number", "bates_begin", "bates_end", "label"),
)
_DELETE = text(
    "DELETE FROM production_numbers WHERE import_id = :import_id AND line_no BETWEEN :first_line AND :last_line "
    "AND exhibit_id NOT IN :kept"
).bindparams(bindparam("kept", expanding=True))
_HAS_CLAIMS = text("SELECT 1 FROM production_numbers WHERE case_id = :case_id LIMIT 1")
# A prefix of a production is ASCII, and does not end in a digit. What is there stays as it is.
_CLAIM_PRODUCED = text("""
    INSERT INTO production_numbers (exhibit_id, import_id, production_id, seq, case_id, line_no, prefix, level,
      first_number, last_number, bates_begin, bates_end)
    SELECT d.exhibit_id, 0, d.production_id, 0, p.case_id, 0, CONVERT(p.prefix USING utf8mb4),
      IF(d.last_number = d.first_number, 0, CHAR_LENGTH(BIN(d.last_number - d.first_number))),
      d.first_number, d.last_number, CONCAT(p.prefix, LPAD(d.first_number, p.digits, '0')),
      CONCAT(p.prefix, LPAD(d.last_number, p.digits, '0'))
    FROM production_documents AS d JOIN productions AS p ON p.id = d.production_id
    JOIN exhibits AS e ON e.id = d.exhibit_id
    WHERE d.production_id = :production_id AND d.status = 'produced' ORDER BY d.exhibit_id
    ON DUPLICATE KEY UPDATE exhibit_id = production_numbers.exhibit_id
""")
_PAGE_OF_CASE = text("""
    SELECT e.control_number, n.bates_begin, n.bates_end
    FROM exhibits AS e FORCE INDEX (uq_exhibits_control_number) STRAIGHT_JOIN production_numbers AS n
      ON n.exhibit_id = e.id
    WHERE e.case_id = :case_id AND e.control_number > :after AND e.control_number <= :last
    ORDER BY e.control_number, n.import_id, n.production_id, n.seq
""")


class NewClaim(NamedTuple):
    """A claim to be written: a source is an import with the line of its file, a production, or none for a user."""

    exhibit_id: int
    seq: int
    bates_begin: str
    bates_end: str | None
    import_id: int = 0
    line_no: int = 0
    label: str | None = None


def write_claims(transaction: Session, case_id: int, claims: Iterable[NewClaim]) -> None:
    """Insert the claims that do not exist, in the order of their keys: one statement for each megabyte.

    The transaction has created or locked the exhibits, or is that of an import, beside which none is removed.
    """
    rows = [
        (
            *(each.exhibit_id, each.import_id, 0, each.seq, case_id, each.line_no),
            *read_span(each.bates_begin, each.bates_end),
            *(each.bates_begin, each.bates_end, each.label),
        )
        for each in claims
    ]
    if rows:
        insert_missing(transaction, ProductionNumbers.__tablename__, _COLUMNS, rows, key=len(_KEY))


def claim_produced(transaction: Session, production_id: int) -> None:
    """Insert the numbers of a production's produced documents that are missing: in the transaction that confirms it.

    A later transaction may do it for what an earlier version confirmed.
    """
    transaction.execute(_CLAIM_PRODUCED, {"production_id": production_id})


def delete_claims(
    transaction: Session, import_id: int, first_line: int, last_line: int, *, kept: Sequence[int]
) -> None:
    """Delete what lines of an import claim, for its undo; the documents that it created and keeps have theirs."""
    place = {"import_id": import_id, "first_line": first_line, "last_line": last_line}
    transaction.execute(_DELETE, {**place, "kept": list(kept)})


def has_claims(reading: Session, case_id: int) -> bool:
    """Return whether a document of the case has a number besides that of its fields."""
    return reading.execute(_HAS_CLAIMS, {"case_id": case_id}).first() is not None


def find_claimants(reading: Session, case_id: int, numbers: Collection[str]) -> dict[str, set[int]]:
    """Return the ids of the exhibits that claim ranges which begin with these numbers, byte for byte, by number."""
    claim, found = ProductionNumbers, dict[str, set[int]]()
    if numbers:
        statement = select(claim.bates_begin, claim.exhibit_id).where(claim.case_id == case_id)
        statement = force_index(statement, claim, "ix_production_numbers_begin")
        for number, exhibit_id in reading.execute(statement.where(is_in(claim.bates_begin, sorted(numbers)))):
            # The database also finds texts that differ in blanks at their ends.
            if number in numbers:
                found.setdefault(number, set()).add(exhibit_id)
    return found


def list_claimed(reading: Session, exhibit_ids: Collection[int]) -> dict[int, set[tuple[str, str | None]]]:
    """Return the ranges that the exhibits claim, each as begin and end, by exhibit."""
    claim, found = ProductionNumbers, dict[int, set[tuple[str, str | None]]]()
    if exhibit_ids:
        statement = select(claim.exhibit_id, claim.bates_begin, claim.bates_end)
        for exhibit_id, begin, end in reading.execute(statement.where(is_in(claim.exhibit_id, sorted(exhibit_ids)))):
            found.setdefault(exhibit_id, set()).add((begin, end))
    return found


def list_claims_between(reading: Session, case_id: int, after: str, last: str) -> list[tuple[str, str, str | None]]:
    """Return control number, begin and end of each claim of the exhibits after one control number up to another."""
    place = {"case_id": case_id, "after": after, "last": last}
    return [tuple(row) for row in reading.execute(_PAGE_OF_CASE, place)]


def has_claim(case_id: int, lower: BatesNumber | None, upper: BatesNumber | None) -> ColumnElement[bool]:
    """Return the condition on Exhibits that one claims a number from `lower` to `upper`; at least one is given.

    The few claims of each exhibit that is read are found by the primary key. What a server makes of a subquery without
    a correlation depends on its version, and can be a search of the index of ranges for each exhibit.
    """
    claim, known = ProductionNumbers, lower or upper
    if known is None:
        return false()
    own = select(claim.exhibit_id).where(claim.exhibit_id == Exhibits.id, claim.case_id == case_id)
    own = own.where(claim.prefix == known.prefix.encode()).correlate(Exhibits)
    if lower is not None:
        own = own.where(claim.last_number >= lower.number)
    if upper is not None:
        own = own.where(claim.first_number <= upper.number)
    return force_index(own, claim, "PRIMARY").limit(1).scalar_subquery().is_not(None)


def list_claimants(reading: Session, case_id: int, lower: BatesNumber, upper: BatesNumber) -> set[int]:
    """Return the ids of the exhibits that claim a number from `lower` to `upper`, which have one prefix.

    The index leads to the ranges of each level that begin near enough.
    """
    claim = ProductionNumbers
    windows = (
        and_(claim.level == level, claim.first_number.between(first, last))
        for level, first, last in list_windows(lower.number, upper.number)
    )
    place = (claim.case_id == case_id, claim.prefix == lower.prefix.encode(), claim.last_number >= lower.number)
    return set(reading.scalars(select(claim.exhibit_id).where(*place, or_(*windows))))
