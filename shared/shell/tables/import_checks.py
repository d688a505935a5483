"""Results of checking a load file before it is imported. Nothing here belongs to the case."""

from datetime import datetime

from sqlalchemy import BigInteger, Integer, SmallInteger, String
from sqlalchemy.dialects.mysql import MEDIUMBLOB, MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base, Timestamp


class ImportChecks(Base):
    """The check of a load file: the state of the case when it began, and what an import would do.

    The counts are 0 and `findings` is NULL until the check is finished.
    """

    __tablename__ = "import_checks"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    generation: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="The generation of the import in which the check was finished"
    )
    attempt: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Attempts to end the check that have begun"
    )
    finished_attempt: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="The attempt that ended it, whose findings count; 0 before"
    )
    exhibits_before: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Exhibits of the case when the check began"
    )
    last_exhibit_before: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="The highest exhibits.id of the case when the check began"
    )
    changes_before: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Changes in the history of the case when the check began"
    )
    would_update: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Rows that would change an exhibit"
    )
    updates: Mapped[str | None] = mapped_column(
        MEDIUMTEXT,
        comment="Rows by changed column and examples of old and new values, as JSON; NULL until finished",
    )
    would_import: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Rows that would become a new exhibit"
    )
    unchanged: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Rows that the case already holds with the same values"
    )
    would_reject: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Rows that would not be imported")
    warnings: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Warnings that the import would have")
    new_custodians: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Custodians that the import would create"
    )
    new_tags: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Tags that the import would create")
    findings: Mapped[str | None] = mapped_column(
        MEDIUMTEXT, comment="Code, severity, count, first line and message of each code, as JSON; NULL until finished"
    )
    report_written: Mapped[int] = mapped_column(
        SmallInteger, server_default="0", comment="1 once the CSV file of the findings is written"
    )
    deficiencies_generation: Mapped[int] = mapped_column(
        Integer,
        server_default="0",
        comment="The generation whose reports have a list for the producing party; 0 for none",
    )
    finished_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When the check was finished (UTC); NULL before"
    )


class ImportCheckFindings(Base):
    """A finding of a check: why a row would be rejected, a value that would be changed, or what to look at.

    Chunks number the findings of a line from 0. Those of the end of the check are numbered by its attempt, and count if
    that attempt ended it.
    """

    __tablename__ = "import_check_findings"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    code: Mapped[str] = mapped_column(
        String(32), primary_key=True, comment="The code of the finding; docs/load-files.md lists all"
    )
    line_no: Mapped[int] = mapped_column(
        BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="The line of the record in the file, from 1; 0 for the whole file",
    )
    seq: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="Distinguishes several findings about one line"
    )
    row_count: Mapped[int] = mapped_column(
        Integer, server_default="1", comment="Records that it covers; more than 1 only for a chunk that failed"
    )
    column_name: Mapped[str | None] = mapped_column(
        String(255), comment="The column, as the header names it; NULL if it is about no single column"
    )
    message: Mapped[str] = mapped_column(String(1024), comment="What was found and what to do about it")
    control_number: Mapped[str | None] = mapped_column(
        String(255), comment="The id of the record, where it could be read"
    )


class ImportCheckFacts(Base):
    """What the end of a check needs of the rows and names of a chunk; deleted when the check is finished."""

    __tablename__ = "import_check_facts"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    chunk_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The chunk, import_chunks.chunk_no"
    )
    part: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="Numbers the parts of the facts, from 0"
    )
    facts: Mapped[bytes] = mapped_column(MEDIUMBLOB, comment="Up to a million bytes of the facts, compressed")
