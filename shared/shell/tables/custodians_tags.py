"""Custodians and tags of a case, identified by their names."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class _Name:
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    import_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The import that created the row, imports.id; NULL if a request did"
    )
    line_no: Mapped[int | None] = mapped_column(
        BigInteger,
        comment="The first line that has the name, spelled as on that line; NULL if a request created the row",
    )
    created_at_gmt: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the row was created (UTC)"
    )
    version: Mapped[int] = mapped_column(
        Integer,
        server_default="1",
        comment="Incremented by every change; a client's change of an older version is refused",
    )

    @declared_attr.directive
    def __mapper_args__(cls) -> dict[str, Any]:
        return {"version_id_col": cls.version}


class Custodians(_Name, Base):
    """A person, organization or place that documents were collected from or that holds a device."""

    __tablename__ = "custodians"
    __table_args__ = (
        UniqueConstraint("case_id", "name", name="uq_custodians_name"),
        Index("ix_custodians_import", "import_id"),
    )

    name: Mapped[str] = mapped_column(
        String(255), comment="The name; unique within the case, ignoring case and accents"
    )


class Tags(_Name, Base):
    r"""A coding choice of a case; names that differ only in case or accents are one tag.

    The name of a nested tag is its full path, `Hot\Really Hot`.
    """

    __tablename__ = "tags"
    __table_args__ = (UniqueConstraint("case_id", "name", name="uq_tags_name"), Index("ix_tags_import", "import_id"))

    name: Mapped[str] = mapped_column(
        String(500),
        comment="The name, a full path for a nested tag; unique within the case, ignoring case and accents",
    )
