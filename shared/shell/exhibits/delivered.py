"""Describe the ranges of Bates numbers that a document was delivered under, with their sources, for the API."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.contracts.production_numbers import ProductionNumber
from shell.tables.exhibits import Exhibits
from shell.tables.production_numbers import ProductionNumbers

MAX_LISTED = 1_000


def list_numbers(reading: Session, exhibit: Exhibits) -> list[ProductionNumber]:
    """Return the claims of an exhibit by source, at most MAX_LISTED: imports, then productions."""
    claim = ProductionNumbers
    statement = select(claim).where(claim.exhibit_id == exhibit.id, claim.case_id == exhibit.case_id)
    ordered = statement.order_by(claim.import_id == 0, claim.import_id, claim.production_id, claim.seq)
    return [_describe(row) for row in reading.scalars(ordered.limit(MAX_LISTED))]


def _describe(row: ProductionNumbers) -> ProductionNumber:
    return ProductionNumber(
        bates_begin=row.bates_begin,
        bates_end=row.bates_end,
        label=row.label,
        import_id=row.import_id or None,
        line=row.line_no if row.import_id else None,
        production_id=row.production_id or None,
    )
