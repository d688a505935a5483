"""What load files state about the families of documents."""

from sqlalchemy import BINARY, BigInteger, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base


class FamilyStatements(Base):
    """A statement of a row about the family of its document; the parent is found from it when it is read.

    Rows are inserted, with the exhibit, the change of an overlay or the request in one transaction, and deleted with
    what made them: by the undo of their import, or with their exhibit. None is updated. Of the statements of a kind
    about an exhibit the one with the highest id counts, none before one of the kind parent; the ids of those about one
    exhibit are in the order of its changes, because its writers hold its lock. A row that has a parent of its own, or
    names its own control number, has none.
    """

    __tablename__ = "family_statements"
    __table_args__ = (
        Index("ix_family_statements_exhibit", "exhibit_id"),
        Index("ix_family_statements_key", "case_id", "key_hash", "kind", "import_id", "line_no"),
        Index("ix_family_statements_import", "import_id", "line_no"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    exhibit_id: Mapped[int] = mapped_column(BigInteger, comment="The exhibit whose row states it, exhibits.id")
    kind: Mapped[str] = mapped_column(
        String(16), comment="begin, range, group, members, or parent: parent_control_number was set or emptied"
    )
    key_text: Mapped[str | None] = mapped_column(
        String(255),
        comment="The document or group as stated, its first 255 characters; NULL if a blank cell withdraws it",
    )
    key_hash: Mapped[bytes | None] = mapped_column(BINARY(32), comment="SHA-256 of the whole key; NULL without one")
    import_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The import whose file states it, imports.id; NULL if a request did"
    )
    line_no: Mapped[int | None] = mapped_column(BigInteger, comment="The line in that file; NULL if a request did")
