"""The statuses of cases, imports, chunks, productions and produced documents. The tables hold the values."""

from __future__ import annotations

from enum import StrEnum


class CaseStatus(StrEnum):
    """The status of a case: open for work, closed until it is opened again, being purged, or purged.

    A legal hold is not a status: an open or a closed case may have one.
    """

    OPEN = "open"
    CLOSED = "closed"
    PURGING = "purging"
    PURGED = "purged"


class CaseChange(StrEnum):
    """What `case_changes` records of a case."""

    RENAMED = "renamed"
    CLOSED = "closed"
    REOPENED = "reopened"
    HELD = "held"
    LIFTED = "lifted"
    PURGE_REQUESTED = "purge_requested"
    PURGE_WITHDRAWN = "purge_withdrawn"
    PURGE_BEGUN = "purge_begun"
    PURGED = "purged"
    UPLOAD_REFUSED = "upload_refused"


class ImportStatus(StrEnum):
    """The status of an import: it awaits its upload, is split, runs, and is completed, failed or cancelled.

    One that is held is uploaded, and nothing runs until a user has it checked or run. A dry run is being checked before
    it runs, and is then checked until a user has it run. An import that has ended can be undone; an undo of which a
    part failed in every attempt ends as `undo_failed`.
    The import of a volume's image load file waits for that of its load file, and is blocked if that one fails.
    """

    AWAITING_UPLOAD = "awaiting_upload"
    UPLOADED = "uploaded"
    WAITING = "waiting"
    BLOCKED = "blocked"
    SPLITTING = "splitting"
    CHECKING = "checking"
    CHECKED = "checked"
    RUNNING = "running"
    COMPLETED = "completed"
    COMPLETED_WITH_REJECTIONS = "completed_with_rejections"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNDOING = "undoing"
    UNDONE = "undone"
    UNDONE_WITH_CONFLICTS = "undone_with_conflicts"
    UNDO_FAILED = "undo_failed"


# The chunks of an import with one of these are worked on.
ACTIVE_STATUSES = frozenset({ImportStatus.CHECKING, ImportStatus.RUNNING})
# What an import with one of these changed does not count any more.
UNDONE_STATUSES = frozenset(
    {ImportStatus.UNDOING, ImportStatus.UNDONE, ImportStatus.UNDONE_WITH_CONFLICTS, ImportStatus.UNDO_FAILED}
)


class ImportPhase(StrEnum):
    """What the chunks of an import are processed for: `check` writes nothing to the case."""

    IMPORT = "import"
    CHECK = "check"

    @property
    def active_status(self) -> ImportStatus:
        """The status of the import while its chunks are processed."""
        return ImportStatus.CHECKING if self is ImportPhase.CHECK else ImportStatus.RUNNING


class CodeKind(StrEnum):
    """What a code is counted of."""

    REJECTION = "rejection"
    WARNING = "warning"


class Wish(StrEnum):
    """What follows the upload of an import: nothing until a further request (`hold`), its check, or the import."""

    HOLD = "hold"
    CHECK = "check"
    IMPORT = "import"

    @property
    def phase(self) -> ImportPhase:
        """What the chunks are processed for once the import goes on; a held one is checked unless it is run."""
        return ImportPhase.IMPORT if self is Wish.IMPORT else ImportPhase.CHECK


class ChunkStatus(StrEnum):
    """The status of a chunk: pending until its rows are written (done) or all attempts have failed (failed).

    A chunk that was pending when its import was undone is void: no worker writes it any more.
    """

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"
    VOID = "void"


class UndoStatus(StrEnum):
    """The status of an undo: requested, running, and one of the ends.

    It is cancelled before a part of it has begun; a dry run is superseded by the undo itself. An import that imported
    nothing has no undo: the response is `nothing_to_undo`.
    """

    NOTHING_TO_UNDO = "nothing_to_undo"
    REQUESTED = "requested"
    RUNNING = "running"
    UNDONE = "undone"
    UNDONE_WITH_CONFLICTS = "undone_with_conflicts"
    UNDO_FAILED = "undo_failed"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


OPEN_UNDOS = frozenset({UndoStatus.REQUESTED, UndoStatus.RUNNING})


class VolumeStatus(StrEnum):
    """The status of a volume: files are added while it is open, listed while it is sealed, and can be used once ready.

    Before that a zip is expanded, and single files are hashed if the import asks for it. A volume that failed can be
    imported again. Its deletion takes a while.
    """

    OPEN = "open"
    SEALED = "sealed"
    EXPANDING = "expanding"
    HASHING = "hashing"
    READY = "ready"
    FAILED = "failed"
    DELETING = "deleting"
    DELETED = "deleted"


class UnitStatus(StrEnum):
    """The status of a part of a volume's expansion or hashing.

    It has failed if every attempt has, and is done by a retry.
    """

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


class ImportKind(StrEnum):
    """What an import's file has: rows of documents, or the images of their pages."""

    ROWS = "rows"
    IMAGES = "images"


class TaggingJobStatus(StrEnum):
    """The status of a tagging job: it runs, counts what it left (`counting`), and is completed, cancelled or failed."""

    RUNNING = "running"
    COUNTING = "counting"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


ACTIVE_TAGGING_JOBS = frozenset({TaggingJobStatus.RUNNING, TaggingJobStatus.COUNTING})


class ProductionStatus(StrEnum):
    """The status of a production: it is requested, runs and ends confirmed, or is rolled back and ends cancelled.

    It needs attention if it can neither be completed nor rolled back without an operator.
    """

    REQUESTED = "requested"
    RUNNING = "running"
    CONFIRMED = "confirmed"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    NEEDS_ATTENTION = "needs_attention"


class DocumentStatus(StrEnum):
    """The status of a document's Bates numbers: reserved, then produced; or void, never to be used again."""

    RESERVED = "reserved"
    PRODUCED = "produced"
    VOID = "void"


class ExportStatus(StrEnum):
    """The status of an export: it is requested, runs, and is completed, failed or cancelled.

    A completed one is `expired` once its file is deleted.
    """

    REQUESTED = "requested"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
