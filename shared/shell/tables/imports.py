"""Imports: what was decided about each, and how far it is."""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, Index, Integer, String, UniqueConstraint
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Moment


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
