"""Devices, who held them from when to when, and every change of that."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Moment
from shell.tables.names import Custodians


class Devices(Base):
    """An evidence device, by the tenant's own number of it: the row on which writers of its periods meet.

    Every change of one of its periods raises `version`. No period refers to it by a foreign key: each INSERT would
    share a lock on the row, and two writers who then raise its version would deadlock.
    """

    __tablename__ = "devices"
    __table_args__ = (UniqueConstraint("tenant_id", "number", name="uq_devices_number"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(64))
    number: Mapped[int] = mapped_column(BigInteger)
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class CustodyPeriods(Base):
    """A custodian held a device from `begin_at` until just before `end_at`; in the year 9999: still holds it.

    The index serves the search for overlaps: from the first end behind the begin of what is wanted.
    """

    __tablename__ = "custody_periods"
    __table_args__ = (
        CheckConstraint("begin_at < end_at", name="ck_custody_periods_order"),
        Index("ix_custody_periods_overlap", "device_id", "end_at", "begin_at"),
        Index("ix_custody_periods_custodian", "custodian_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    device_id: Mapped[int] = mapped_column(BigInteger)
    begin_at: Mapped[datetime] = mapped_column(Moment)
    end_at: Mapped[datetime] = mapped_column(Moment)
    custodian_id: Mapped[int | None] = mapped_column(ForeignKey(Custodians.id))
    note: Mapped[str | None] = mapped_column(String(1000))
    version: Mapped[int] = mapped_column(Integer, server_default="1")

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class CustodyChanges(Base):
    """A period as one change left it, and who made the change; rows are added and never changed."""

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
    changed_at: Mapped[datetime] = mapped_column(Moment, server_default=NOW)
    device_id: Mapped[int] = mapped_column(BigInteger)
    begin_at: Mapped[datetime] = mapped_column(Moment)
    end_at: Mapped[datetime] = mapped_column(Moment)
    custodian_id: Mapped[int | None] = mapped_column(BigInteger)
    note: Mapped[str | None] = mapped_column(String(1000))
