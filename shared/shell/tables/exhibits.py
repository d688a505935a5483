"""Exhibits: the documents of a case."""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, MappedColumn, mapped_column

from core.exhibit_fields import MAX_TEXT, TEXTS, get_text_field
from shell.tables.base import Base, Timestamp


def _build_text(name: str) -> MappedColumn[str | None]:
    return mapped_column(String(MAX_TEXT), comment=get_text_field(name).description)


class Exhibits(Base):
    """A document of a case, as in its load file; its control number is unique within the case.

    Texts that no code knows by name are added below. `import_id`, `line_no` and `line_count` locate the record.
    `row_hash` is NULL once a client has changed the row.
    """

    __tablename__ = "exhibits"
    __table_args__ = (
        UniqueConstraint("case_id", "control_number", name="uq_exhibits_control_number"),
        Index("ix_exhibits_import", "import_id", "line_no"),
        Index("ix_exhibits_parent", "case_id", "parent_control_number"),
        Index("ix_exhibits_bates", "case_id", "bates_begin"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    control_number: Mapped[str] = mapped_column(
        String(255), comment="The id of the document, as in the load file but without spaces around it"
    )
    bates_begin: Mapped[str | None] = mapped_column(
        String(255), comment="The first Bates number that the load file states"
    )
    bates_end: Mapped[str | None] = mapped_column(
        String(255), comment="The last Bates number that the load file states"
    )
    parent_control_number: Mapped[str | None] = mapped_column(
        String(255), comment="The control number of the document that this one is attached to; NULL if none"
    )
    title: Mapped[str | None] = _build_text("title")
    file_name: Mapped[str | None] = _build_text("file_name")
    document_date: Mapped[datetime | None] = mapped_column(
        Timestamp,
        comment="The date and time as written, in UTC if the text has an offset; NULL if it is not a date",
    )
    native_path: Mapped[str | None] = _build_text("native_path")
    text_path: Mapped[str | None] = _build_text("text_path")
    document_properties: Mapped[str | None] = mapped_column(
        Text,
        comment="Other columns of the load file, and the text of dates, custodians and tags, as JSON by column name",
    )
    date_sent: Mapped[datetime | None] = mapped_column(Timestamp, comment="When it was sent, like document_date")
    date_received: Mapped[datetime | None] = mapped_column(Timestamp, comment="When it was received")
    date_created: Mapped[datetime | None] = mapped_column(Timestamp, comment="When the file was created")
    date_modified: Mapped[datetime | None] = mapped_column(Timestamp, comment="When the file was last modified")
    document_date_source: Mapped[str | None] = mapped_column(
        String(13), comment="The column that document_date was taken from; NULL if it is a date of its own"
    )
    date_precision: Mapped[str | None] = mapped_column(
        String(5),
        comment="The precision of each date, a letter for each: document, sent, received, created, modified",
    )
    row_hash: Mapped[bytes | None] = mapped_column(
        BINARY(32), comment="SHA-256 of the imported values; NULL once a client has changed the exhibit"
    )
    page_set_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The pages of the document, page_sets.id; NULL if it has no images"
    )
    text_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The text that cells of a load file have, texts.id; NULL if none has"
    )
    import_id: Mapped[int] = mapped_column(BigInteger, comment="The import that created the exhibit, imports.id")
    line_no: Mapped[int] = mapped_column(BigInteger, comment="The first line of the record in the load file, from 1")
    line_count: Mapped[int] = mapped_column(Integer, server_default="1", comment="How many lines the record has")
    version: Mapped[int] = mapped_column(
        Integer,
        server_default="1",
        comment="Incremented by every change; a client's change of an older version is refused",
    )

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


for _name in TEXTS:
    if not hasattr(Exhibits, _name):
        setattr(Exhibits, _name, _build_text(_name))
