"""Productions: the request, the volume and the status of each, and their saga steps."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, SmallInteger, String
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class Productions(Base):
    """A set of exhibits that is produced as one volume; `selection` and `properties` are the request's JSON.

    While `is_open`, an execution runs, or should. `execution_arn` is that of the latest, and `resumptions` counts the
    automatic restarts since the last request by a client.
    """

    __tablename__ = "productions"
    __table_args__ = (
        Index("ix_productions_case", "tenant_id", "case_id", "id"),
        Index("ix_productions_tenant", "tenant_id"),
        Index("ix_productions_open", "is_open", "updated_at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(64))
    case_id: Mapped[int] = mapped_column(BigInteger)
    user_id: Mapped[str] = mapped_column(String(255))
    volume: Mapped[str] = mapped_column(String(64))
    prefix: Mapped[str] = mapped_column(String(64))
    digits: Mapped[int] = mapped_column(SmallInteger)
    start_at: Mapped[int | None] = mapped_column(BigInteger)
    numbering: Mapped[str] = mapped_column(String(16))
    selection: Mapped[str] = mapped_column(MEDIUMTEXT)
    properties: Mapped[str] = mapped_column(MEDIUMTEXT)
    status: Mapped[str] = mapped_column(String(16))
    is_open: Mapped[int] = mapped_column(SmallInteger, server_default="1")
    cancel_requested: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    generation: Mapped[int] = mapped_column(Integer, server_default="1")
    resumptions: Mapped[int] = mapped_column(Integer, server_default="0")
    execution_arn: Mapped[str | None] = mapped_column(String(1024))
    failed_step: Mapped[str | None] = mapped_column(String(32))
    reason: Mapped[str | None] = mapped_column(String(1000))
    documents: Mapped[int | None] = mapped_column(Integer)
    sequence_id: Mapped[int | None] = mapped_column(BigInteger)
    first_number: Mapped[int | None] = mapped_column(BigInteger)
    last_number: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW)
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class ProductionSteps(Base):
    """The status of a production's saga step; `reason` is why it, or its compensation, failed."""

    __tablename__ = "production_steps"

    production_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger)
    status: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str | None] = mapped_column(String(1000))
    updated_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW)
