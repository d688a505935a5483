"""Read an uploaded file that says which import it corrects as that import was read.

Guaranteed: what the values of its cells mean is that of the original, whatever the options of the file or its few rows
show; only how it is written is its own. A file that cannot be of the original, by its columns or by the original's
status, is refused as a whole; a line that is not open rejects its row (`uploaded_rows`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.codes import FileFailure
from core.errors import FileRefusedError, NotFoundError, WrongStateError
from core.file_options import VolumeUse
from core.imports.corrections import adopt_values, resolve_options
from core.imports.error_file import adds_lines
from core.load_file.layout import Layout
from core.statuses import UNDONE_STATUSES, ImportKind, ImportPhase
from shell.db.session import session
from shell.imports.state.claims import NOT_CORRECTABLE
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.error_files import describe_volume

# In the options object beside a file, which is uploaded without an announcement.
OPTION = "corrects"
_BIND = text("UPDATE imports SET corrects_import_id = :original_id WHERE id = :import_id")


@dataclass(frozen=True)
class UploadedCorrection:
    """The import whose rows a file corrects, how it was read, and the options that are given for the file."""

    original: Imports
    layout: Layout
    volume: VolumeUse | None
    given: Mapping[str, Any]

    def resolve_options(self) -> dict[str, Any]:
        """Return the options of the file. Raises FileRefusedError (NOT_A_CORRECTION) for another rule for values."""
        return resolve_options(self.given, json.loads(self.original.options or "{}"), self.layout, self.volume)

    def adopt_values(self, found: Layout) -> Layout:
        """Return the layout of the file. Raises FileRefusedError (NOT_A_CORRECTION) for other columns."""
        return adopt_values(found, self.layout, self.volume)


def require_original(transaction: Session, original_id: int, case_id: int) -> None:
    """Raise NotFoundError unless the import is of the case, WrongStateError if no file can correct its rows."""
    original = transaction.get(Imports, original_id, populate_existing=True)
    if original is None or original.case_id != case_id:
        raise NotFoundError(f"The case has no import {original_id}; name the case of the import that is corrected.")
    reason = _explain_state(original, f"the status {original.status}" if original.status in NOT_CORRECTABLE else None)
    if reason:
        raise WrongStateError(reason)


def find_correction(import_record: Imports, document: object) -> UploadedCorrection | None:
    """Return what a file corrects by its announcement or its options object, and bind it to that; None for nothing.

    Raises FileRefusedError (NOT_A_CORRECTION) if the case has no such import, or no file can correct its rows.
    """
    given = dict(document) if isinstance(document, Mapping) else {}
    named = given.pop(OPTION, None) if import_record.options is None else None
    original_id = import_record.corrects_import_id or named
    if original_id is None:
        return None
    if not isinstance(original_id, int) or isinstance(original_id, bool):
        raise FileRefusedError(FileFailure.NOT_A_CORRECTION, f"Option {OPTION!r} is not the number of an import.")
    original = _bind(import_record, original_id)
    layout = Layout.from_json(original.layout or "{}")
    return UploadedCorrection(original, layout, describe_volume(original, layout.files), given)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _bind(import_record: Imports, original_id: int) -> Imports:
    place = {"tenant_id": import_record.tenant_id, "case_id": import_record.case_id}
    with session() as transaction:
        original = transaction.scalars(select(Imports).filter_by(id=original_id, **place)).one_or_none()
        if original is None:
            message = f"The case has no import {original_id}, whose rows the file is to correct. Name another one."
            raise FileRefusedError(FileFailure.NOT_A_CORRECTION, message)
        # One that runs, because a failed chunk is retried, keeps the rejected rows of its other chunks.
        reason = _explain_state(
            original, f"the status {original.status}" if original.status in UNDONE_STATUSES else None
        )
        if reason:
            raise FileRefusedError(FileFailure.NOT_A_CORRECTION, reason)
        if import_record.corrects_import_id is None:
            transaction.execute(_BIND, {"import_id": import_record.id, "original_id": original_id})
    import_record.corrects_import_id = original_id
    return original


def _explain_state(original: Imports, refused: str | None) -> str | None:
    """Return why no file can correct rows of an import; `refused` says what it has that none of these may have."""
    if original.phase == ImportPhase.CHECK or original.layout is None:
        refused = "no rejected rows, because it was not run"
    if refused:
        return f"Import {original.id} has {refused}; correct rows of one that has ended and was not undone."
    if original.corrects_import_id is not None:
        return (
            f"Import {original.id} corrects import {original.corrects_import_id}; name that one, whose lines these are."
        )
    if original.kind == ImportKind.IMAGES:
        return f"Import {original.id} is of an image load file; import its corrected lines without `corrects`."
    if not adds_lines(Layout.from_json(original.layout or "{}")):
        return (
            f"The rejected-rows file of import {original.id} has no lines of it, because the import has no header or "
            "is of such a file itself; correct its rows with POST /imports/{id}/corrections."
        )
    return None
