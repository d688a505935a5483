"""Mapping profiles: how load files of one kind are read."""

from datetime import datetime

from sqlalchemy import BINARY, BigInteger, Index, Integer, String, UniqueConstraint
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class ImportProfiles(Base):
    """A named set of options and columns for load files; an import that uses it keeps a copy.

    Earlier versions are not kept: every import has what it used.
    """

    __tablename__ = "import_profiles"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name", name="uq_import_profiles_name"),
        Index("ix_import_profiles_header", "tenant_id", "header_fingerprint"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="The number of the profile in the API")
    tenant_id: Mapped[str] = mapped_column(String(64), comment="The tenant that owns the profile")
    name: Mapped[str] = mapped_column(String(255), comment="The name, unique within the tenant")
    options: Mapped[str] = mapped_column(MEDIUMTEXT, comment="The options and columns, as JSON")
    header_fingerprint: Mapped[bytes | None] = mapped_column(
        BINARY(32), comment="SHA-256 of the delimiter and header that the profile is suggested for; NULL for none"
    )
    created_by: Mapped[str] = mapped_column(String(255), comment="The user who created the profile")
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the profile was created (UTC)"
    )
    updated_by: Mapped[str] = mapped_column(String(255), comment="The user who changed the profile last")
    updated_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the profile was changed last (UTC)"
    )
    version: Mapped[int] = mapped_column(
        Integer,
        server_default="1",
        comment="Incremented by every change; a client's change of an older version is refused",
    )

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form
