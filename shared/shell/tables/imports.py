"""Cases, and what is known of the imports into them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    BINARY,
    BigInteger,
    Index,
    Integer,
    SmallInteger,
    String,
    UniqueConstraint,
)
from sqlalchemy.dialects.mysql import BLOB, MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Moment


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
