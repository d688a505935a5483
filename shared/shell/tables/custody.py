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

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the device")
    number: Mapped[int] = mapped_column(BigInteger, comment="The tenant's own number of the device")
    version: Mapped[int] = mapped_column(
        Integer, server_default="1", comment="Incremented by every change of the device's custody periods"
    )
    # Searched as people type; the rest of the table is compared byte for byte.
    label: Mapped[str | None] = mapped_column(
        String(255, collation="utf8mb4_unicode_ci"), comment="What the tenant calls the device; NULL: nothing"
    )

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class CustodyPeriods(Base):
    """A period in which a custodian held a device; an end in the year 9999 means that it still does.

    The period is [begin_at, end_at). Guaranteed: no two periods of a device overlap. The overlap index finds a device's
    first period that ends after a given begin.
    """

    __tablename__ = "custody_periods"
    __table_args__ = (
        CheckConstraint("begin_at < end_at", name="ck_custody_periods_order"),
        Index("ix_custody_periods_overlap", "device_id", "end_at", "begin_at"),
        Index("ix_custody_periods_custodian", "custodian_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    device_id: Mapped[int] = mapped_column(BigInteger, comment="The device, devices.id")
    begin_at: Mapped[datetime] = mapped_column(Timestamp, comment="The beginning of the period (UTC), included")
    end_at: Mapped[datetime] = mapped_column(
        Timestamp, comment="The end of the period (UTC), excluded; in the year 9999 while the device is still held"
    )
    custodian_id: Mapped[int | None] = mapped_column(
        ForeignKey(Custodians.id), comment="The custodian who holds the device, custodians.id; NULL if none is named"
    )
    note: Mapped[str | None] = mapped_column(String(1000), comment="The client's note")
    version: Mapped[int] = mapped_column(
        Integer,
        server_default="1",
        comment="Incremented by every change; a client's change of an older version is refused",
    )

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class CustodyChanges(Base):
    """A period as one change left it, and the user who made the change; rows are inserted and never updated."""

    __tablename__ = "custody_changes"
    __table_args__ = (
        UniqueConstraint("period_id", "version", name="uq_custody_changes_version"),
        Index("ix_custody_changes_device", "device_id", "id"),
        Index("ix_custody_changes_custodian", "custodian_id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    period_id: Mapped[int] = mapped_column(
        BigInteger, comment="The period, custody_periods.id, which may have been removed since"
    )
    version: Mapped[int] = mapped_column(Integer, comment="The version of the period after the change")
    action: Mapped[str] = mapped_column(String(16), comment="added, changed or removed")
    user_id: Mapped[str] = mapped_column(String(255), comment="The user who made the change")
    changed_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the change was made, by the database's clock (UTC)"
    )
    device_id: Mapped[int] = mapped_column(BigInteger, comment="The device, devices.id")
    begin_at: Mapped[datetime] = mapped_column(
        Timestamp, comment="The beginning of the period (UTC) after the change, or before its removal"
    )
    end_at: Mapped[datetime] = mapped_column(
        Timestamp, comment="The end of the period (UTC) after the change, or before its removal"
    )
    custodian_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The custodian after the change, or before the removal, custodians.id"
    )
    note: Mapped[str | None] = mapped_column(String(1000), comment="The note after the change, or before the removal")
