"""Custodians and tags of a case, identified by their names."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class _Name:
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    case_id: Mapped[int] = mapped_column(BigInteger)
    import_id: Mapped[int | None] = mapped_column(BigInteger)
    line_no: Mapped[int | None] = mapped_column(BigInteger)
    created_at_gmt: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW)
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    @declared_attr.directive
    def __mapper_args__(cls) -> dict[str, Any]:
        return {"version_id_col": cls.version}


class Custodians(_Name, Base):
    """A person or organization that held documents; names that the database collates as equal are one custodian."""

    __tablename__ = "custodians"
    __table_args__ = (
        UniqueConstraint("case_id", "name", name="uq_custodians_name"),
        Index("ix_custodians_import", "import_id"),
    )

    name: Mapped[str] = mapped_column(String(255))


class Tags(_Name, Base):
    r"""A coding choice; the name of a nested tag is its full path, `Hot\Really Hot`. Equal names are one."""

    __tablename__ = "tags"
    __table_args__ = (UniqueConstraint("case_id", "name", name="uq_tags_name"), Index("ix_tags_import", "import_id"))

    name: Mapped[str] = mapped_column(String(500))
