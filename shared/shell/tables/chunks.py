"""The chunks of a load file, and its duplicate records."""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, Index, Integer, SmallInteger, String
from sqlalchemy.dialects.mysql import BLOB, MEDIUMBLOB, MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base, Timestamp


class ImportChunks(Base):
    """A contiguous run of records of one file; the unit of import, committed whole or not at all.

    The bytes [byte_start, byte_end) of the source version hold its records; `sha256` is their hash, and covers
    `boundaries`.
    """

    __tablename__ = "import_chunks"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    chunk_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The number of the chunk within the file, from 1"
    )
    byte_start: Mapped[int] = mapped_column(BigInteger, comment="The first byte of the chunk in the file, from 0")
    byte_end: Mapped[int] = mapped_column(BigInteger, comment="The byte after the last one of the chunk")
    first_line: Mapped[int] = mapped_column(BigInteger, comment="The line of the chunk's first record, from 1")
    last_line: Mapped[int] = mapped_column(BigInteger, comment="The last line of the chunk's last record")
    row_count: Mapped[int] = mapped_column(Integer, comment="Records in the chunk")
    sha256: Mapped[bytes] = mapped_column(BINARY(32), comment="SHA-256 of the chunk's bytes")
    status: Mapped[str] = mapped_column(
        String(16),
        server_default="pending",
        comment="pending, done (its rows are committed) or failed (in every attempt)",
    )
    redrives: Mapped[int] = mapped_column(
        SmallInteger,
        server_default="0",
        comment="1 if the chunk came back from the dead-letter queue and was sent once more",
    )
    imported: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Rows of the chunk that became a new exhibit"
    )
    unchanged: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Rows that the case already held with the same values"
    )
    updated: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Rows that changed an exhibit; 0 unless the mode is an overlay"
    )
    rejected: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Rows of the chunk that were not imported"
    )
    warnings: Mapped[int] = mapped_column(Integer, server_default="0", comment="Warnings about values of the chunk")
    finished_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When the chunk was done or failed (UTC); NULL while it is pending"
    )
    check_digest: Mapped[bytes | None] = mapped_column(
        BINARY(32), comment="SHA-256 of line, result and codes of each row in a check; NULL if it was not checked"
    )
    import_digest: Mapped[bytes | None] = mapped_column(
        BINARY(32), comment="The same of the import after the check, with which it is compared; NULL before"
    )
    named_natives: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="New and changed exhibits with a native_path, if the file is of no volume"
    )
    named_texts: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="New and changed exhibits with a text_path, if the file is of no volume"
    )
    boundaries: Mapped[bytes | None] = mapped_column(
        BLOB, comment="Which lines begin documents, if commands of an image load file change that; else NULL"
    )
    first_number: Mapped[str | None] = mapped_column(
        String(255), comment="The lowest control number of the exhibits that the chunk created; NULL: not known"
    )
    last_number: Mapped[str | None] = mapped_column(
        String(255), comment="The highest control number of the exhibits that the chunk created; NULL: not known"
    )
    first_exhibit: Mapped[int | None] = mapped_column(
        BigInteger, comment="The lowest id of the exhibits that the chunk created, exhibits.id; NULL: not known"
    )
    last_exhibit: Mapped[int | None] = mapped_column(
        BigInteger, comment="The highest id of the exhibits that the chunk created, exhibits.id; NULL: not known"
    )
    reader: Mapped[bytes | None] = mapped_column(
        BINARY(32),
        comment="SHA-256 of the code and limits by which rows became exhibits; NULL: no row did, or not known",
    )


class ImportUnchanged(Base):
    """The exhibits that rows of a chunk found unchanged; none for a chunk without such rows."""

    __tablename__ = "import_unchanged"
    __table_args__ = (Index("ix_import_unchanged_ids", "import_id", "first_id", "last_id"),)

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    chunk_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The chunk, import_chunks.chunk_no"
    )
    first_id: Mapped[int] = mapped_column(BigInteger, comment="The lowest of the exhibits, exhibits.id")
    last_id: Mapped[int] = mapped_column(BigInteger, comment="The highest of them, exhibits.id")
    exhibit_ids: Mapped[bytes] = mapped_column(
        MEDIUMBLOB,
        comment="Their ids in ascending order, each as its distance from the one before: compressed JSON",
    )


class ImportSplits(Base):
    """The last checkpoint of the split of a large file, until its chunks are registered.

    The chunks before it are in `import_chunks`, and have no meaning before the import runs.
    """

    __tablename__ = "import_splits"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    fingerprint: Mapped[bytes] = mapped_column(
        BINARY(32),
        comment="SHA-256 of all that decides how the file is split; the split starts over if it changes",
    )
    bytes_read: Mapped[int] = mapped_column(BigInteger, comment="Bytes of the file that are split")
    partition_no: Mapped[int | None] = mapped_column(
        Integer,
        comment="The partition of ids in which duplicates are looked for next; NULL until the whole file is read",
    )
    repeats_stored: Mapped[int] = mapped_column(
        BigInteger,
        server_default="0",
        comment="Duplicates that are stored of the group of partitions that begins at partition_no",
    )
    state: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="The state of the split, as JSON; NULL if it starts over"
    )


class ImportDuplicates(Base):
    """A record whose id already occurs in an earlier record of the same file."""

    __tablename__ = "import_duplicates"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    line_no: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The line of the repeated record"
    )
    first_line: Mapped[int] = mapped_column(BigInteger, comment="The line of the first record with the same id")
