"""Names of users."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


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
