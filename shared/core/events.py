"""Events that the outbox publishes: facts with ids, counts and codes, never the content of a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.codes import VolumeCode, WarningCode


@dataclass(frozen=True)
class Event:
    """A fact about an aggregate of a tenant. `payload` is a JSON object.

    `tenantId` is added when the event is written, `eventType` when it is published. `tenant_id` is empty if no tenant
    is known.
    """

    event_type: str
    aggregate_type: str
    aggregate_id: str
    payload: dict[str, Any]
    tenant_id: str


def import_started(import_id: int, tenant_id: str, rows_seen: int, chunks: int) -> Event:
    """Return the event of a load file that was split and whose chunks are being imported."""
    return _build_import_event("import.started", import_id, tenant_id, rowsSeen=rows_seen, chunks=chunks)


def import_failed(import_id: int, tenant_id: str, code: str) -> Event:
    """Return the event of a load file that could not be imported; `code` is a FileFailure."""
    return _build_import_event("import.failed", import_id, tenant_id, code=code)


def import_completed(import_id: int, tenant_id: str, status: str, generation: int, counts: dict[str, int]) -> Event:
    """Return the event of a load file of which every row was imported or rejected."""
    return _build_import_event(
        "import.completed", import_id, tenant_id, status=status, generation=generation, counts=counts
    )


def import_checked(import_id: int, tenant_id: str, generation: int, counts: dict[str, int]) -> Event:
    """Return the event of a load file that was checked and not imported. `counts` are what an import would do."""
    return _build_import_event("import.checked", import_id, tenant_id, generation=generation, counts=counts)


def import_cancelled(import_id: int, tenant_id: str, generation: int, counts: dict[str, int]) -> Event:
    """Return the event of a cancelled import. `counts` covers the rows that were processed before it."""
    return _build_import_event("import.cancelled", import_id, tenant_id, generation=generation, counts=counts)


def import_retried(import_id: int, tenant_id: str, generation: int, chunks: int) -> Event:
    """Return the event of a retried import. `chunks` are the pending chunks; 0 if the file is not split yet."""
    return _build_import_event("import.retried", import_id, tenant_id, generation=generation, chunks=chunks)


def import_undone(import_id: int, tenant_id: str, undo_no: int, status: str, counts: dict[str, int]) -> Event:
    """Return the event of an undo, or of a dry run of one, that has ended; `counts` are documents and links."""
    return _build_import_event("import.undone", import_id, tenant_id, undoNo=undo_no, status=status, counts=counts)


def upload_refused(tenant_id: str, upload_key: str, reason: str) -> Event:
    """Return the event of an object under imports/ whose key names no tenant, case and upload; it was not imported.

    `tenant_id` is empty if the key names none. `reason` contains no part of the key.
    """
    return Event("upload.refused", "upload", upload_key, {"reason": reason}, tenant_id)


def rows_changed(
    import_id: int, tenant_id: str, chunk_no: int, code: WarningCode | VolumeCode, count: int, first_line: int
) -> Event:
    """Return the WARNING event for values of a chunk that were changed, or files that are not as stated, for a reason.

    Its aggregate is the chunk, not the import: an import has thousands of these events, and their order is irrelevant.
    """
    changed = {"chunkNo": chunk_no, "code": code.value, "count": count, "firstLine": first_line}
    return Event("WARNING", "chunk", f"{import_id}/{chunk_no}", {"importId": import_id, **changed}, tenant_id)


def production_requested(production_id: int, tenant_id: str, generation: int) -> Event:
    """Return the event that starts an execution of a production; `generation` is 1 and rises with every restart."""
    return _build_production_event("production.requested", production_id, tenant_id, generation=generation)


def production_confirmed(production_id: int, tenant_id: str, documents: int, first: int, last: int) -> Event:
    """Return the event of a production whose numbers are in use and whose volume is complete, irrevocably."""
    return _build_production_event(
        "production.confirmed",
        production_id,
        tenant_id,
        documents=documents,
        firstNumber=first,
        lastNumber=last,
    )


def production_cancelled(production_id: int, tenant_id: str, failed_step: str | None, void: int) -> Event:
    """Return the event of a rolled-back production: its objects are deleted, the numbers of `void` documents void."""
    return _build_production_event(
        "production.cancelled", production_id, tenant_id, failedStep=failed_step, voidDocuments=void
    )


def production_needs_attention(production_id: int, tenant_id: str, unfinished: Sequence[str]) -> Event:
    """Return the event of a production that can neither be completed nor rolled back without an operator.

    `unfinished` are the steps that could not be compensated or executed, or `execution` if none of its executions
    completes.
    """
    return _build_production_event(
        "production.needs_attention",
        production_id,
        tenant_id,
        severity="critical",
        unfinished=list(unfinished),
    )


def export_requested(export_id: int, tenant_id: str) -> Event:
    """Return the event that starts the work on an export."""
    return Event("export.requested", "export", str(export_id), {"exportId": export_id}, tenant_id)


def _build_production_event(event_type: str, production_id: int, tenant_id: str, **payload: Any) -> Event:
    return Event(event_type, "production", str(production_id), {"productionId": production_id, **payload}, tenant_id)


def _build_import_event(event_type: str, import_id: int, tenant_id: str, **payload: Any) -> Event:
    return Event(event_type, "import", str(import_id), {"importId": import_id, **payload}, tenant_id)


def case_purged(case_id: int, tenant_id: str, sha256: str) -> Event:
    """Return the event of a case of which nothing is left; `sha256` is that of its certificate."""
    return Event("case.purged", "case", str(case_id), {"caseId": case_id, "sha256": sha256}, tenant_id)
