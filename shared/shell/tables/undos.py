"""Undoing imports: each undo, its parts, what it kept, and the documents that it removed."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, Integer, SmallInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import NOW, Base, Timestamp


class ImportUndos(Base):
    """An undo of an import, or a dry run of one; an import that kept something can be undone again.

    `parts_left` counts the parts that are neither done nor failed. The counts are 0 until the undo has ended.
    """

    __tablename__ = "import_undos"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    undo_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The number of the undo of this import, from 1"
    )
    status: Mapped[str] = mapped_column(
        String(32),
        comment="requested, running, or an end: undone, undone_with_conflicts, undo_failed, cancelled or superseded",
    )
    dry_run: Mapped[int] = mapped_column(SmallInteger, comment="1 if it only finds out what an undo would do")
    user_id: Mapped[str] = mapped_column(String(255), comment="The user who requested the undo")
    status_before: Mapped[str] = mapped_column(String(32), comment="The status of the import before the undo")
    generation: Mapped[int] = mapped_column(
        Integer, server_default="1", comment="1, and one more for each retry; dead letters of earlier ones are ignored"
    )
    parts: Mapped[int] = mapped_column(Integer, server_default="0", comment="Parts of the undo, one for each chunk")
    parts_left: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Parts that are neither done nor failed; at 0 the undo ends"
    )
    restored: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Documents of which values or links were restored"
    )
    removed: Mapped[int] = mapped_column(BigInteger, server_default="0", comment="Documents that were removed")
    kept: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Documents that were kept, or of which a value or link was"
    )
    links_restored: Mapped[int] = mapped_column(
        BigInteger, server_default="0", comment="Links to custodians and tags that were made again"
    )
    report_written: Mapped[int] = mapped_column(
        SmallInteger, server_default="0", comment="1 once the CSV file of what was kept is written"
    )
    created_at: Mapped[datetime] = mapped_column(
        Timestamp, server_default=NOW, comment="When the undo was requested (UTC)"
    )
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp, comment="When it ended (UTC); NULL before")


class ImportUndoParts(Base):
    """What an undo does for one chunk of the import, in one transaction."""

    __tablename__ = "import_undo_parts"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    undo_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The undo, import_undos.undo_no"
    )
    chunk_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The chunk, import_chunks.chunk_no"
    )
    first_line: Mapped[int] = mapped_column(BigInteger, comment="The first line of the chunk")
    last_line: Mapped[int] = mapped_column(BigInteger, comment="The last line of the chunk")
    status: Mapped[str] = mapped_column(
        String(16), server_default="pending", comment="pending, done (committed) or failed (in every attempt)"
    )
    restored: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Documents of which values or links were restored"
    )
    removed: Mapped[int] = mapped_column(Integer, server_default="0", comment="Documents that were removed")
    kept: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Documents that were kept, or of which a value or link was"
    )
    links_restored: Mapped[int] = mapped_column(
        Integer, server_default="0", comment="Links to custodians and tags that were made again"
    )
    finished_at: Mapped[datetime | None] = mapped_column(
        Timestamp, comment="When it was done or failed (UTC); NULL while it is pending"
    )


class ImportUndoKept(Base):
    """A document that an undo kept, or a value or link of one, and why."""

    __tablename__ = "import_undo_kept"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    undo_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The undo, import_undos.undo_no"
    )
    line_no: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The line of the import's file"
    )
    seq: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="Distinguishes several reasons of one line, from 0"
    )
    exhibit_id: Mapped[int] = mapped_column(BigInteger, comment="The exhibit, exhibits.id")
    control_number: Mapped[str] = mapped_column(String(255), comment="The control number of the document")
    code: Mapped[str] = mapped_column(
        String(32), comment="Why it was kept, as a code; docs/correcting-a-load.md lists all"
    )
    kind: Mapped[str | None] = mapped_column(
        String(16), comment="fields, properties, custodians or tags; NULL for the whole document"
    )
    name: Mapped[str | None] = mapped_column(
        String(1024), comment="The field, property, custodian or tag; NULL for the whole document"
    )
    by_user: Mapped[str | None] = mapped_column(
        String(255), comment="The user whose change is the reason; NULL if none is"
    )
    by_import: Mapped[int | None] = mapped_column(
        BigInteger, comment="The import whose change is the reason, imports.id; NULL if none is"
    )
    by_production: Mapped[int | None] = mapped_column(
        BigInteger, comment="The production that has the document, productions.id; NULL if none is the reason"
    )
    by_document: Mapped[str | None] = mapped_column(
        String(255), comment="The control number of an attachment that stays; NULL if none is the reason"
    )


class ImportUndoOthers(Base):
    """What other imports have to do with the documents that a part of an undo removed, restored or left."""

    __tablename__ = "import_undo_others"

    import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The import, imports.id"
    )
    undo_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The undo, import_undos.undo_no"
    )
    chunk_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The part, import_undo_parts.chunk_no"
    )
    kind: Mapped[str] = mapped_column(
        String(16),
        primary_key=True,
        comment="states a value that stays, unchanged (rows found documents so) or unrecorded (what its rows state)",
    )
    other_import_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The other import, imports.id"
    )
    documents: Mapped[int] = mapped_column(Integer, comment="Documents of the part")


class ExhibitTombstones(Base):
    """A document that an undo removed."""

    __tablename__ = "exhibit_tombstones"
    __table_args__ = (Index("ix_exhibit_tombstones_case", "case_id", "control_number"),)

    exhibit_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The former exhibits.id"
    )
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    control_number: Mapped[str] = mapped_column(String(255), comment="The control number that the document had")
    version: Mapped[int] = mapped_column(Integer, comment="The last version of the document")
    import_id: Mapped[int] = mapped_column(BigInteger, comment="The import that created it, and was undone")
    line_no: Mapped[int] = mapped_column(BigInteger, comment="The line of the import's file")
    undo_no: Mapped[int] = mapped_column(Integer, comment="The undo that removed it, import_undos.undo_no")
    removed_at: Mapped[datetime] = mapped_column(Timestamp, server_default=NOW, comment="When it was removed (UTC)")
