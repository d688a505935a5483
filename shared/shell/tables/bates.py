"""Bates sequences, and the Bates numbers of produced documents."""

from sqlalchemy import BigInteger, Index, Integer, SmallInteger, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base


class BatesSequences(Base):
    """A Bates prefix of a case and its next number; prefixes that differ only in letter case are the same.

    Guaranteed: one row for each prefix of a case. Every allocation increments the version: while it is 1, no number has
    been allocated and the prefix's spelling may still change.
    """

    __tablename__ = "bates_sequences"
    __table_args__ = (UniqueConstraint("case_id", "prefix", name="uq_bates_sequences_prefix"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    prefix: Mapped[str] = mapped_column(
        String(64, collation="ascii_general_ci"),
        comment="The Bates prefix, such as SMITH; compared case-insensitively",
    )
    digits: Mapped[int] = mapped_column(SmallInteger, comment="How many digits the numbers of the prefix have")
    next_number: Mapped[int] = mapped_column(BigInteger, server_default="1", comment="The next number to assign")
    version: Mapped[int] = mapped_column(
        Integer, server_default="1", comment="1 until a number was assigned; incremented by every assignment"
    )

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form

    @property
    def is_unused(self) -> bool:
        """Whether no number has been allocated yet."""
        return self.version == 1


class ProductionDocuments(Base):
    """An exhibit's Bates numbers in a production and its position in the volume.

    The numbers are reserved, then produced or void. Guaranteed: a Bates number, a volume position and a production's
    exhibit each occur once. A void row is kept, so its numbers are never allocated again. `files` is a JSON object of
    the exhibit's files by kind at the time of allocation: a path, {"file": volume_files.id}, or the path and version of
    an image whose pages were counted. The copied files and the volume's load files use it, and the page set.
    An exhibit with a row that is not void is never removed.
    """

    __tablename__ = "production_documents"
    __table_args__ = (
        UniqueConstraint("destination_id", "position", name="uq_production_documents_position"),
        UniqueConstraint("sequence_id", "first_number", name="uq_production_documents_number"),
        UniqueConstraint("production_id", "exhibit_id", name="uq_production_documents_exhibit"),
        Index("ix_production_documents_exhibit", "exhibit_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    production_id: Mapped[int] = mapped_column(BigInteger, comment="The production, productions.id")
    exhibit_id: Mapped[int] = mapped_column(BigInteger, comment="The exhibit, exhibits.id")
    destination_id: Mapped[int] = mapped_column(BigInteger, comment="The volume, insert_destinations.id")
    position: Mapped[int] = mapped_column(BigInteger, comment="The position of the document in the volume, from 0")
    sequence_id: Mapped[int] = mapped_column(BigInteger, comment="The Bates sequence, bates_sequences.id")
    first_number: Mapped[int] = mapped_column(BigInteger, comment="The document's first Bates number, without prefix")
    last_number: Mapped[int] = mapped_column(BigInteger, comment="The document's last Bates number, without prefix")
    files: Mapped[str] = mapped_column(
        Text, comment="The paths of the exhibit's files by kind when the numbers were reserved, as JSON"
    )
    status: Mapped[str] = mapped_column(String(16), comment="reserved, produced, or void (never used again)")
    control_number: Mapped[str | None] = mapped_column(
        String(255), comment="The control number of the exhibit; NULL in rows of earlier versions, whose exhibit has it"
    )
    page_set_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The pages that are produced, page_sets.id; NULL for a document that has none"
    )
    page_count: Mapped[int | None] = mapped_column(
        Integer, comment="Pages with a number of their own, counted in the images; NULL where none were counted"
    )
    parent_control_number: Mapped[str | None] = mapped_column(
        String(255),
        comment="The parent when the numbers were reserved, blank for none; NULL in rows of earlier versions",
    )
