"""The statuses of imports, chunks, productions and produced documents. The tables hold the values."""

from __future__ import annotations

from enum import StrEnum


class ImportStatus(StrEnum):
    """The status of an import: it awaits its upload, is split, runs, and is completed, failed or cancelled.

    A dry run is being checked before it runs, and is then checked until a user has it run. An import that has ended can
    be undone; an undo of which a part failed in every attempt ends as `undo_failed`.
    """

    AWAITING_UPLOAD = "awaiting_upload"
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
    nothing has no undo: `nothing_to_undo` is what its client is told.
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
