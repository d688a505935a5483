"""Exports: the request and the state of each, and the parts of its file."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, SmallInteger, String
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class Exports(Base):
    """A file with the documents of a case, or their pages, tags or history, that a user requested."""

    __tablename__ = "exports"
    __table_args__ = (
        Index("ix_exports_case", "tenant_id", "case_id", "id"),
        Index("ix_exports_tenant", "tenant_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="The number of the export, as the API has it")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the export")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    user_id: Mapped[str] = mapped_column(String(255), comment="The user who requested the export")
    kind: Mapped[str] = mapped_column(String(16), comment="documents, pages, tags or history: what its rows are")
    format: Mapped[str] = mapped_column(String(16), comment="csv or jsonl")
    filters: Mapped[str] = mapped_column(MEDIUMTEXT, comment="The filters of the list of exhibits, as JSON")
    column_names: Mapped[str] = mapped_column(MEDIUMTEXT, comment="The columns in their order, as JSON")
    highest_exhibit_id: Mapped[int] = mapped_column(
        BigInteger, comment="The highest exhibits.id when it was requested; documents with higher ones are left out"
    )
    expected: Mapped[int | None] = mapped_column(
        BigInteger, comment="How many documents matched when it was requested; NULL if they are too many to count"
    )
    status: Mapped[str] = mapped_column(String(16), comment="requested, running, completed, cancelled or failed")
    reason: Mapped[str | None] = mapped_column(MEDIUMTEXT, comment="Why it failed; NULL unless it did")
    upload_id: Mapped[str | None] = mapped_column(
        String(1024), comment="The multipart upload of its file; NULL before its work began"
    )
    documents: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="How many documents are written")
    row_count: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="How many rows are written")
    size: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="The bytes that are written")
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When it was requested, by the database's clock (UTC)"
    )
    started_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When its work began, from which its file is kept; NULL before"
    )
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp, comment="When it ended; NULL before")


class ExportParts(Base):
    """A part of the file of an export, and where the next one begins; rows are inserted and never updated.

    Part 0 has no bytes and is inserted with the export: its row is the lock of the workers.
    """

    __tablename__ = "export_parts"

    export_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The export, exports.id"
    )
    part_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The number of the part in its upload, from 1"
    )
    after_key: Mapped[str | None] = mapped_column(
        String(255), comment="The control number of its last document; NULL without documents up to it"
    )
    is_last: Mapped[int] = mapped_column(SmallInteger, comment="1 if no document follows, else 0")
    etag: Mapped[str] = mapped_column(String(255), comment="The ETag of the part; empty for part 0")
    checksum: Mapped[str] = mapped_column(String(16), comment="CRC-32 of the part in Base64; empty for part 0")
