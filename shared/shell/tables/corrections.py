"""What happened to the rejected rows of imports since: corrected by another import, or discarded."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class ImportCorrections(Base):
    """A claim of one rejected row: by an import that corrects it, or by a user who leaves it out.

    A pending claim is open again once its import does not run any more; the next claim of the line replaces it.
    """

    __tablename__ = "import_corrections"
    __table_args__ = (
        Index("ix_import_corrections_by", "correcting_import_id", "correcting_line"),
        Index("ix_import_corrections_status", "import_id", "status"),
    )

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import that rejected the row, imports.id"
    )
    line_no: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The line of the row, import_rejections.line_no"
    )
    status: Mapped[str] = mapped_column(
        String(16),
        comment="pending (its import runs, or ended without the row), accepted (the case has the row) or discarded",
    )
    correcting_import_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The import that has the corrected row, imports.id; NULL if it was discarded"
    )
    correcting_line: Mapped[int | None] = mapped_column(
        BigInteger, comment="The line of the corrected row in that import; NULL if it was discarded"
    )
    user_id: Mapped[str] = mapped_column(String(255), comment="The user who corrected or discarded it")
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When it was corrected or discarded (UTC)"
    )
