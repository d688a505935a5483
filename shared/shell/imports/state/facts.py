"""What the row of an import says about the requests that it allows."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.errors import PreconditionMissingError, StaleVersionError
from core.imports.steps import ImportFacts, choose_wish
from core.imports.uploads import build_placeholder_key
from core.statuses import ImportPhase, ImportStatus, Wish
from shell.imports.state.access import build_not_found, require_import

FACTS = (
    "i.status, i.wanted, i.phase, i.failure_code, i.upload_id, i.upload_key, i.options_version, i.after_import_id, "
    "i.generation, i.layout IS NOT NULL AS registered"
)
_LOCK = text(
    f"SELECT i.id, i.tenant_id, i.case_id, i.failure_message, i.object_key, {FACTS} "  # noqa: S608
    "FROM imports AS i WHERE i.id = :import_id AND i.tenant_id = :tenant_id FOR UPDATE"
)


def lock_import(transaction: Session, caller: Caller, import_id: int) -> Any:
    """Lock the row of an import and return it; raise NotFoundError if it does not exist for the caller."""
    # Before the lock, which cannot join the case: it would be locked too.
    require_import(transaction, caller, import_id)
    found = transaction.execute(_LOCK, {"import_id": import_id, "tenant_id": caller.tenant_id}).one_or_none()
    if found is None:
        raise build_not_found()
    return found


def build_facts(row: Any, *, is_incomplete: bool) -> ImportFacts:
    """Return what decides about requests for the import of a row that has the columns of FACTS."""
    return ImportFacts(
        status=ImportStatus(row.status),
        wanted=choose_wish(row.wanted, row.phase),
        phase=ImportPhase(row.phase),
        is_uploaded=row.upload_id is None or bytes(row.upload_key) != build_placeholder_key(row.upload_id),
        is_split=bool(row.registered),
        failure_code=row.failure_code,
        is_incomplete=is_incomplete,
        follows=row.after_import_id is not None,
    )


def describe_phase(row: Any) -> ImportPhase:
    """Return what the chunks are processed for, or will be once there are any."""
    return ImportPhase(row.phase) if row.registered else choose_phase(row.wanted, row.phase)


def choose_phase(wanted: str | None, phase: str) -> ImportPhase:
    """Return what an import is split for: that is stored as its phase only once nothing of a former split is left."""
    return ImportPhase(phase) if wanted is None else Wish(wanted).phase


def require_version(row: Any, versions: Container[int] | None) -> None:
    """Raise StaleVersionError unless the caller has seen the options of the import.

    A caller that names no version is accepted as long as there has been one alone; then PreconditionMissingError is
    raised.
    """
    if versions is None and row.options_version > 1:
        raise PreconditionMissingError(
            "The options of the import were changed; look at them, then send their optionsVersion, as in "
            f'If-Match: "{row.options_version}".'
        )
    if versions is not None and row.options_version not in versions:
        raise StaleVersionError(row.options_version)
