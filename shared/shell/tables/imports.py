"""Imports: the detected format, the status and the counts of each."""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, Index, Integer, String, UniqueConstraint
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class Imports(Base):
    """One upload of one load file: its detected format, status and counts.

    Guaranteed: one row for each upload, by `upload_key`; while an import awaits its upload, the key is derived from
    `upload_id` instead. `upload_id` and `options` come from the API request; both are NULL for a file that was put into
    the bucket without one.
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
    started_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW)
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)
