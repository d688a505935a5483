"""Exhibits, who held them, and how they are tagged."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BINARY,
    BigInteger,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from shell.tables.base import NOW, Base, Moment


class Exhibits(Base):
    """A document of a case, with what its load file said of it."""

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
    document_date: Mapped[datetime | None] = mapped_column(Moment)
    native_path: Mapped[str | None] = mapped_column(String(1024))
    text_path: Mapped[str | None] = mapped_column(String(1024))
    document_properties: Mapped[str | None] = mapped_column(Text)
    row_hash: Mapped[bytes | None] = mapped_column(BINARY(32))
    import_id: Mapped[int] = mapped_column(BigInteger)
    line_no: Mapped[int] = mapped_column(BigInteger)
    line_count: Mapped[int] = mapped_column(Integer, server_default="1")
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class _Name:
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    case_id: Mapped[int] = mapped_column(BigInteger)
    import_id: Mapped[int | None] = mapped_column(BigInteger)
    line_no: Mapped[int | None] = mapped_column(BigInteger)
    created_at_gmt: Mapped[datetime] = mapped_column(Moment, server_default=NOW)
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    @declared_attr.directive
    def __mapper_args__(cls) -> dict[str, Any]:
        return {"version_id_col": cls.version}


class Custodians(_Name, Base):
    """Somebody who held documents; names that the database collates equal are one."""

    __tablename__ = "custodians"
    __table_args__ = (
        UniqueConstraint("case_id", "name", name="uq_custodians_name"),
        Index("ix_custodians_import", "import_id"),
    )

    name: Mapped[str] = mapped_column(String(255))


class Tags(_Name, Base):
    r"""A coding choice; a nested one is named by its full path, `Hot\Really Hot`."""

    __tablename__ = "tags"
    __table_args__ = (UniqueConstraint("case_id", "name", name="uq_tags_name"), Index("ix_tags_import", "import_id"))

    name: Mapped[str] = mapped_column(String(500))


class CustodianExhibits(Base):
    """A custodian held an exhibit."""

    __tablename__ = "custodian_exhibits"
    __table_args__ = (Index("ix_custodian_exhibits_custodian", "custodian_id"),)

    exhibit_id: Mapped[int] = mapped_column(ForeignKey("exhibits.id"), primary_key=True, autoincrement=False)
    custodian_id: Mapped[int] = mapped_column(ForeignKey("custodians.id"), primary_key=True, autoincrement=False)
    user_id: Mapped[str] = mapped_column(String(255))


class Taggings(Base):
    """An exhibit carries a tag."""

    __tablename__ = "taggings"
    __table_args__ = (Index("ix_taggings_tag", "tag_id"),)

    exhibit_id: Mapped[int] = mapped_column(ForeignKey("exhibits.id"), primary_key=True, autoincrement=False)
    tag_id: Mapped[int] = mapped_column(ForeignKey("tags.id"), primary_key=True, autoincrement=False)
    user_id: Mapped[str] = mapped_column(String(255))
