"""Results of importing chunks: rejected records, changed values, and name occurrences."""

from sqlalchemy import BigInteger, Integer, String
from sqlalchemy.dialects.mysql import BLOB
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base


class ImportRejections(Base):
    """A reason why a record was not imported, and the record's byte range in the source version."""

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
    """A change to an imported value, with the original as bytes if it is at most 1 KB.

    For a longer original, the row has the record's byte range in the source version instead.
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


class ImportNameOccurrences(Base):
    """A spelling of a custodian's or tag's name, and the lowest line of a chunk that has it.

    Each chunk writes only its own rows, so that a name on every row does not serialize the chunks. The last chunk reads
    all of them and sets every name to the spelling of its lowest line, whatever the order of the chunks.
    """

    __tablename__ = "import_name_occurrences"

    import_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    chunk_no: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(String(500))
    line_no: Mapped[int] = mapped_column(BigInteger)
    column_name: Mapped[str | None] = mapped_column(String(255))
