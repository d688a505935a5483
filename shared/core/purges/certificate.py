"""Models of the certificate of a purge."""

from __future__ import annotations

from pydantic import Field

from core.contracts.common import ResponseModel, UtcTimestamp
from core.purges.phases import PurgePhase


class DestroyedRows(ResponseModel):
    """Rows of a table."""

    table: str
    rows: int
    sha256: str = Field(description="Of the keys of these rows, in the order of their deletion.")


class DestroyedObjects(ResponseModel):
    """Objects of a kind, which is the first part of their keys."""

    kind: str
    versions: int
    delete_markers: int
    multipart_uploads: int
    bytes: int = Field(description="Of the versions.")
    sha256: str = Field(description="Of key, version and size of each, in the order of their deletion.")


class LockedObjects(ResponseModel):
    """Versions that S3 refuses to delete, because Object Lock protects them."""

    versions: int
    bytes: int
    until: UtcTimestamp | None = Field(description="The end of the longest retention; null for a legal hold alone.")


class KeptRows(ResponseModel):
    """What stays of the case in a table."""

    table: str
    content: str


class Remains(ResponseModel):
    """What is kept outside of tables and bucket, and until when."""

    what: str
    until: UtcTimestamp | None = Field(description="Null if the application does not know it.")
    note: str


class Certificate(ResponseModel):
    """What the purge of a case has destroyed, and what remains. It has no name of a case, document or person.

    It is final once `endedAt` is set: the last look at the bucket found nothing then. Before, its counts are those so
    far.
    """

    case_id: int
    phase: PurgePhase = Field(description="What the purge does, or does next.")
    requested_by: str | None = Field(description="The id of the user who requested the purge.")
    requested_at: UtcTimestamp | None
    began_at: UtcTimestamp
    ended_at: UtcTimestamp | None = Field(description="When the last look found nothing; null before.")
    next_at: UtcTimestamp | None = Field(description="When the purge goes on at the earliest; null at its end.")
    rows: list[DestroyedRows]
    objects: list[DestroyedObjects]
    sha256: str = Field(description="Of all counts and digests above it.")
    locked: LockedObjects | None = Field(description="Null if no version is locked.")
    kept: list[KeptRows]
    remains: list[Remains]
