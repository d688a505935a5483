"""Activities: what users and the application did."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class Activities(Base):
    """Something that a user or the application did to an object; rows are inserted and never updated.

    A row commits with the change that it describes. There is no foreign key: each INSERT would take a shared lock on a
    case that many requests use at once, and a row outlives its object. Rows commit in another order than that of `id`
    and `at`: no reader may look for "later than the last one I saw".
    """

    __tablename__ = "activities"
    __table_args__ = (
        Index("ix_activities_tenant", "tenant_id", "at"),
        Index("ix_activities_case", "tenant_id", "case_id", "at"),
        Index("ix_activities_user", "tenant_id", "user_id", "at"),
        Index("ix_activities_action", "tenant_id", "action", "at"),
        Index("ix_activities_object", "tenant_id", "object_type", "object_id", "at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant to which the object belongs")
    case_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The case, cases.id; NULL for what belongs to the whole tenant"
    )
    at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When it was done, by the database's clock (UTC)"
    )
    user_id: Mapped[str | None] = mapped_column(
        String(255), comment="The user who did it; NULL for the application, without a request"
    )
    action: Mapped[str] = mapped_column(String(64), comment="What was done, such as import.run")
    object_type: Mapped[str] = mapped_column(String(32), comment="The type of the object, such as import")
    object_id: Mapped[int] = mapped_column(
        BigInteger, comment="The id of the object; of a device, the tenant's own number"
    )
    summary: Mapped[str] = mapped_column(Text, comment="Ids, counts and codes, as JSON; never content of documents")
