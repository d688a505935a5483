"""Request and cancel exports.

Guaranteed: an export, the event that starts its work and its activity commit together, or none does. A cancellation
that is accepted leaves no file that can be downloaded. The transaction is the caller's.
"""

from __future__ import annotations

import json

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exports import Export, NewExport
from core.contracts.stored_filters import pack_filters
from core.errors import WrongStateError
from core.events import export_requested
from core.exports.columns import choose_columns
from core.statuses import ExportStatus
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.case_state.fence import Entry, enter_case
from shell.exhibits.cases import get_chosen_case
from shell.exhibits.matches import require_own
from shell.exports.queries import describe_export, load_export
from shell.exports.selection import count_expected
from shell.outbox.writer import append_events
from shell.tables.exhibits import Exhibits
from shell.tables.productions import ExportParts, Exports
from shell.utils.db_helpers import count_changed_rows

_CANCEL = text(
    "UPDATE exports SET status = 'cancelled', finished_at = NOW(6) "
    "WHERE id = :export_id AND status IN ('requested', 'running')"
)


def create_export(transaction: Session, caller: Caller, body: NewExport) -> Export:
    """Record the export that the request describes; a worker writes its file.

    Raises NotFoundError for an unknown case or import.
    """
    case_id = get_chosen_case(transaction, caller, body)
    enter_case(transaction, case_id, Entry.READ)
    filters = body.filters.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    require_own(transaction, case_id, filters)
    export = Exports(
        tenant_id=caller.tenant_id,
        case_id=case_id,
        user_id=caller.user_id,
        kind=body.kind.value,
        format=body.format.value,
        filters=json.dumps(pack_filters(filters)),
        column_names=json.dumps(choose_columns(body.kind, body.columns)),
        highest_exhibit_id=transaction.scalar(select(func.max(Exhibits.id)).where(Exhibits.case_id == case_id)) or 0,
        expected=count_expected(transaction, case_id, filters),
        status=ExportStatus.REQUESTED.value,
    )
    transaction.add(export)
    transaction.flush()
    transaction.add(ExportParts(export_id=export.id, part_no=0, is_last=0, etag="", checksum=""))
    append_events(transaction, [export_requested(export.id, caller.tenant_id)])
    summary = {"kind": export.kind, "format": export.format, "documents": export.expected}
    record_act(transaction, caller, Act(ActKind.EXPORT_REQUESTED, export.id, case_id, summary))
    return describe_export(transaction, load_export(transaction, caller, export.id))


def cancel_export(transaction: Session, caller: Caller, export_id: int) -> Export:
    """Cancel an export that has not ended; leave a cancelled one unchanged.

    Raises NotFoundError, and WrongStateError for an export that is completed or failed.
    """
    enter_case(transaction, load_export(transaction, caller, export_id)[0].case_id, Entry.READ)
    is_cancelled = count_changed_rows(transaction.execute(_CANCEL, {"export_id": export_id})) == 1
    found = load_export(transaction, caller, export_id)
    if found[0].status != ExportStatus.CANCELLED:
        raise WrongStateError(f"The export is {found[0].status} and cannot be cancelled any more.")
    if is_cancelled:
        record_act(transaction, caller, Act(ActKind.EXPORT_CANCELLED, export_id, found[0].case_id))
    else:
        record_no_act(transaction)
    return describe_export(transaction, found)
