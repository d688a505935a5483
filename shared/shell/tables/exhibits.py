"""Exhibits: the documents of a case."""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base, Timestamp


class Exhibits(Base):
    """A document of a case with the values of its load file record; its control number is unique within the case.

    `import_id`, `line_no` and `line_count` locate the record. `row_hash` is NULL once a client has changed the row.
    """

    __tablename__ = "exhibits"
    __table_args__ = (UniqueConstraint("case_id", "control_number", name="uq_exhibits_control_number"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    case_id: Mapped[int] = mapped_column(BigInteger)
    control_number: Mapped[str] = mapped_column(String(255))
    bates_begin: Mapped[str | None] = mapped_column(String(255))
    bates_end: Mapped[str | None] = mapped_column(String(255))
    parent_control_number: Mapped[str | None] = mapped_column(String(255))
    title: Mapped[str | None] = mapped_column(String(1024))
    file_name: Mapped[str | None] = mapped_column(String(1024))
    document_date: Mapped[datetime | None] = mapped_column(Timestamp)
    native_path: Mapped[str | None] = mapped_column(String(1024))
    text_path: Mapped[str | None] = mapped_column(String(1024))
    document_properties: Mapped[str | None] = mapped_column(Text)
    row_hash: Mapped[bytes | None] = mapped_column(BINARY(32))
    import_id: Mapped[int] = mapped_column(BigInteger)
    line_no: Mapped[int] = mapped_column(BigInteger)
    line_count: Mapped[int] = mapped_column(Integer, server_default="1")
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form
