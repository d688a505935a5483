"""Results of importing chunks: rejected records, changed values, and name occurrences."""

from sqlalchemy import BigInteger, Index, Integer, String
from sqlalchemy.dialects.mysql import BLOB, MEDIUMTEXT, VARBINARY
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base


class ImportRejections(Base):
    """A reason why a record was not imported, and where it is in the uploaded file."""

    __tablename__ = "import_rejections"
    __table_args__ = (Index("ix_import_rejections_code", "import_id", "code", "line_no", "seq"),)

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    line_no: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The line of the record in the file, from 1"
    )
    seq: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="Distinguishes several reasons for one line"
    )
    chunk_no: Mapped[int] = mapped_column(Integer, comment="The chunk of the record, import_chunks.chunk_no")
    row_count: Mapped[int] = mapped_column(
        Integer,
        server_default="1",
        comment="Records that the rejection covers; more than 1 only for a chunk that failed (CHUNK_FAILED)",
    )
    column_name: Mapped[str | None] = mapped_column(
        String(255),
        comment="The column with the fault, as the header names it; NULL if the fault is in no single column",
    )
    code: Mapped[str] = mapped_column(
        String(64), comment="The reason, such as MISSING_ID; docs/load-files.md lists all"
    )
    message: Mapped[str] = mapped_column(String(1024), comment="What is wrong and what to do about it")
    control_number: Mapped[str | None] = mapped_column(
        String(255), comment="The id of the record, where it could be read"
    )
    byte_start: Mapped[int] = mapped_column(BigInteger, comment="The first byte of the record in the file, from 0")
    byte_len: Mapped[int] = mapped_column(BigInteger, comment="The length of the record in bytes")
    original_line: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="The line of the record in the file that was first imported, if this file is an error file; else NULL",
    )


class ImportWarnings(Base):
    """A change to an imported value, with the original as bytes if it is at most 1 KB.

    For a longer original, the row has the record's byte range in the source version instead.
    """

    __tablename__ = "import_warnings"
    __table_args__ = (Index("ix_import_warnings_code", "import_id", "code", "line_no", "seq"),)

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    line_no: Mapped[int] = mapped_column(
        BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="The line of the record in the file, from 1; 0 for the whole file",
    )
    seq: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="Distinguishes several warnings about one line"
    )
    chunk_no: Mapped[int] = mapped_column(Integer, comment="The chunk of the record; 0 for the whole file")
    column_name: Mapped[str | None] = mapped_column(
        String(255),
        comment="The column of the value, as the header names it; NULL if the warning is about no single column",
    )
    code: Mapped[str] = mapped_column(
        String(64), comment="The kind of change, such as VALUE_TRUNCATED; docs/load-files.md lists all"
    )
    message: Mapped[str] = mapped_column(String(1024), comment="What was changed and why")
    control_number: Mapped[str | None] = mapped_column(String(255), comment="The id of the record")
    original: Mapped[bytes | None] = mapped_column(
        BLOB, comment="The original value as bytes, up to 1 KB; NULL if it is longer or there is none"
    )
    original_bytes: Mapped[int | None] = mapped_column(BigInteger, comment="The length of the original value in bytes")
    stored_bytes: Mapped[int | None] = mapped_column(BigInteger, comment="The length of the stored value in bytes")
    byte_start: Mapped[int | None] = mapped_column(
        BigInteger, comment="The first byte of the record in the file, where the original is not stored here"
    )
    byte_len: Mapped[int | None] = mapped_column(BigInteger, comment="The length of that record in bytes")
    stored: Mapped[bytes | None] = mapped_column(
        BLOB, comment="The stored value in UTF-8, up to 1 KB; NULL if it is longer or not known"
    )


class ImportCodes(Base):
    """How many rejections or warnings of one code and column a chunk has.

    A chunk inserts its rows with its rejections and warnings, and changes no other's. Completed imports with many
    chunks have their sums as well.
    """

    __tablename__ = "import_codes"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    chunk_no: Mapped[int] = mapped_column(
        Integer,
        primary_key=True,
        autoincrement=False,
        comment="import_chunks.chunk_no; 0: the whole file; below: 10,000 lines; 2147483647: sums of folded chunks",
    )
    kind: Mapped[str] = mapped_column(
        String(16, collation="ascii_bin"), primary_key=True, comment="rejection or warning"
    )
    code: Mapped[str] = mapped_column(
        String(64, collation="ascii_bin"), primary_key=True, comment="The code of the rejections or warnings"
    )
    column_name: Mapped[bytes] = mapped_column(
        VARBINARY(1020),
        primary_key=True,
        comment="Their column as the header names it, in UTF-8; empty: no single column",
    )
    errors: Mapped[int] = mapped_column(BigInteger, comment="How many they are")
    row_count: Mapped[int] = mapped_column(BigInteger, comment="The rows that they are about")
    first_line: Mapped[int] = mapped_column(BigInteger, comment="The first line that has one")
    message: Mapped[str] = mapped_column(String(1024), comment="The message of the first")


class ImportColumnFacts(Base):
    """What the columns of a chunk amount to: whether a value had an effect, with samples of those without.

    Each chunk writes its own row, once. The completion of the import reads all of them.
    """

    __tablename__ = "import_column_facts"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    chunk_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The chunk, import_chunks.chunk_no"
    )
    facts: Mapped[str] = mapped_column(
        MEDIUMTEXT, comment="By the number of the column, from 0, as JSON; columns without values are left out"
    )


class ImportNameOccurrences(Base):
    """A spelling of a custodian's or tag's name, and the lowest line of a chunk that has it.

    Each chunk writes only its own rows, so that a name on every row does not serialize the chunks. The completion of
    the import reads all of them and sets every name to the spelling of its lowest line, whatever the order of the
    chunks.
    """

    __tablename__ = "import_name_occurrences"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    chunk_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The chunk, import_chunks.chunk_no"
    )
    seq: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="Numbers the occurrences of the chunk"
    )
    kind: Mapped[str] = mapped_column(String(16), comment="custodians or tags")
    name: Mapped[str] = mapped_column(String(500), comment="The name as that line spells it")
    line_no: Mapped[int] = mapped_column(BigInteger, comment="The lowest line of the chunk with that spelling")
    column_name: Mapped[str | None] = mapped_column(
        String(255), comment="The column of the name, as the header names it"
    )
