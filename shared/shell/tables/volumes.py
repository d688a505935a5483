"""Volumes: production folders and zips, their files, and which file a path of a load file names."""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, Index, Integer, SmallInteger, String, Text, UniqueConstraint
from sqlalchemy.dialects.mysql import MEDIUMBLOB, MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp

# In exhibit_files.file_id: the volume of the import has no file for the path.
NO_FILE = 0


class Volumes(Base):
    """A folder or zip with load files and the files that they name, as it was sent.

    Files are added while it is open. Then it is sealed, its objects are listed once with their versions, a zip is
    expanded, and it is ready: every later read names a version that was listed.
    """

    __tablename__ = "volumes"
    __table_args__ = (
        Index("ix_volumes_case", "tenant_id", "case_id", "id"),
        Index("ix_volumes_operations", "tenant_id", "status", "finished_at"),
    )

    id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, comment="The number of the volume, as the API and its folder in the bucket use it"
    )
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the volume")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    name: Mapped[str] = mapped_column(String(255), comment="The name of the volume, such as VOL001")
    user_id: Mapped[str] = mapped_column(String(255), comment="The user who created the volume")
    prefix: Mapped[str] = mapped_column(String(1024), comment="What the keys of its objects in the bucket begin with")
    archive_key: Mapped[str | None] = mapped_column(
        String(1024), comment="The key of the zip; NULL for a volume of single files"
    )
    archive_version_id: Mapped[str | None] = mapped_column(
        String(1024), comment="The version of the zip that is expanded; NULL before it is sealed"
    )
    archive_size: Mapped[int | None] = mapped_column(
        BigInteger, comment="The declared size of the zip; NULL for single files, or if an earlier version created it"
    )
    archive_multipart_id: Mapped[str | None] = mapped_column(
        String(255), comment="The multipart upload of a zip that is sent in parts; NULL otherwise"
    )
    archive_part_bytes: Mapped[int | None] = mapped_column(
        BigInteger, comment="The size of the parts of the zip; NULL otherwise"
    )
    status: Mapped[str] = mapped_column(
        String(16),
        comment="open, sealed (its files are listed), expanding, hashing, ready, failed, deleting or deleted",
    )
    import_request: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="The load files and options to import with once it is ready, as JSON; NULL before"
    )
    runs: Mapped[int] = mapped_column(Integer, server_default="0", comment="How often its import was requested")
    list_position: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="Where the listing goes on after an interruption, as JSON; NULL before and after"
    )
    listed_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When the list of its files was complete (UTC); NULL before"
    )
    load_files: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="The load files that were found, and the top folder of the volume, as JSON; NULL before"
    )
    candidates: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="The files that can be its load files: path, size and kind, as JSON; NULL before"
    )
    folders: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="The folders beside the load files, by the folder that has them, as JSON; NULL before"
    )
    late_files: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Objects that arrived after the listing had passed their place"
    )
    late_names: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="The paths of the first of these, as JSON; NULL for none"
    )
    files: Mapped[int] = mapped_column(Integer, server_default="0", comment="Files of the volume")
    bytes: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Bytes of these files")
    ignored: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Files that systems add to folders and zips, such as .DS_Store, left out"
    )
    units: Mapped[int] = mapped_column(Integer, server_default="0", comment="Parts in which it is expanded or hashed")
    units_left: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Parts that are not done; at 0 the volume is ready"
    )
    generation: Mapped[int] = mapped_column(
        Integer, server_default="1", comment="1, and one more for each retry; messages of earlier ones are ignored"
    )
    failure_code: Mapped[str | None] = mapped_column(
        String(64), comment="Why it cannot be imported, as a code; NULL otherwise"
    )
    failure_message: Mapped[str | None] = mapped_column(
        String(1024), comment="What is wrong and what to do about it; NULL otherwise"
    )
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW, comment="When it was created (UTC)")
    finished_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When it became ready or failed (UTC); NULL before"
    )


class VolumeUploads(Base):
    """A file that a client has declared before sending it."""

    __tablename__ = "volume_uploads"

    volume_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The volume, volumes.id"
    )
    path_hash: Mapped[bytes] = mapped_column(BINARY(32), primary_key=True, comment="SHA-256 of the path")
    path: Mapped[str] = mapped_column(String(1024), comment="The path within the volume, with slashes")
    size: Mapped[int] = mapped_column(BigInteger, comment="The size in bytes")
    sha256: Mapped[bytes | None] = mapped_column(
        BINARY(32), comment="SHA-256 of the file, which S3 compares; NULL if the client did not state it"
    )
    multipart_id: Mapped[str | None] = mapped_column(
        String(255), comment="The multipart upload of a file that is sent in parts; NULL otherwise"
    )
    part_bytes: Mapped[int | None] = mapped_column(
        BigInteger, comment="The size of these parts; NULL otherwise, or if an earlier version declared it"
    )
    begun_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When the multipart upload was begun (UTC); NULL otherwise, or as for part_bytes"
    )


