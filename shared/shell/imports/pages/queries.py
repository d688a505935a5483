"""Read for the API what the pages of an import were compared with."""

from __future__ import annotations

from datetime import UTC

from sqlalchemy import bindparam, select, text
from sqlalchemy.orm import Session

from core.contracts.imports.pages import ComparedImport, PageReconciliation
from core.statuses import ImportStatus
from shell.imports.state.compared_imports import Source, read_sources
from shell.tables.imports import Imports
from shell.tables.volumes import PageReconciliations
from shell.utils.db_helpers import is_in

_BESIDE = text(
    "SELECT i.id FROM imports AS this JOIN imports AS i ON i.after_import_id = this.after_import_id "
    "WHERE this.id = :import_id AND this.kind = 'images' AND i.kind = 'images' AND i.status IN :statuses"
).bindparams(bindparam("statuses", expanding=True))
_ENDED_WELL = (ImportStatus.COMPLETED, ImportStatus.COMPLETED_WITH_REJECTIONS, ImportStatus.CHECKED)
_BEGUN = (ImportStatus.SPLITTING, ImportStatus.CHECKING, ImportStatus.RUNNING, ImportStatus.WAITING)


def read_reconciliation(reading: Session, import_id: int) -> PageReconciliation | None:
    """Return the reconciliation of an import that the caller may see; None before it has ended."""
    found = reading.get(PageReconciliations, import_id)
    if found is None or found.finished_at is None:
        return None
    sources = read_sources(found.compared)
    everything = [*sources, Source(import_id, found.generation, "")]
    return PageReconciliation(
        is_current=_are_current(reading, everything) and _are_all(reading, everything),
        generation=found.generation,
        compared=[ComparedImport(import_id=each.import_id, generation=each.generation) for each in sources],
        findings=found.findings,
        finished_at=found.finished_at.replace(tzinfo=UTC),
    )


def _are_current(reading: Session, sources: list[Source]) -> bool:
    """Return whether all imports have ended well in these generations, and were not undone."""
    ids = [each.import_id for each in sources]
    rows = reading.execute(select(Imports.id, Imports.generation, Imports.status).where(is_in(Imports.id, ids)))
    current = {row.id: row.generation for row in rows if row.status in _ENDED_WELL}
    return all(current.get(each.import_id) == each.generation for each in sources)


def _are_all(reading: Session, sources: list[Source]) -> bool:
    """Return whether no other image load file of the volume is under way or was imported since; the last is its own."""
    statuses = [each.value for each in (*_ENDED_WELL, *_BEGUN)]
    beside = reading.scalars(_BESIDE, {"import_id": sources[-1].import_id, "statuses": statuses}).all()
    return {*beside} <= {each.import_id for each in sources}
