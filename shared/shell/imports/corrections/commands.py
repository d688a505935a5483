"""Correct and discard rejected rows of an import.

Guaranteed: all rows of a request are taken, or none is and an error names each of them; a line has one winner. The
corrected rows are an import of their own with one chunk, which runs at once: its layout is that of the import that it
corrects, whose own row is only read. The object with the rows is written before any lock, under a key of its own for
each request, where S3 reports no upload; a request that dies after that leaves an object that no import names.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.corrections import Correction, NewCorrections
from core.contracts.refusals import CorrectionRefusedError
from core.errors import BusyError, InvalidInputError, WrongStateError
from core.imports.corrections import (
    MAX_BYTES,
    CorrectedRow,
    copy_layout,
    encode_rows,
    find_repeated_ids,
)
from core.imports.uploads import build_correction_key
from core.load_file.layout import Layout
from core.statuses import ImportKind, ImportPhase, ImportStatus
from shell.activity_log import Act, ActKind, record_act
from shell.aws.new_objects import StoredObject, put_new
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.imports.corrections.correcting_import import Source, insert_import
from shell.imports.corrections.rejections import find_refusals
from shell.imports.state.access import enter_import, refuse_during_undo, require_import
from shell.imports.state.claims import NOT_CORRECTABLE, Claim, lock_claims, take_claims
from shell.imports.state.import_states import read_state
from shell.settings import settings
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.deleted import refuse_without_volume
from shell.volume_files.error_files import describe_volume
from shell.work.messages import ImportMessage

_FORM_CHANGED_S = 2


class NewCorrection:
    """One request: `write` checks it and writes its rows to the bucket, `create` then takes effect."""

    def __init__(self, caller: Caller, import_id: int, body: NewCorrections) -> None:
        self._caller, self._import_id = caller, import_id
        self._rows = [
            CorrectedRow(row.line, row.cells, row.version) for row in sorted(body.rows, key=lambda row: row.line)
        ]
        self._discarded = sorted(body.discard)
        self._places = {row.line: f"body/rows/{index}" for index, row in enumerate(body.rows)}
        self._places |= {line: f"body/discard/{index}" for index, line in enumerate(body.discard)}
        self._source: Source | None = None

    def write(self) -> None:
        """Check the rows against the columns of the import, and write them, before any transaction.

        Raises NotFoundError, WrongStateError, CorrectionRefusedError, InvalidInputError if the rows are too large, and
        StorageUnavailableError.
        """
        original = self._load()
        _refuse_state(original, corrects=bool(self._rows))
        if not self._rows:
            return
        layout = Layout.from_json(original.layout or "{}")
        self._refuse_cells(layout)
        data = encode_rows(self._rows)
        if len(data) > MAX_BYTES:
            raise InvalidInputError(f"The corrected rows have {len(data):,} bytes; send at most {MAX_BYTES:,} at once.")
        copied = copy_layout(layout, describe_volume(original, layout.files))
        key = build_correction_key(original.tenant_id, datetime.now(UTC).date(), secrets.token_hex(16))
        stored = put_new(original.bucket, key, data, hashlib.sha256(data).digest())
        if stored is None:
            raise BusyError(retry_after_s=_FORM_CHANGED_S)
        self._source = self._describe(original, key, stored, copied)

    @retry_on_db_conflict(resolve=rerun_if_unknown)
    def _load(self) -> Imports:
        with session() as reading:
            require_import(reading, self._caller, self._import_id)
            return reading.get_one(Imports, self._import_id)

    def _describe(self, original: Imports, key: str, stored: StoredObject, layout: Layout) -> Source:
        repeated = find_repeated_ids(self._rows, layout)
        return Source(original, key, stored, layout, len(self._rows), repeated)

    def _refuse_cells(self, layout: Layout) -> None:
        columns = len(layout.names)
        found = [
            (self._places[row.line], f"Line {row.line}: {len(row.cells)} cells; the file has {columns} columns.")
            for row in self._rows
            if len(row.cells) != columns
        ]
        if found:
            raise CorrectionRefusedError(found)

    def create(self, transaction: Session, caller: Caller) -> Correction:
        """Claim the lines and register the import, which is requested before the transaction commits.

        Raises NotFoundError, WrongStateError (its message has the state), CorrectionRefusedError with the lines, and
        QueueUnavailableError.
        """
        enter_import(transaction, caller, self._import_id, alone=True)
        refuse_during_undo(transaction, self._import_id)
        if self._source is not None:
            refuse_without_volume(transaction, self._import_id)
        original = self._lock_original(transaction)
        claims = lock_claims(transaction, self._import_id, list(self._places))
        refusals = list(self._list_refusals(transaction, claims.taken))
        if refusals:
            raise CorrectionRefusedError(refusals)
        created = None if self._source is None else insert_import(transaction, caller, self._source)
        take_claims(transaction, self._import_id, self._list_claims(created), caller.user_id, claims.reopened)
        summary = {"correctingImportId": created, "rows": len(self._rows), "discarded": len(self._discarded)}
        record_act(transaction, caller, Act(ActKind.IMPORT_CORRECTED, self._import_id, original.case_id, summary))
        if created is not None:
            request = ImportMessage(created, 1)
            send_messages(settings().import_requests_queue_url, [request], tenant_id=caller.tenant_id)
        return Correction(
            id=created,
            status=None if created is None else ImportStatus.RUNNING,
            corrects=self._import_id,
            rows=len(self._rows),
            discarded=len(self._discarded),
            open_rejections=read_state(transaction, caller, self._import_id).open_rejections,
        )

    def _lock_original(self, transaction: Session) -> Imports:
        """Keep the import as it is until the transaction ends; raise unless its rejected rows can be corrected."""
        locking = select(Imports).where(Imports.id == self._import_id).with_for_update(read=True)
        original = transaction.scalars(locking.execution_options(populate_existing=True)).one()
        _refuse_state(original, corrects=self._source is not None)
        if self._source is not None and self._source.original.layout != original.layout:
            raise BusyError("The import was retried meanwhile; read its rows again.", retry_after_s=_FORM_CHANGED_S)
        return original

    def _list_refusals(self, transaction: Session, taken: Mapping[int, str]) -> Iterator[tuple[str, str]]:
        found = find_refusals(transaction, self._import_id, list(self._places))
        reasons = {line: f"Line {line} {what}; read the rows again." for line, what in taken.items()} | found
        yield from ((place, reasons[line]) for line, place in self._places.items() if line in reasons)

    def _list_claims(self, created: int | None) -> Iterator[Claim]:
        yield from (Claim(row.line, created, number) for number, row in enumerate(self._rows, start=1))
        yield from (Claim(line) for line in self._discarded)


def _refuse_state(original: Any, *, corrects: bool) -> None:
    """Raise WrongStateError, with what is possible, unless rows of an import can be corrected, or only discarded."""
    if original.status in NOT_CORRECTABLE or original.phase == ImportPhase.CHECK:
        raise WrongStateError(
            f"The import has the status {original.status}; only rows of an import that has ended, was not undone and "
            "is not a check can be corrected."
        )
    if original.corrects_import_id is not None:
        raise WrongStateError(
            f"This import corrects import {original.corrects_import_id}; correct the lines there, which are "
            "`originalLine` of these rows."
        )
    if corrects and original.kind == ImportKind.IMAGES:
        raise WrongStateError("The import is of an image load file; correct its rejected-rows file and import that.")
