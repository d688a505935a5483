"""Texts: what the cells of load files hold of the text of documents, in objects of the bucket."""

from sqlalchemy import BINARY, BigInteger, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base


class Texts(Base):
    """The text of a document as the cells of one row have it: a range of bytes of one version of an object.

    Inserted once and never changed. `exhibits.text_id` says which one a document has now, and its history which ones it
    had. The object has the texts of other rows, too: no client may read it as a whole.
    """

    __tablename__ = "texts"
    __table_args__ = (UniqueConstraint("import_id", "line_no", name="uq_texts_line"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    import_id: Mapped[int] = mapped_column(BigInteger, comment="The import of the load file, imports.id")
    line_no: Mapped[int] = mapped_column(BigInteger, comment="The first line of the record in the load file, from 1")
    object_key: Mapped[str] = mapped_column(
        String(1024), comment="The key of the object in the bucket, which has the texts of other rows, too"
    )
    version_id: Mapped[str | None] = mapped_column(
        String(1024), comment="The version of the object; NULL if the bucket has none"
    )
    byte_start: Mapped[int] = mapped_column(BigInteger, comment="Where the text begins in the object, from 0")
    byte_len: Mapped[int] = mapped_column(BigInteger, comment="How many bytes of UTF-8 it has")
    sha256: Mapped[bytes] = mapped_column(BINARY(32), comment="SHA-256 of these bytes")
