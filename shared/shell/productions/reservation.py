"""Reserve the Bates numbers of a production and the positions of its documents, in one transaction.

Guaranteed: what is produced is fixed with the numbers: files, page sets, page counts, parents, order and parts. A
document whose pages, files, parent or family change until then is selected again; a later change has no effect on the
production.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.productions.bates import BatesFormat, split_numbers
from core.productions.findings import FindingCode, format_findings, group_findings
from core.productions.parts import split_parts
from core.statuses import DocumentStatus
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.productions import documents
from shell.productions.bates_sequences import allocate_numbers, ensure_sequence, list_overlapping
from shell.productions.preparation import PreparedDocuments, lock_families, prepare_documents, refuse_blocking
from shell.productions.selection import SelectedExhibit, lock_selected_exhibits
from shell.productions.state import lock_active_production
from shell.tables.bates import ProductionDocuments
from shell.tables.productions import Productions
from shell.utils.advisory_lock import InsertLock, allocate_positions, table_insert_lock
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_COLUMNS = (
    *("production_id", "exhibit_id", "destination_id", "position", "sequence_id", "first_number", "last_number"),
    *("files", "status", "control_number", "page_set_id", "page_count", "parent_control_number"),
)


class Reservation(NamedTuple):
    """The numbers of documents and parts, and the destination and first position of the volume."""

    documents: int
    parts: int
    destination_id: int
    position: int


@retry_on_db_conflict(resolve=rerun_if_unknown)
def reserve_numbers(production_id: int) -> Reservation:
    """Give every exhibit its Bates numbers and its position in the volume, unless an earlier call did.

    Raises InvalidInputError for documents that cannot be produced, what selecting exhibits, counting pages and
    allocating numbers raise, and CancelledError.
    """
    with session() as reading:
        production = reading.get_one(Productions, production_id)
        if production.documents is not None:
            return _describe_reservation(reading, production)
    prepared = prepare_documents(production)
    refuse_blocking(prepared.findings)
    with session() as preparing:
        ensure_sequence(preparing, production.case_id, *_number_request(production, prepared.exhibits))
    with table_insert_lock(get_destination_name(production)) as lock, session() as transaction:
        production = lock_active_production(transaction, production_id)
        if production.documents is None:
            _append_documents(transaction, lock, production, prepared)
        return _describe_reservation(transaction, production)


def get_destination_name(production: Productions) -> str:
    """Return the name of the destination to which documents are appended: one per case and volume."""
    return f"volume:{production.case_id}:{production.volume}"


def _append_documents(
    transaction: Session, lock: InsertLock, production: Productions, prepared: PreparedDocuments
) -> None:
    exhibits = prepared.exhibits
    lock_selected_exhibits(transaction, production, prepared.selected)
    lock_families(transaction, production, prepared)
    bates_format, count, start_at = _number_request(production, exhibits)
    allocated = allocate_numbers(transaction, production.case_id, bates_format, count, start_at)
    first_position = allocate_positions(transaction, lock, len(exhibits))
    ranges = split_numbers(allocated.numbers.first, [each.numbers for each in exhibits])
    rows = [
        (
            production.id,
            exhibit.exhibit_id,
            lock.destination_id,
            first_position + index,
            allocated.sequence_id,
            *numbers,
            json.dumps(exhibit.files),
            DocumentStatus.RESERVED.value,
            exhibit.control_number,
            exhibit.page_set_id,
            exhibit.page_count,
            exhibit.parent or "",
        )
        for index, (exhibit, numbers) in enumerate(zip(exhibits, ranges, strict=True))
    ]
    insert_new(transaction, "production_documents", _COLUMNS, rows)
    production.documents, production.sequence_id = len(rows), allocated.sequence_id
    production.first_number, production.last_number = allocated.numbers
    production.parts = json.dumps(split_parts([each.objects for each in exhibits], documents.PART_SIZE))
    overlapping = list_overlapping(transaction, production.case_id, bates_format, allocated.numbers)
    found = [*prepared.found, *((FindingCode.BATES_OVERLAP, each) for each in overlapping)]
    production.warnings = format_findings(group_findings(found))
    transaction.flush()


def _number_request(production: Productions, exhibits: list[SelectedExhibit]) -> tuple[BatesFormat, int, int | None]:
    """Return the Bates format, how many numbers are needed, and the requested first number."""
    count = sum(each.numbers for each in exhibits)
    return BatesFormat(production.prefix, production.digits), count, production.start_at


def _describe_reservation(reading: Session, production: Productions) -> Reservation:
    document = ProductionDocuments
    statement = select(document.destination_id, func.min(document.position).label("position"))
    statement = statement.where(document.production_id == production.id).group_by(document.destination_id)
    row = reading.execute(statement).one()
    parts = len(documents.list_part_starts(production))
    return Reservation(production.documents or 0, parts, row.destination_id, row.position)
