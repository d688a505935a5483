"""Where imports, chunks, productions and their documents can stand; the values are what the tables hold."""

from __future__ import annotations

from enum import StrEnum


class ImportStatus(StrEnum):
    """An import may wait for its upload, is split, runs, and ends in one of the other four."""

    AWAITING_UPLOAD = "awaiting_upload"
    SPLITTING = "splitting"
    RUNNING = "running"
    COMPLETED = "completed"
    COMPLETED_WITH_REJECTIONS = "completed_with_rejections"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ChunkStatus(StrEnum):
    """A chunk is pending until its rows are in (done) or given up (failed)."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


class ProductionStatus(StrEnum):
    """A production is requested, runs, and ends confirmed, or is undone and cancelled; or somebody has to see to it."""

    REQUESTED = "requested"
    RUNNING = "running"
    CONFIRMED = "confirmed"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    NEEDS_ATTENTION = "needs_attention"


class DocumentStatus(StrEnum):
    """A document's numbers are reserved, then produced, or void: given out, and never to be used."""

    RESERVED = "reserved"
    PRODUCED = "produced"
    VOID = "void"
