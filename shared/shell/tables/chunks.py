"""The chunks of a load file, and its duplicate records."""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, Integer, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base, Timestamp


class ImportChunks(Base):
    """A contiguous run of records of one file; the unit of import, committed whole or not at all.

    The bytes [byte_start, byte_end) of the source version hold its records; `sha256` is their hash.
    """

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
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)


class ImportDuplicates(Base):
    """A record whose control number already occurs in an earlier record, at `first_line`, of the same file."""

    __tablename__ = "import_duplicates"

    import_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    line_no: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    first_line: Mapped[int] = mapped_column(BigInteger)
