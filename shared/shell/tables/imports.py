"""Imports: the detected format, the status and the counts of each."""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, CheckConstraint, Index, Integer, String, UniqueConstraint
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class Imports(Base):
    """One upload of one load file: its detected format, status and counts.

    Guaranteed: one row for each upload, by `upload_key`; while an import awaits its upload, the key is derived from
    `upload_id` instead. `upload_id` and `options` come from the API request. For a file that was put into the bucket
    without one, `upload_id` is NULL, and `options` are those with which it was split; NULL before.
    """

    __tablename__ = "imports"
    __table_args__ = (
        UniqueConstraint("upload_key", name="uq_imports_upload_key"),
        UniqueConstraint("tenant_id", "upload_id", name="uq_imports_upload_id"),
        Index("ix_imports_case", "case_id"),
        Index("ix_imports_case_started", "case_id", "started_at"),
        Index("ix_imports_tenant", "tenant_id"),
        Index("ix_imports_volume", "volume_id"),
        Index("ix_imports_after", "after_import_id"),
        # Also functions of the previous release, which know no held import, cannot start one.
        CheckConstraint(
            "wanted IS NULL OR wanted <> 'hold' OR status NOT IN ('splitting', 'checking', 'running')",
            name="ck_imports_held",
        ),
        Index("ix_imports_corrects", "corrects_import_id"),
        Index("ix_imports_same_file", "case_id", "sha256"),
        Index("ix_imports_operations", "tenant_id", "status", "finished_at"),
        Index("ix_imports_chunks_failed", "tenant_id", "status", "chunks_failed"),
    )

    id: Mapped[int] = mapped_column(
        BigInteger,
        primary_key=True,
        comment="The number of the import, as the API and the folders of its report files use it",
    )
    upload_key: Mapped[bytes] = mapped_column(
        BINARY(32), comment="SHA-256 of bucket, key and version of the upload, or of upload_id until the file arrives"
    )
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the import")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    bucket: Mapped[str] = mapped_column(String(63), comment="The S3 bucket of the load file")
    object_key: Mapped[str] = mapped_column(String(1024), comment="The S3 key of the load file")
    version_id: Mapped[str | None] = mapped_column(
        String(1024), comment="The S3 version of the load file; NULL until it arrives, or in a bucket without versions"
    )
    etag: Mapped[str | None] = mapped_column(String(255), comment="The ETag of the load file in S3")
    size: Mapped[int] = mapped_column(BigInteger, comment="The size of the load file in bytes")
    file_name: Mapped[str] = mapped_column(String(1024), comment="The name of the load file")
    user_id: Mapped[str] = mapped_column(
        String(255), comment="The user who is recorded with the links that the import creates"
    )
    upload_id: Mapped[str | None] = mapped_column(
        String(64),
        comment="The upload id of an import announced with the API; NULL for a file put into the bucket directly",
    )
    multipart_id: Mapped[str | None] = mapped_column(
        String(255), comment="The multipart upload of an announced file that is sent in parts; NULL otherwise"
    )
    part_bytes: Mapped[int | None] = mapped_column(BigInteger, comment="The size of these parts; NULL otherwise")
    options: Mapped[str | None] = mapped_column(
        MEDIUMTEXT,
        comment="The options as JSON; those beside a file put into the bucket directly are recorded once it is split",
    )
    options_version: Mapped[int] = mapped_column(
        Integer, server_default="1", comment="1, and one more for each change of the options by a user"
    )
    profile_name: Mapped[str | None] = mapped_column(
        String(255), comment="The mapping profile that the import uses a copy of; NULL for none"
    )
    profile_version: Mapped[int | None] = mapped_column(
        Integer, comment="The version of the profile that was copied; NULL without a profile"
    )
    status: Mapped[str] = mapped_column(
        String(32),
        comment="awaiting_upload, uploaded, splitting, checking, checked, running or an end, such as completed",
    )
    wanted: Mapped[str | None] = mapped_column(
        String(8),
        comment="hold, check or import: what follows the upload; NULL if the import was never held: as phase says",
    )
    phase: Mapped[str] = mapped_column(
        String(16),
        server_default="import",
        comment="What the chunks are processed for: import, or check, which writes nothing to the case",
    )
    kind: Mapped[str] = mapped_column(
        String(8), server_default="rows", comment="rows of a DAT or CSV file, or images: pages of an OPT or LFP file"
    )
    volume_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The volume that has the file, volumes.id; NULL for a file that was uploaded alone"
    )
    after_import_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The import that has to end before this one begins, imports.id; NULL for none"
    )
    corrects_import_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The import of whose rejected rows this one has corrections, imports.id; NULL for none"
    )
    failure_code: Mapped[str | None] = mapped_column(
        String(64), comment="Why the whole file failed, as a code; NULL otherwise"
    )
    failure_message: Mapped[str | None] = mapped_column(
        String(1024), comment="What is wrong with the file and what to do about it; NULL otherwise"
    )
    sha256: Mapped[bytes | None] = mapped_column(BINARY(32), comment="SHA-256 of the whole load file")
    encoding: Mapped[str | None] = mapped_column(String(16), comment="The detected or requested encoding of the file")
    delimiter: Mapped[str | None] = mapped_column(String(8), comment="The character between cells")
    qualifier: Mapped[str | None] = mapped_column(
        String(8), comment="The character around cells; NULL for a file without one"
    )
    date_orders: Mapped[str | None] = mapped_column(
        String(255), comment="Whether dates are read day or month first, as JSON"
    )
    layout: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="Columns, fields and format as the chunks read the file, as JSON"
    )
    rows_seen: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Records in the file, counted when it was split"
    )
    imported: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Rows that became a new exhibit")
    unchanged: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Rows that the case already held with the same values"
    )
    updated: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Rows that changed an exhibit; 0 unless the mode is an overlay"
    )
    rejected: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Rows that were not imported, see import_rejections"
    )
    warnings: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Rows of import_warnings")
    custodians_created: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Custodians that the import created"
    )
    tags_created: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Tags that the import created")
    chunk_count: Mapped[int] = mapped_column(Integer, server_default="0", comment="Chunks of the file")
    chunks_left: Mapped[int] = mapped_column(
        Integer,
        server_default="0",
        comment="Chunks that are neither done nor failed; at 0, complete_import completes the import",
    )
    chunks_failed: Mapped[int] = mapped_column(
        Integer,
        server_default="0",
        comment="Chunks that failed in every attempt since the last retry; those of an earlier version do not count",
    )
    generation: Mapped[int] = mapped_column(
        Integer,
        server_default="1",
        comment="1, and one more for each retry, run or change of options; older messages are ignored",
    )
    split_checkpoint: Mapped[str | None] = mapped_column(
        String(32), comment="A random name of the last checkpoint of the split; NULL if there was none"
    )
    reports_generation: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="The generation whose report files were written; 0 for none"
    )
    deficiencies_generation: Mapped[int] = mapped_column(
        Integer,
        server_default="0",
        comment="The generation whose reports have a list for the producing party; 0 for none",
    )
    codes_generation: Mapped[int] = mapped_column(
        Integer,
        server_default="0",
        comment="The generation whose rejections and warnings import_codes counts, negative until it is completed; "
        "0 for none",
    )
    codes_folded: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="The last chunk in the sums of import_codes; 0 for none"
    )
    started_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the import was created or last retried (UTC)"
    )
    finished_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When it completed, failed or was cancelled (UTC); NULL before"
    )
