"""Bates numbers: the next one of each sequence, and those that were given to documents."""

from sqlalchemy import BigInteger, Index, Integer, SmallInteger, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base


class BatesSequences(Base):
    """The next Bates number of a prefix within a case; prefixes that differ by case alone are one.

    Whoever gives numbers out raises the version: while it is 1 none was, and how the prefix is written is still open.
    """

    __tablename__ = "bates_sequences"
    __table_args__ = (UniqueConstraint("case_id", "prefix", name="uq_bates_sequences_prefix"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    case_id: Mapped[int] = mapped_column(BigInteger)
    prefix: Mapped[str] = mapped_column(String(64, collation="ascii_general_ci"))
    digits: Mapped[int] = mapped_column(SmallInteger)
    next_number: Mapped[int] = mapped_column(BigInteger, server_default="1")
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form

    @property
    def is_unused(self) -> bool:
        """Whether no number was ever given out."""
        return self.version == 1


class ProductionDocuments(Base):
    """An exhibit's Bates numbers in a production, and its place in the volume: reserved, then produced or void.

    `files` are the paths that its load file gave, by kind, as a JSON object: as they were when the numbers were given
    out, so that what is copied and what the volume's load file says of it are the same.

    Void rows stay: their numbers were given out once and are never given out again.
    """

    __tablename__ = "production_documents"
    __table_args__ = (
        UniqueConstraint("destination_id", "position", name="uq_production_documents_position"),
        UniqueConstraint("sequence_id", "first_number", name="uq_production_documents_number"),
        UniqueConstraint("production_id", "exhibit_id", name="uq_production_documents_exhibit"),
        Index("ix_production_documents_exhibit", "exhibit_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    production_id: Mapped[int] = mapped_column(BigInteger)
    exhibit_id: Mapped[int] = mapped_column(BigInteger)
    destination_id: Mapped[int] = mapped_column(BigInteger)
    position: Mapped[int] = mapped_column(BigInteger)
    sequence_id: Mapped[int] = mapped_column(BigInteger)
    first_number: Mapped[int] = mapped_column(BigInteger)
    last_number: Mapped[int] = mapped_column(BigInteger)
    files: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(16))
