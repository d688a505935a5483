"""Cases, which own imports, exhibits and custodians."""

from datetime import datetime

from sqlalchemy import BigInteger, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class Cases(Base):
    """A legal matter of one tenant; its name is unique within the tenant."""

    __tablename__ = "cases"
    __table_args__ = (UniqueConstraint("tenant_id", "name", name="uq_cases_tenant_name"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the case")
    name: Mapped[str] = mapped_column(String(255), comment="The name of the case, unique within the tenant")
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the case was created (UTC)"
    )
