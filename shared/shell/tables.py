"""The tables, as SQLAlchemy models; `migrations` creates them, and a test keeps the two the same.

Times are DATETIME(6) in UTC. Text that comes out of load files lives in columns of the deployment's character set
(`DB_CHARSET`); everything about the import itself is utf8mb4. Control numbers and Bates numbers compare by bytes.
No foreign key points at `imports` or `cases` from rows that chunks write: a shared lock on one hot parent row, raised
later to an exclusive one, deadlocks the chunks against each other.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BINARY,
    VARBINARY,
    BigInteger,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.mysql import BLOB, DATETIME, MEDIUMTEXT
from sqlalchemy.orm import DeclarativeBase, Mapped, declared_attr, mapped_column

Moment = DATETIME(fsp=6)
NOW = text("CURRENT_TIMESTAMP(6)")


class Base(DeclarativeBase):
    """All models."""


class Cases(Base):
    """A legal matter of one tenant."""

    __tablename__ = "cases"
    __table_args__ = (UniqueConstraint("tenant_id", "name", name="uq_cases_tenant_name"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(Moment, server_default=NOW)


class Imports(Base):
    """One upload of one load file: what was decided about it, and how far it is.

    `upload_id` and `options` are those that the API handed out and was given; both are NULL for a file that was put
    into the bucket without asking. An import that awaits its upload has a key of its own in place of the upload's.
    """

    __tablename__ = "imports"
    __table_args__ = (
        UniqueConstraint("upload_key", name="uq_imports_upload_key"),
        UniqueConstraint("tenant_id", "upload_id", name="uq_imports_upload_id"),
        Index("ix_imports_case", "case_id"),
        Index("ix_imports_tenant", "tenant_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    upload_key: Mapped[bytes] = mapped_column(BINARY(32))
    tenant_id: Mapped[str] = mapped_column(String(64))
    case_id: Mapped[int] = mapped_column(BigInteger)
    bucket: Mapped[str] = mapped_column(String(63))
    object_key: Mapped[str] = mapped_column(String(1024))
    version_id: Mapped[str | None] = mapped_column(String(1024))
    etag: Mapped[str | None] = mapped_column(String(255))
    size: Mapped[int] = mapped_column(BigInteger)
    file_name: Mapped[str] = mapped_column(String(1024))
    user_id: Mapped[str] = mapped_column(String(255))
    upload_id: Mapped[str | None] = mapped_column(String(64))
    options: Mapped[str | None] = mapped_column(MEDIUMTEXT)
    status: Mapped[str] = mapped_column(String(32))
    failure_code: Mapped[str | None] = mapped_column(String(64))
    failure_message: Mapped[str | None] = mapped_column(String(1024))
    sha256: Mapped[bytes | None] = mapped_column(BINARY(32))
    encoding: Mapped[str | None] = mapped_column(String(16))
    delimiter: Mapped[str | None] = mapped_column(String(8))
    qualifier: Mapped[str | None] = mapped_column(String(8))
    date_orders: Mapped[str | None] = mapped_column(String(255))
    layout: Mapped[str | None] = mapped_column(MEDIUMTEXT)
    rows_seen: Mapped[int] = mapped_column(BigInteger, server_default="0")
    imported: Mapped[int] = mapped_column(BigInteger, server_default="0")
    unchanged: Mapped[int] = mapped_column(BigInteger, server_default="0")
    updated: Mapped[int] = mapped_column(BigInteger, server_default="0")
    rejected: Mapped[int] = mapped_column(BigInteger, server_default="0")
    warnings: Mapped[int] = mapped_column(BigInteger, server_default="0")
    custodians_created: Mapped[int] = mapped_column(BigInteger, server_default="0")
    tags_created: Mapped[int] = mapped_column(BigInteger, server_default="0")
    chunk_count: Mapped[int] = mapped_column(Integer, server_default="0")
    chunks_left: Mapped[int] = mapped_column(Integer, server_default="0")
    generation: Mapped[int] = mapped_column(Integer, server_default="1")
    reports_generation: Mapped[int] = mapped_column(Integer, server_default="0")
    started_at: Mapped[datetime] = mapped_column(Moment, server_default=NOW)
    finished_at: Mapped[datetime | None] = mapped_column(Moment)


class ImportChunks(Base):
    """A run of records of one file: the unit that is imported whole or not at all."""

    __tablename__ = "import_chunks"

    import_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    chunk_no: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    byte_start: Mapped[int] = mapped_column(BigInteger)
    byte_end: Mapped[int] = mapped_column(BigInteger)
    first_line: Mapped[int] = mapped_column(BigInteger)
    last_line: Mapped[int] = mapped_column(BigInteger)
    row_count: Mapped[int] = mapped_column(Integer)
    sha256: Mapped[bytes] = mapped_column(BINARY(32))
    status: Mapped[str] = mapped_column(String(16), server_default="pending")
    redrives: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    imported: Mapped[int] = mapped_column(Integer, server_default="0")
    unchanged: Mapped[int] = mapped_column(Integer, server_default="0")
    updated: Mapped[int] = mapped_column(Integer, server_default="0")
    rejected: Mapped[int] = mapped_column(Integer, server_default="0")
    warnings: Mapped[int] = mapped_column(Integer, server_default="0")
    settled_at: Mapped[datetime | None] = mapped_column(Moment)


class ImportDuplicates(Base):
    """A record whose control number an earlier line of the same file claimed."""

    __tablename__ = "import_duplicates"

    import_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    line_no: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    first_line: Mapped[int] = mapped_column(BigInteger)


class ImportRejections(Base):
    """Why a record was not imported, and where its bytes lie in the source version."""

    __tablename__ = "import_rejections"

    import_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    line_no: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    chunk_no: Mapped[int] = mapped_column(Integer)
    row_count: Mapped[int] = mapped_column(Integer, server_default="1")
    column_name: Mapped[str | None] = mapped_column(String(255))
    code: Mapped[str] = mapped_column(String(64))
    message: Mapped[str] = mapped_column(String(1024))
    control_number: Mapped[str | None] = mapped_column(String(255))
    byte_start: Mapped[int] = mapped_column(BigInteger)
    byte_len: Mapped[int] = mapped_column(BigInteger)


class ImportWarnings(Base):
    """What was changed in an imported value, with the original as bytes where it is no longer than 1 KB.

    A longer original is the record's byte range in the source version.
    """

    __tablename__ = "import_warnings"

    import_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    line_no: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    chunk_no: Mapped[int] = mapped_column(Integer)
    column_name: Mapped[str | None] = mapped_column(String(255))
    code: Mapped[str] = mapped_column(String(64))
    message: Mapped[str] = mapped_column(String(1024))
    control_number: Mapped[str | None] = mapped_column(String(255))
    original: Mapped[bytes | None] = mapped_column(BLOB)
    original_bytes: Mapped[int | None] = mapped_column(BigInteger)
    stored_bytes: Mapped[int | None] = mapped_column(BigInteger)
    byte_start: Mapped[int | None] = mapped_column(BigInteger)
    byte_len: Mapped[int | None] = mapped_column(BigInteger)


class ImportNames(Base):
    """A spelling of a custodian or tag, and the lowest line of a chunk that has it.

    Rows of a chunk are its own, so that a name on every row does not serialise the chunks; the last chunk reads them
    all and gives every name the spelling of its lowest line, whatever the order was.
    """

    __tablename__ = "import_names"

    import_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    chunk_no: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(String(500))
    line_no: Mapped[int] = mapped_column(BigInteger)
    column_name: Mapped[str | None] = mapped_column(String(255))


class Exhibits(Base):
    """A document of a case, with what its load file said of it."""

    __tablename__ = "exhibits"
    __table_args__ = (UniqueConstraint("case_id", "control_number", name="uq_exhibits_control_number"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    case_id: Mapped[int] = mapped_column(BigInteger)
    control_number: Mapped[str] = mapped_column(String(255))
    bates_begin: Mapped[str | None] = mapped_column(String(255))
    bates_end: Mapped[str | None] = mapped_column(String(255))
    parent_control_number: Mapped[str | None] = mapped_column(String(255))
    title: Mapped[str | None] = mapped_column(String(1024))
    file_name: Mapped[str | None] = mapped_column(String(1024))
    document_date: Mapped[datetime | None] = mapped_column(Moment)
    native_path: Mapped[str | None] = mapped_column(String(1024))
    text_path: Mapped[str | None] = mapped_column(String(1024))
    document_properties: Mapped[str | None] = mapped_column(Text)
    row_hash: Mapped[bytes | None] = mapped_column(BINARY(32))
    import_id: Mapped[int] = mapped_column(BigInteger)
    line_no: Mapped[int] = mapped_column(BigInteger)
    line_count: Mapped[int] = mapped_column(Integer, server_default="1")
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class _Name:
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    case_id: Mapped[int] = mapped_column(BigInteger)
    import_id: Mapped[int | None] = mapped_column(BigInteger)
    line_no: Mapped[int | None] = mapped_column(BigInteger)
    created_at_gmt: Mapped[datetime] = mapped_column(Moment, server_default=NOW)
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    @declared_attr.directive
    def __mapper_args__(cls) -> dict[str, Any]:
        return {"version_id_col": cls.version}


class Custodians(_Name, Base):
    """Somebody who held documents; names that the database collates equal are one."""

    __tablename__ = "custodians"
    __table_args__ = (
        UniqueConstraint("case_id", "name", name="uq_custodians_name"),
        Index("ix_custodians_import", "import_id"),
    )

    name: Mapped[str] = mapped_column(String(255))


class Tags(_Name, Base):
    r"""A coding choice; a nested one is named by its full path, `Hot\Really Hot`."""

    __tablename__ = "tags"
    __table_args__ = (UniqueConstraint("case_id", "name", name="uq_tags_name"), Index("ix_tags_import", "import_id"))

    name: Mapped[str] = mapped_column(String(500))


class CustodianExhibits(Base):
    """A custodian held an exhibit."""

    __tablename__ = "custodian_exhibits"
    __table_args__ = (Index("ix_custodian_exhibits_custodian", "custodian_id"),)

    exhibit_id: Mapped[int] = mapped_column(ForeignKey("exhibits.id"), primary_key=True, autoincrement=False)
    custodian_id: Mapped[int] = mapped_column(ForeignKey("custodians.id"), primary_key=True, autoincrement=False)
    user_id: Mapped[str] = mapped_column(String(255))


class Taggings(Base):
    """An exhibit carries a tag."""

    __tablename__ = "taggings"
    __table_args__ = (Index("ix_taggings_tag", "tag_id"),)

    exhibit_id: Mapped[int] = mapped_column(ForeignKey("exhibits.id"), primary_key=True, autoincrement=False)
    tag_id: Mapped[int] = mapped_column(ForeignKey("tags.id"), primary_key=True, autoincrement=False)
    user_id: Mapped[str] = mapped_column(String(255))


class OutboxEvents(Base):
    """A fact committed with the data it tells of, waiting to be published."""

    __tablename__ = "outbox_events"
    __table_args__ = (Index("ix_outbox_events_unpublished", "published", "id"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    aggregate_type: Mapped[str] = mapped_column(String(64))
    aggregate_id: Mapped[str] = mapped_column(String(64))
    event_type: Mapped[str] = mapped_column(String(64))
    payload: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment, server_default=NOW)
    published: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    claim_token: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None] = mapped_column(Moment)
    attempts: Mapped[int] = mapped_column(Integer, server_default="0")


class IdempotencyKeys(Base):
    """A request that was made under a key: claimed by an owner, and once its effect is committed, the answer."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (
        UniqueConstraint("tenant_id", "route", "idempotency_key", name="uq_idempotency_keys"),
        Index("ix_idempotency_keys_created", "created_at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(64))
    route: Mapped[str] = mapped_column(String(128))
    # Bytes: as text, keys that differ by a space at their end would be one.
    idempotency_key: Mapped[bytes] = mapped_column(VARBINARY(255))
    fingerprint: Mapped[bytes] = mapped_column(BINARY(32))
    status: Mapped[str] = mapped_column(String(16))
    owner: Mapped[bytes] = mapped_column(BINARY(16))
    attempt: Mapped[int] = mapped_column(Integer)
    lease_until: Mapped[datetime] = mapped_column(Moment)
    status_code: Mapped[int | None] = mapped_column(SmallInteger)
    response_headers: Mapped[str | None] = mapped_column(Text)
    response_body: Mapped[str | None] = mapped_column(MEDIUMTEXT)
    created_at: Mapped[datetime] = mapped_column(Moment, server_default=NOW)


class Semaphores(Base):
    """A semaphore in the database, for deployments without Redis; `fence` is the last number that it gave out."""

    __tablename__ = "semaphores"

    name: Mapped[bytes] = mapped_column(BINARY(32), primary_key=True)
    fence: Mapped[int] = mapped_column(BigInteger, server_default="0")


class SemaphoreHolders(Base):
    """Who is inside a semaphore, and until when at most."""

    __tablename__ = "semaphore_holders"
    __table_args__ = (Index("ix_semaphore_holders_expires", "expires_at"),)

    name: Mapped[bytes] = mapped_column(BINARY(32), primary_key=True)
    token: Mapped[bytes] = mapped_column(BINARY(16), primary_key=True)
    expires_at: Mapped[datetime] = mapped_column(Moment)
