"""The state of an import. Counts are rows, sizes are bytes, times are UTC."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from core.contracts.common import (
    NextCursor,
    PrevCursor,
    ResponseModel,
    Total,
    UserName,
)
from core.imports.steps import ImportAction
from core.load_mode import Mode
from core.statuses import ImportKind, ImportPhase, ImportStatus, Wish

MAX_CORRECTING = 100


class ProfileUse(ResponseModel):
    """A version of a mapping profile."""

    name: str
    version: int


class ImportState(ResponseModel):
    """The status and the progress of an import.

    `imported`, `unchanged`, `updated` and `rejected` add up to `rowsProcessed`, which reaches `rowsSeen` at the end.
    In the phase `check` they are what an import would do, as the check reports it, and no row is in the case; if the
    check was cancelled or failed, they are 0.
    """

    id: int
    status: ImportStatus
    phase: ImportPhase = Field(
        description="`import`, or `check` until the file is run, if it was announced with `dryRun` or is held."
    )
    wanted: Wish = Field(description="What follows by itself: nothing (`hold`), the check or the import.")
    options_version: int = Field(description="1, and 1 more for each change of the options; for `If-Match`.")
    actions: list[ImportAction] = Field(
        description="The requests that the status allows. Another import, such as one that is being undone, can be a "
        "reason to refuse them nevertheless."
    )
    kind: ImportKind = Field(description="`images` for an image load file, whose rows are documents.")
    mode: Mode | None = Field(description="What the rows do with existing exhibits; null until the file is split.")
    volume_id: int | None = Field(description="The volume that has the file; null for a file that was uploaded alone.")
    volume_name: str | None
    case: str
    case_id: int
    file_name: str
    user_id: str = Field(description="The user who created the import.")
    user_name: UserName
    profile: ProfileUse | None = Field(description="The mapping profile of which the import uses a copy.")
    size: int = Field(description="The size of the uploaded file; before the upload, the announced size or 0.")
    bytes_read: int = Field(
        description="The bytes of the file that are split: `size` once it is split; before, as of the last checkpoint, "
        "which only a large file has."
    )
    sha256: str | None = Field(description="The SHA-256 hash of the file in hexadecimal; null until it is split.")
    failure_code: str | None = Field(description="The reason why the whole file was not imported.")
    failure_message: str | None
    rows_seen: int = Field(description="The rows of the file; 0 until it is split.")
    rows_processed: int
    imported: int = Field(description="The rows that created an exhibit.")
    unchanged: int = Field(description="The rows whose exhibit existed with the same values.")
    updated: int = Field(description="The rows that changed an existing exhibit; 0 unless the mode is an overlay.")
    rejected: int = Field(description="The rows that were not imported.")
    corrects: int | None = Field(description="The import whose rejected rows this one corrects; null for any other.")
    corrected_by: list[int] = Field(
        description=f"The imports that correct rejected rows of this one, newest first, at most {MAX_CORRECTING}."
    )
    open_rejections: int = Field(
        description="The rejected rows that are neither corrected nor discarded; 0 for a correction, whose rows are "
        "open in the import that it corrects, for a check, and for an import that is or was undone."
    )
    warnings: int = Field(description="The changes that were made to values of imported rows.")
    chunks: int = Field(description="The chunks into which the file was split.")
    chunks_done: int = Field(description="The chunks whose rows are written, or checked.")
    chunks_failed: int = Field(description="The chunks that failed in every attempt; their rows are rejected.")
    generation: int = Field(description="1 for the first run; rises by 1 with every retry.")
    reports_generation: int = Field(description="The generation of the report files in S3; 0: not written yet.")
    reports_prefix: str | None = Field(description="The prefix of the report files in the bucket.")
    rows_per_second: float | None = Field(description="Since `startedAt`; null unless the import is running.")
    seconds_left: float | None = Field(description="The estimated time left; null unless the import is running.")
    started_at: datetime = Field(
        description="The latest of: the announcement, the arrival of the upload, the last change of options, check, "
        "run or retry."
    )
    finished_at: datetime | None


class ImportPage(ResponseModel):
    """A page of imports, newest first."""

    items: list[ImportState]
    next: NextCursor
    prev: PrevCursor
    total: Total = None
