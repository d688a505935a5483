"""Tenants, with their statuses and limits, and the names of users."""

from datetime import datetime

from sqlalchemy import BigInteger, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class Tenants(Base):
    """A tenant of the deployment: its status and its limits.

    Whatever writes for the tenant, or starts work of it, reads the row with a shared lock; chunks never do.
    """

    __tablename__ = "tenants"

    tenant_id: Mapped[str] = mapped_column(String(64), primary_key=True, comment="The tenant, the claim of its tokens")
    status: Mapped[str] = mapped_column(
        String(16),
        server_default="active",
        comment="active, read_only, suspended or leaving (read-only, while it moves)",
    )
    limits: Mapped[str | None] = mapped_column(
        Text, comment="The limits that are the tenant's own, as JSON; NULL for those of the deployment"
    )
    epoch: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Incremented by each change of the status"
    )
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the tenant was created (UTC)"
    )
    changed_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When its status or its limits were last changed (UTC)"
    )
    reason: Mapped[str | None] = mapped_column(
        String(255), comment="Why the status is what it is, for the tenant's users; NULL if no reason was given"
    )


class Users(Base):
    """The name of a user, as the user's tokens had it last.

    Tokens identify users by ids that people cannot read.
    """

    __tablename__ = "users"

    tenant_id: Mapped[str] = mapped_column(String(64), primary_key=True, comment="The tenant of the user")
    user_id: Mapped[str] = mapped_column(String(255), primary_key=True, comment="The user, the claim sub of the token")
    name: Mapped[str] = mapped_column(String(255), comment="The name, from the claim that the deployment names")
    seen_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When a token first had this name (UTC)"
    )
