"""The history of exhibits."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, String
from sqlalchemy.dialects.mysql import MEDIUMBLOB
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class ExhibitChanges(Base):
    """A change of an exhibit after its creation; rows are inserted and never updated.

    `exhibits.version` is 1 and the number of these rows. None is deleted, also with its exhibit: a row does not
    mean that the exhibit exists. There is no foreign key to the exhibit: its writers hold its
    lock, and each insert would take a shared lock on it again.
    """

    __tablename__ = "exhibit_changes"
    __table_args__ = (Index("ix_exhibit_changes_import", "import_id", "line_no"),)

    exhibit_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The exhibit, exhibits.id"
    )
    version: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The version of the exhibit after the change, from 2"
    )
    created_at_gmt: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the change was made, by the database's clock (UTC)"
    )
    action: Mapped[str] = mapped_column(
        String(16), comment="edited, custodians_added, tagged, untagged, overlaid or undone"
    )
    user_id: Mapped[str] = mapped_column(String(255), comment="The user who made the change")
    import_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The import that made or undid the change, imports.id; NULL if a request made it"
    )
    line_no: Mapped[int | None] = mapped_column(
        BigInteger, comment="The line of the import's file that changed the exhibit; NULL if no line did"
    )
    undo_no: Mapped[int | None] = mapped_column(
        Integer, comment="Which undo of the import made the change, from 1; NULL if no undo did"
    )
    changes: Mapped[bytes] = mapped_column(
        MEDIUMBLOB,
        comment="Old and new values by field, property, custodian and tag: JSON, or compressed JSON if longer",
    )
    stated: Mapped[bytes | None] = mapped_column(
        MEDIUMBLOB,
        comment="Names of what the line states and found equal, in the form of changes; NULL if that is not recorded",
    )
    tagging_job_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The job that made the change, tagging_jobs.id; NULL if none did"
    )
