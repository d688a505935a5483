"""Cases, which own imports, exhibits and custodians; their former names, the record of their changes, and purges."""

from datetime import date, datetime

from sqlalchemy import BINARY, BigInteger, Date, Index, Integer, SmallInteger, String, Text, UniqueConstraint
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class Cases(Base):
    """A legal matter of one tenant; its name is unique within the tenant.

    A hold is not a status: an open or closed case has one if `held_at` is set. A purge is requested if
    `purge_requested_at` is set; the case is closed and has no hold then. Requests keep to the status by
    `shell.case_state.fence`; chunks and units keep to the generation of their import or volume, and never lock this
    row.
    """

    __tablename__ = "cases"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name", name="uq_cases_tenant_name"),
        Index("ix_cases_purge_after", "purge_after"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the case")
    name: Mapped[str] = mapped_column(String(255), comment="The name of the case, unique within the tenant")
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the case was created (UTC)"
    )
    status: Mapped[str] = mapped_column(
        String(16), server_default="open", comment="open, closed, purging or purged; a hold is not a status"
    )
    version: Mapped[int] = mapped_column(
        Integer, server_default="1", comment="Incremented by every change; the ETag of the API"
    )
    epoch: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Incremented when a purge begins; work with an older one is fenced"
    )
    hold_reason: Mapped[str | None] = mapped_column(
        String(1000), comment="Why nothing of the case may be removed; NULL without a hold"
    )
    held_by: Mapped[str | None] = mapped_column(
        String(255), comment="The user who placed the hold; NULL without a hold"
    )
    held_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When the hold was placed (UTC); NULL without a hold"
    )
    purge_after: Mapped[date | None] = mapped_column(
        Date, comment="The first day (UTC) on which the requested purge may begin; NULL without a request"
    )
    purge_requested_by: Mapped[str | None] = mapped_column(
        String(255), comment="The user who requested the purge; NULL without a request"
    )
    purge_requested_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When the purge was requested (UTC); NULL without a request"
    )

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class CaseChanges(Base):
    """A change of a case: what was done to it, by which user and when. Rows are inserted and never updated, but by the
    purge, which removes the notes.

    A row commits with its change, under the lock on the case's row: the order of `id` is the order of the changes.
    """

    __tablename__ = "case_changes"
    __table_args__ = (Index("ix_case_changes_case", "tenant_id", "case_id", "id"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the case")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    kind: Mapped[str] = mapped_column(String(32), comment="What was changed, such as closed, held or purge_requested")
    user_id: Mapped[str | None] = mapped_column(
        String(255), comment="The user who did it; NULL for the application, without a request"
    )
    at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When it was done, by the database's clock (UTC)"
    )
    details: Mapped[str] = mapped_column(Text, comment="Ids, counts and days, as JSON; never a name")
    note: Mapped[str | None] = mapped_column(
        String(1000), comment="What the user stated as the reason; NULL without one, and after the purge"
    )


class CaseAliases(Base):
    """A former name of a case, by which late uploads still find it. A purge replaces each name, the last one too, by
    its hash.

    No case of the tenant gets the former name of another one that is not purged.
    """

    __tablename__ = "case_aliases"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name", name="uq_case_aliases_tenant_name"),
        Index("ix_case_aliases_hash", "tenant_id", "name_hash"),
        Index("ix_case_aliases_case", "case_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the case")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case that had the name, cases.id")
    name: Mapped[str | None] = mapped_column(String(255), comment="The former name; NULL once the case is purged")
    name_hash: Mapped[bytes] = mapped_column(BINARY(32), comment="SHA-256 of the name without spaces at its end")
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When it became a former name (UTC)"
    )


class CasePurges(Base):
    """The purge of a case: its phase, its place, and which worker has the turn.

    Each batch locks this row first, and commits only while the turn is its own. The row stays.
    """

    __tablename__ = "case_purges"
    __table_args__ = (Index("ix_case_purges_next", "ended_at", "next_at"),)

    case_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The case, cases.id"
    )
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owned the case")
    epoch: Mapped[int] = mapped_column(Integer, comment="cases.epoch since the purge began")
    phase: Mapped[str] = mapped_column(String(16), comment="What is done next, such as fence, objects or rows")
    position: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="How far the phase is, as JSON, keys of rows and objects; NULL at its beginning"
    )
    turn: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Incremented by each worker that takes the purge on; older ones stop"
    )
    next_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When a worker may take the purge on (UTC): a lease, or a pause"
    )
    began_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW, comment="When it began (UTC)")
    ended_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When the last look found no object (UTC); NULL before"
    )


class CasePurgeCounts(Base):
    """What a purge has destroyed of one table or one kind of object; each batch adds what it deletes.

    The digest is a chain: SHA-256 of the digest before, 32 zero bytes at first, and of what names the row or object.
    """

    __tablename__ = "case_purge_counts"

    case_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The case, cases.id"
    )
    kind: Mapped[str] = mapped_column(String(16), primary_key=True, comment="rows, versions, markers or uploads")
    name: Mapped[str] = mapped_column(
        String(64), primary_key=True, comment="The table, or the first part of the keys of the objects"
    )
    total: Mapped[int] = mapped_column(BigInteger, comment="How many")
    size: Mapped[int] = mapped_column(BigInteger, comment="The bytes of the objects; 0 for rows")
    digest: Mapped[bytes] = mapped_column(BINARY(32), comment="The chain over all of them")


class CasePurgePrefixes(Base):
    """What the keys of a case's objects begin with; deleted at the end of the purge."""

    __tablename__ = "case_purge_prefixes"

    case_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The case, cases.id"
    )
    prefix_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The number of the prefix, from 1"
    )
    prefix: Mapped[str] = mapped_column(String(1024), comment="The beginning of the keys")
    suffix: Mapped[str] = mapped_column(String(64), comment="The end of the keys; empty for any")


class CasePurgeObjects(Base):
    """A version, delete marker or upload in parts that a purge is about to delete, or could not delete.

    Written before the request to delete, so that each is counted once however often that is repeated; deleted with
    the count.
    """

    __tablename__ = "case_purge_objects"
    __table_args__ = (Index("ix_case_purge_objects_case", "case_id", "is_locked", "id"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    kind: Mapped[str] = mapped_column(String(16), comment="versions, markers or uploads")
    object_key: Mapped[str] = mapped_column(String(1024), comment="The key of the object")
    version_id: Mapped[str] = mapped_column(String(1024), comment="The version; of an upload in parts, its id")
    size: Mapped[int] = mapped_column(BigInteger, comment="The bytes of the version; 0 for others")
    is_locked: Mapped[int] = mapped_column(
        SmallInteger, server_default="0", comment="1 if S3 refuses to delete it, as Object Lock does, else 0"
    )
    locked_until: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="Until when its retention lasts (UTC); NULL without one, or for a legal hold"
    )
