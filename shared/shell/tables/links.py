"""Who held exhibits, and how they are tagged."""

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base
from shell.tables.exhibits import Exhibits
from shell.tables.names import Custodians, Tags


class CustodianExhibits(Base):
    """A custodian held an exhibit."""

    __tablename__ = "custodian_exhibits"
    __table_args__ = (Index("ix_custodian_exhibits_custodian", "custodian_id"),)

    exhibit_id: Mapped[int] = mapped_column(ForeignKey(Exhibits.id), primary_key=True, autoincrement=False)
    custodian_id: Mapped[int] = mapped_column(ForeignKey(Custodians.id), primary_key=True, autoincrement=False)
    user_id: Mapped[str] = mapped_column(String(255))


class Taggings(Base):
    """An exhibit carries a tag."""

    __tablename__ = "taggings"
    __table_args__ = (Index("ix_taggings_tag", "tag_id"),)

    exhibit_id: Mapped[int] = mapped_column(ForeignKey(Exhibits.id), primary_key=True, autoincrement=False)
    tag_id: Mapped[int] = mapped_column(ForeignKey(Tags.id), primary_key=True, autoincrement=False)
    user_id: Mapped[str] = mapped_column(String(255))
