"""Links from exhibits to their custodians and tags, and the jobs that tag all which match filters."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String, Text
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp
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


class TaggingJobs(Base):
    """A job that tags the exhibits of a case which match filters.

    Each step locks this row first. `import_id` and `line_no` are how far it is: exhibits are reached in the order of
    the imports that created them, and of their lines.
    """

    __tablename__ = "tagging_jobs"
    __table_args__ = (
        Index("ix_tagging_jobs_case", "tenant_id", "case_id", "id"),
        Index("ix_tagging_jobs_tenant", "tenant_id"),
        Index("ix_tagging_jobs_operations", "tenant_id", "status", "finished_at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="The number of the job")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the case")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    user_id: Mapped[str] = mapped_column(
        String(255), comment="The user who requested the job; its changes are those of this user"
    )
    request: Mapped[str] = mapped_column(
        MEDIUMTEXT, comment="The filters (query) and the names of tags (add, remove), as JSON"
    )
    highest_id: Mapped[int] = mapped_column(
        BigInteger, comment="The highest exhibits.id at the request; exhibits above it are not tagged"
    )
    expected: Mapped[int | None] = mapped_column(
        BigInteger, comment="How many exhibits matched at the request; NULL if that was not counted"
    )
    status: Mapped[str] = mapped_column(
        String(16), server_default="running", comment="running, counting, completed, cancelled or failed"
    )
    turn: Mapped[int] = mapped_column(
        Integer, server_default="1", comment="Which message has the work; one of another turn has no effect"
    )
    import_id: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="The import whose exhibits are reached now, imports.id; 0 at the begin"
    )
    line_no: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="The last line of that import that was reached"
    )
    tagged: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Exhibits that matched under their locks"
    )
    created: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Taggings created")
    removed: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Taggings removed")
    remaining: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Exhibits, counted last, that matched and did not have the tags"
    )
    imports_beside: Mapped[str | None] = mapped_column(
        Text, comment="Imports that wrote or were undone while they were counted, as JSON; NULL before"
    )
    counting_at: Mapped[datetime | None] = mapped_column(Timestamp, comment="When counting began (UTC)")
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW, comment="When it was requested (UTC)")
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp, comment="When it ended (UTC)")
