"""What is written of exhibits for others: productions with their saga steps, and exports with the parts of their files.

Both have the request and the state of each.
"""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, Index, Integer, SmallInteger, String
from sqlalchemy.dialects.mysql import MEDIUMBLOB, MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class Productions(Base):
    """A set of exhibits that is produced as one volume, with Bates numbers.

    While `is_open`, an execution runs, or should. `execution_arn` is that of the latest, and `resumptions` counts the
    automatic restarts since the last request by a client.
    """

    __tablename__ = "productions"
    __table_args__ = (
        Index("ix_productions_case", "tenant_id", "case_id", "id"),
        Index("ix_productions_tenant", "tenant_id"),
        Index("ix_productions_open", "is_open", "updated_at"),
        Index("ix_productions_operations", "tenant_id", "status", "id"),
    )

    id: Mapped[int] = mapped_column(
        BigInteger,
        primary_key=True,
        comment="The number of the production, as the API and the folder of its volume use it",
    )
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the production")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    user_id: Mapped[str] = mapped_column(String(255), comment="The user who requested the production")
    volume: Mapped[str] = mapped_column(String(64), comment="The name of the volume, such as VOL001")
    prefix: Mapped[str] = mapped_column(String(64), comment="The Bates prefix")
    digits: Mapped[int] = mapped_column(SmallInteger, comment="How many digits the numbers have")
    start_at: Mapped[int | None] = mapped_column(
        BigInteger, comment="The first number that the request asks for; NULL to continue the prefix"
    )
    numbering: Mapped[str] = mapped_column(String(16), comment="document or page: the unit that gets a Bates number")
    slip_sheets: Mapped[int] = mapped_column(
        SmallInteger, server_default="0", comment="1 if documents without images get a slip sheet, else 0"
    )
    selection: Mapped[str] = mapped_column(MEDIUMTEXT, comment="The selected exhibits, as JSON: ids or a query")
    properties: Mapped[str] = mapped_column(
        MEDIUMTEXT, comment="The columns of the original load file that are handed over, as JSON"
    )
    status: Mapped[str] = mapped_column(
        String(16), comment="requested, running, confirmed, cancelling, cancelled or needs_attention"
    )
    is_open: Mapped[int] = mapped_column(
        SmallInteger, server_default="1", comment="1 while an execution runs or should run, else 0"
    )
    cancel_requested: Mapped[int] = mapped_column(
        SmallInteger, server_default="0", comment="1 once a client has asked for the cancellation"
    )
    generation: Mapped[int] = mapped_column(
        Integer, server_default="1", comment="1, and one more for each retry by a client and each automatic restart"
    )
    resumptions: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Automatic restarts since the last request by a client"
    )
    execution_arn: Mapped[str | None] = mapped_column(
        String(1024), comment="The latest durable execution; NULL before the first"
    )
    failed_step: Mapped[str | None] = mapped_column(String(32), comment="The step that failed for good; NULL otherwise")
    reason: Mapped[str | None] = mapped_column(String(1000), comment="Why it failed; NULL otherwise")
    documents: Mapped[int | None] = mapped_column(
        Integer, comment="Documents of the production; NULL before numbers are reserved"
    )
    parts: Mapped[str | None] = mapped_column(
        MEDIUMTEXT,
        comment="The first document of each part, as JSON; NULL before numbers are reserved, and for parts of 500",
    )
    warnings: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="What was noticed before numbers were reserved, as JSON; NULL before"
    )
    manifest_sha256: Mapped[bytes | None] = mapped_column(
        BINARY(32), comment="SHA-256 of the MANIFEST.csv of the volume; NULL before it is written"
    )
    sequence_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The Bates sequence, bates_sequences.id; NULL before numbers are reserved"
    )
    first_number: Mapped[int | None] = mapped_column(
        BigInteger, comment="The first assigned number, without prefix; NULL before"
    )
    last_number: Mapped[int | None] = mapped_column(
        BigInteger, comment="The last assigned number, without prefix; NULL before"
    )
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the production was requested (UTC)"
    )
    updated_at: Mapped[datetime] = mapped_column(
        Timestamp,
        server_default=NOW,
        comment="The last heartbeat (UTC); a check restarts a production without one for 20 minutes",
    )
    version: Mapped[int] = mapped_column(
        Integer,
        server_default="1",
        comment="Incremented by every change; a client's change of an older version is refused",
    )

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class ProductionSteps(Base):
    """The status of one step of a production's saga."""

    __tablename__ = "production_steps"

    production_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The production, productions.id"
    )
    name: Mapped[str] = mapped_column(String(32), primary_key=True, comment="begin, reserve, copy, confirm or notify")
    position: Mapped[int] = mapped_column(SmallInteger, comment="The order of the step, from 0")
    status: Mapped[str] = mapped_column(String(16), comment="pending, completed, failed or compensated")
    reason: Mapped[str | None] = mapped_column(
        String(1000), comment="Why the step or its compensation failed; NULL otherwise"
    )
    updated_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the status last changed (UTC)"
    )
    done: Mapped[int | None] = mapped_column(
        Integer, comment="How many documents the step has processed; NULL for a step that does not count them"
    )
    total: Mapped[int | None] = mapped_column(
        Integer, comment="How many documents the step will process; NULL for a step that does not count them"
    )


class Exports(Base):
    """A file with the documents of a case, or their pages, tags or history, that a user requested."""

    __tablename__ = "exports"
    __table_args__ = (
        Index("ix_exports_case", "tenant_id", "case_id", "id"),
        Index("ix_exports_tenant", "tenant_id"),
        Index("ix_exports_status", "status"),
        Index("ix_exports_operations", "tenant_id", "status", "finished_at"),
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
        BigInteger,
        comment="The highest exhibits.id of the case at the request; documents with higher ones are no part",
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
    """A part of the file of an export, and where the next one begins; rows are inserted, and lose only their bytes.

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
    etag: Mapped[str] = mapped_column(String(255), comment="The ETag of the part; empty if it is not in the upload")
    checksum: Mapped[str] = mapped_column(
        String(16), comment="CRC-32 of the part in Base64; empty if it is not in the upload"
    )
    carried: Mapped[bytes | None] = mapped_column(
        MEDIUMBLOB, comment="Its bytes if they are too few for the upload; NULL once the next part has them"
    )
    created_at: Mapped[datetime] = mapped_column(
        Timestamp,
        server_default=NOW,
        comment="When it was written, by the database's clock (UTC); part 0 with the export",
    )
