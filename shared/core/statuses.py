"""The statuses of imports, chunks, productions and produced documents. The tables hold the values."""

from __future__ import annotations

from enum import StrEnum


class ImportStatus(StrEnum):
    """The status of an import: it awaits its upload, is split, runs, and ends in one of the last four.

    A dry run is being checked before it runs, and is then checked until a user has it run.
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


# The chunks of an import with one of these are worked on.
ACTIVE_STATUSES = frozenset({ImportStatus.CHECKING, ImportStatus.RUNNING})


class ImportPhase(StrEnum):
    """What the chunks of an import are processed for: `check` writes nothing to the case."""

    IMPORT = "import"
    CHECK = "check"

    @property
    def active_status(self) -> ImportStatus:
        """The status of the import while its chunks are processed."""
        return ImportStatus.CHECKING if self is ImportPhase.CHECK else ImportStatus.RUNNING


class ChunkStatus(StrEnum):
    """The status of a chunk: pending until its rows are written (done) or all attempts have failed (failed)."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


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
