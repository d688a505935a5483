"""Links from exhibits to their custodians and tags."""

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits


class CustodianExhibits(Base):
    """A link from an exhibit to one of its custodians; a pair occurs once."""

    __tablename__ = "custodian_exhibits"
    __table_args__ = (Index("ix_custodian_exhibits_custodian", "custodian_id"),)

    exhibit_id: Mapped[int] = mapped_column(
        ForeignKey(Exhibits.id), primary_key=True, autoincrement=False, comment="The exhibit, exhibits.id"
    )
    custodian_id: Mapped[int] = mapped_column(
        ForeignKey(Custodians.id), primary_key=True, autoincrement=False, comment="The custodian, custodians.id"
    )
    user_id: Mapped[str] = mapped_column(String(255), comment="The user who made the link")


class Taggings(Base):
    """A link from an exhibit to one of its tags; a pair occurs once."""

    __tablename__ = "taggings"
    __table_args__ = (Index("ix_taggings_tag", "tag_id"),)

    exhibit_id: Mapped[int] = mapped_column(
        ForeignKey(Exhibits.id), primary_key=True, autoincrement=False, comment="The exhibit, exhibits.id"
    )
    tag_id: Mapped[int] = mapped_column(
        ForeignKey(Tags.id), primary_key=True, autoincrement=False, comment="The tag, tags.id"
    )
    user_id: Mapped[str] = mapped_column(String(255), comment="The user who made the link")
