"""Facts that are published, in the past tense; counts and codes, never the content of a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.reasons import WarningCode


@dataclass(frozen=True)
class Event:
    """A fact about an aggregate; `payload` is a JSON object without `eventType`, which the event adds."""

    event_type: str
    aggregate_type: str
    aggregate_id: str
    payload: dict[str, Any]


def import_started(import_id: int, tenant_id: str, rows_seen: int, chunks: int) -> Event:
    """A load file was split and its chunks are being imported."""
    return _of_import("import.started", import_id, tenantId=tenant_id, rowsSeen=rows_seen, chunks=chunks)


def import_failed(import_id: int, tenant_id: str, code: str) -> Event:
    """A load file could not be imported; no row of it was written."""
    return _of_import("import.failed", import_id, tenantId=tenant_id, code=code)


def import_completed(import_id: int, tenant_id: str, status: str, generation: int, counts: dict[str, int]) -> Event:
    """Every row of a load file is imported, or rejected with its reason."""
    return _of_import(
        "import.completed", import_id, tenantId=tenant_id, status=status, generation=generation, counts=counts
    )


def import_cancelled(import_id: int, tenant_id: str, counts: dict[str, int]) -> Event:
    """An import was ended where it stood; `counts` are of the rows that were settled until then."""
    return _of_import("import.cancelled", import_id, tenantId=tenant_id, counts=counts)


def import_retried(import_id: int, tenant_id: str, generation: int, chunks: int) -> Event:
    """An import goes on, with so many chunks to do; 0 where its file is still to be split."""
    return _of_import("import.retried", import_id, tenantId=tenant_id, generation=generation, chunks=chunks)


def upload_refused(tenant_id: str, upload_key: str) -> Event:
    """An object was put under imports/ whose key names no tenant, case and upload; nothing was imported."""
    return Event("upload.refused", "upload", upload_key, {"tenantId": tenant_id})


def rows_changed(import_id: int, chunk_no: int, code: WarningCode, count: int, first_line: int) -> Event:
    """Values of a chunk were changed to be stored, all for one reason; published as a WARNING.

    Of the chunk, not of the import: an import has thousands of them, and no order among them that anybody needs.
    """
    changed = {"chunkNo": chunk_no, "code": code.value, "count": count, "firstLine": first_line}
    return Event("WARNING", "chunk", f"{import_id}/{chunk_no}", {"importId": import_id, **changed})


def production_requested(production_id: int, tenant_id: str, generation: int) -> Event:
    """A production is to be made, or gone on with: in its first execution or, by `generation`, a later one."""
    return _of_production("production.requested", production_id, tenantId=tenant_id, generation=generation)


def production_confirmed(production_id: int, tenant_id: str, documents: int, first: int, last: int) -> Event:
    """A production's numbers are in use and its volume is complete; nothing takes that back."""
    return _of_production(
        "production.confirmed",
        production_id,
        tenantId=tenant_id,
        documents=documents,
        firstNumber=first,
        lastNumber=last,
    )


def production_cancelled(production_id: int, tenant_id: str, failed_step: str | None, void: int) -> Event:
    """A production was undone: its objects are deleted, and the numbers of so many documents are void."""
    return _of_production(
        "production.cancelled", production_id, tenantId=tenant_id, failedStep=failed_step, voidDocuments=void
    )


def production_needs_attention(production_id: int, tenant_id: str, left: Sequence[str]) -> Event:
    """A production can neither be completed nor undone without somebody's help.

    `left` are the steps that could not be undone or done, or `execution` where none of its executions comes to an end.
    """
    return _of_production(
        "production.needs_attention", production_id, tenantId=tenant_id, severity="critical", left=list(left)
    )


def _of_production(event_type: str, production_id: int, **payload: Any) -> Event:
    return Event(event_type, "production", str(production_id), {"productionId": production_id, **payload})


def _of_import(event_type: str, import_id: int, **payload: Any) -> Event:
    return Event(event_type, "import", str(import_id), {"importId": import_id, **payload})
