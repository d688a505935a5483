"""Devices, their custody periods, and the history of each period."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp
from shell.tables.custodians_tags import Custodians


class Devices(Base):
    """An evidence device, identified by the tenant's own number; writers of its periods lock this row.

    Every change to one of its periods increments `version`. Periods have no foreign key to it: each INSERT would take a
    shared lock on the row, and two writers that then increment its version would deadlock.
    """

    __tablename__ = "devices"
    __table_args__ = (UniqueConstraint("tenant_id", "number", name="uq_devices_number"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(64))
    number: Mapped[int] = mapped_column(BigInteger)
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class CustodyPeriods(Base):
    """A period [begin_at, end_at) in which a custodian held a device; an end in the year 9999 means that it still does.

    Guaranteed: no two periods of a device overlap. The overlap index finds a device's first period that ends after a
    given begin.
    """

    __tablename__ = "custody_periods"
    __table_args__ = (
        CheckConstraint("begin_at < end_at", name="ck_custody_periods_order"),
        Index("ix_custody_periods_overlap", "device_id", "end_at", "begin_at"),
        Index("ix_custody_periods_custodian", "custodian_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    device_id: Mapped[int] = mapped_column(BigInteger)
    begin_at: Mapped[datetime] = mapped_column(Timestamp)
    end_at: Mapped[datetime] = mapped_column(Timestamp)
    custodian_id: Mapped[int | None] = mapped_column(ForeignKey(Custodians.id))
    note: Mapped[str | None] = mapped_column(String(1000))
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class CustodyChanges(Base):
    """A period as one change left it, and the user who made the change; rows are inserted and never updated."""

    __tablename__ = "custody_changes"
    __table_args__ = (
        UniqueConstraint("period_id", "version", name="uq_custody_changes_version"),
        Index("ix_custody_changes_device", "device_id", "id"),
        Index("ix_custody_changes_custodian", "custodian_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    period_id: Mapped[int] = mapped_column(BigInteger)
    version: Mapped[int] = mapped_column(Integer)
    action: Mapped[str] = mapped_column(String(16))
    user_id: Mapped[str] = mapped_column(String(255))
    changed_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW)
    device_id: Mapped[int] = mapped_column(BigInteger)
    begin_at: Mapped[datetime] = mapped_column(Timestamp)
    end_at: Mapped[datetime] = mapped_column(Timestamp)
    custodian_id: Mapped[int | None] = mapped_column(BigInteger)
    note: Mapped[str | None] = mapped_column(String(1000))
