"""Ranges of Bates numbers that documents were delivered under."""

from sqlalchemy import BigInteger, Index, Integer, SmallInteger, String
from sqlalchemy.dialects.mysql import VARBINARY
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base


class ProductionNumbers(Base):
    """A range of Bates numbers under which a document was delivered, besides that of its own fields.

    A claim: several documents, and several sources of one document, can state a number. One row for each range of a
    source row, which the undo of its import removes. The range that the fields `bates_begin` and `bates_end` of the
    exhibit have needs no row here.
    """

    __tablename__ = "production_numbers"
    __table_args__ = (
        Index("ix_production_numbers_range", "case_id", "prefix", "level", "first_number", "last_number"),
        Index("ix_production_numbers_begin", "case_id", "bates_begin"),
        Index("ix_production_numbers_import", "import_id", "line_no"),
        Index("ix_production_numbers_production", "production_id"),
    )

    exhibit_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The exhibit, exhibits.id"
    )
    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import that states it, imports.id; 0: none"
    )
    production_id: Mapped[int] = mapped_column(
        BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="The production that assigned it, productions.id; 0: none, and if both are 0 a user stated it",
    )
    seq: Mapped[int] = mapped_column(
        Integer,
        primary_key=True,
        autoincrement=False,
        comment="0 for the Bates columns of a row, from 1 for its others; of a replaced range: minus its version",
    )
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    line_no: Mapped[int] = mapped_column(BigInteger, comment="The line of the import's file; 0 without an import")
    prefix: Mapped[bytes] = mapped_column(
        VARBINARY(1020), comment="What comes before the number, in UTF-8; all of a text that is not a number"
    )
    level: Mapped[int | None] = mapped_column(
        SmallInteger, comment="The logarithm to base 2 of the count of numbers, rounded up; NULL if it is not a number"
    )
    first_number: Mapped[int | None] = mapped_column(BigInteger, comment="The first number, without prefix")
    last_number: Mapped[int | None] = mapped_column(BigInteger, comment="The last number, without prefix")
    bates_begin: Mapped[str] = mapped_column(String(255), comment="The first Bates number as stated")
    bates_end: Mapped[str | None] = mapped_column(String(255), comment="The last Bates number as stated; NULL if not")
    label: Mapped[str | None] = mapped_column(
        String(255), comment="The volume or producing party as the file states it; NULL if it does not"
    )