class VolumeFiles(Base):
    """A file of a sealed volume: one version of one object, or an entry of the zip that becomes one."""

    __tablename__ = "volume_files"
    __table_args__ = (
        UniqueConstraint("volume_id", "file_no", name="uq_volume_files_number"),
        Index("ix_volume_files_path", "volume_id", "path_hash"),
        Index("ix_volume_files_unit", "volume_id", "unit_no"),
        Index("ix_volume_files_name", "volume_id", "name_hash"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    volume_id: Mapped[int] = mapped_column(BigInteger, comment="The volume, volumes.id")
    file_no: Mapped[int] = mapped_column(Integer, comment="The number of the file within the volume, from 0")
    path: Mapped[str] = mapped_column(String(1024), comment="The path within the volume, with slashes")
    path_hash: Mapped[bytes] = mapped_column(
        BINARY(16), comment="The first half of the SHA-256 of the path without differences of case and of composition"
    )
    size: Mapped[int] = mapped_column(BigInteger, comment="The size in bytes")
    version_id: Mapped[str | None] = mapped_column(
        String(1024), comment="The version of the object; NULL for an entry of a zip that is not expanded yet"
    )
    etag: Mapped[str | None] = mapped_column(String(255), comment="The ETag of the object; not a hash of the file")
    md5: Mapped[bytes | None] = mapped_column(BINARY(16), comment="MD5 of the file; NULL if it was not computed")
    sha1: Mapped[bytes | None] = mapped_column(BINARY(20), comment="SHA-1 of the file; NULL if it was not computed")
    sha256: Mapped[bytes | None] = mapped_column(
        BINARY(32), comment="SHA-256 of the file; NULL if it was neither computed nor compared by S3"
    )
    unit_no: Mapped[int | None] = mapped_column(
        Integer, comment="The part of the zip's expansion, volume_units.unit_no; NULL for a single file"
    )
    page_count: Mapped[int | None] = mapped_column(
        Integer, comment="Pages that were counted in the file; NULL if they were not"
    )
    entry: Mapped[str | None] = mapped_column(
        Text, comment="Where and how the zip holds the entry, as JSON; NULL for a single file"
    )
    name_hash: Mapped[bytes | None] = mapped_column(
        BINARY(16), comment="As path_hash, of the name without its folders; NULL if an earlier version listed the file"
    )


class VolumeUnits(Base):
    """A part of a volume: entries of a zip that one worker writes to the bucket, or files that it hashes."""

    __tablename__ = "volume_units"

    volume_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The volume, volumes.id"
    )
    unit_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The number of the part, from 1"
    )
    status: Mapped[str] = mapped_column(
        String(16), server_default="pending", comment="pending, done, or failed (in every attempt)"
    )
    first_file: Mapped[int | None] = mapped_column(
        Integer, comment="The first file that is hashed, volume_files.file_no; NULL for entries of a zip"
    )
    last_file: Mapped[int | None] = mapped_column(Integer, comment="The last one; NULL for entries of a zip")
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp, comment="When it was done (UTC); NULL before")


class ExhibitFiles(Base):
    """The file of a volume that the path of a document's native or text file names, as an import found it.

    The one that counts is that of the latest import whose path is still the document's: `text_hash` is of the path as
    the load file has it. NO_FILE records that the volume lacks the file; any row with a file counts before it.
    """

    __tablename__ = "exhibit_files"
    __table_args__ = (Index("ix_exhibit_files_import", "import_id", "line_no"),)

    exhibit_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The exhibit, exhibits.id"
    )
    kind: Mapped[str] = mapped_column(String(8), primary_key=True, comment="native or text")
    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import that linked the file, imports.id"
    )
    line_no: Mapped[int] = mapped_column(BigInteger, comment="The line of the import's file")
    text_hash: Mapped[bytes] = mapped_column(
        BINARY(16), comment="The first half of the SHA-256 of the path as the load file has it"
    )
    file_id: Mapped[int] = mapped_column(BigInteger, comment="The file, volume_files.id; 0: the volume has none")
    rule: Mapped[int] = mapped_column(
        SmallInteger, comment="The rule by which it was found, from 2 to 9, or 0; docs/volumes.md lists all"
    )


class ImportChunkFiles(Base):
    """What a chunk of a volume's load file found of files and pages, as counts."""

    __tablename__ = "import_chunk_files"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    chunk_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The chunk, import_chunks.chunk_no"
    )
    counts: Mapped[str] = mapped_column(String(1024), comment="Counts of files and pages by name, as JSON")
    referenced: Mapped[bytes | None] = mapped_column(
        MEDIUMBLOB, comment="The numbers of the files that the chunk names, a bit for each, compressed; NULL for none"
    )
    documents: Mapped[bytes | None] = mapped_column(
        MEDIUMBLOB, comment="The documents that it names, as JSON, compressed; NULL unless load files are compared"
    )
    paths: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="How its paths were found, by rule with an example, as JSON; NULL if it names none"
    )
    pages: Mapped[bytes | None] = mapped_column(
        MEDIUMBLOB, comment="What its rows state or its documents have of pages, compressed; NULL if it states none"
    )


class PageReconciliations(Base):
    """The comparison of the pages of an image load file with what its data file states.

    Its findings are warnings of the import.

    Guaranteed: the attempt that is finished is the one whose findings are there.
    """

    __tablename__ = "page_reconciliations"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import of the image load file, imports.id"
    )
    attempt: Mapped[int] = mapped_column(Integer, server_default="0", comment="Attempts that have begun")
    generation: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="The generation of the import that was compared; 0 before"
    )
    compared: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="The imports that it was compared with, and the generation of each, as JSON; NULL before"
    )
    findings: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="The number of findings")
    finished_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When it was finished (UTC); NULL before, and while it is repeated"
    )
