"""Pages: the images of a document, page by page."""

from sqlalchemy import BINARY, BigInteger, Integer, SmallInteger, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shell.tables.base import Base


class PageSets(Base):
    """The pages of a document in one image load file; inserted once and never changed.

    `exhibits.page_set_id` says which one a document has now, and its history which ones it had.
    """

    __tablename__ = "page_sets"
    __table_args__ = (UniqueConstraint("import_id", "line_no", name="uq_page_sets_line"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, comment="Internal number; do not cite it")
    case_id: Mapped[int] = mapped_column(BigInteger, comment="The case, cases.id")
    import_id: Mapped[int] = mapped_column(BigInteger, comment="The import of the image load file, imports.id")
    line_no: Mapped[int] = mapped_column(BigInteger, comment="The line of that file that begins the document, from 1")
    volume_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The volume that has the images, volumes.id; NULL if they are not in a volume"
    )
    page_count: Mapped[int] = mapped_column(Integer, comment="How many pages it has")
    declared_count: Mapped[int | None] = mapped_column(
        Integer, comment="How many pages the image load file declares; NULL if it does not"
    )
    content_hash: Mapped[bytes] = mapped_column(
        BINARY(32), comment="SHA-256 of the pages: equal sets of one volume have equal hashes"
    )


class Pages(Base):
    """A page of a page set: an image file, or a page of one."""

    __tablename__ = "pages"

    page_set_id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, comment="The page set, page_sets.id"
    )
    page_no: Mapped[int] = mapped_column(
        Integer, primary_key=True, autoincrement=False, comment="The number of the page within the document, from 1"
    )
    image_key: Mapped[str] = mapped_column(String(255), comment="The image key, which is often the page's Bates number")
    file_id: Mapped[int | None] = mapped_column(
        BigInteger, comment="The file, volume_files.id; NULL if the volume lacks it or there is no volume"
    )
    path: Mapped[str | None] = mapped_column(
        String(1024), comment="The path as the image load file has it; NULL if the file is known"
    )
    page_in_file: Mapped[int] = mapped_column(
        Integer, comment="The page within the file, from 1; 0 if the file is this page"
    )
    rotation: Mapped[int] = mapped_column(SmallInteger, comment="How far it is turned clockwise, in degrees")
