"""Models of what an import of an image load file found of pages."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from core.contracts.common import ResponseModel


class PageCounts(ResponseModel):
    """What the chunks of an image load file had of pages, as far as they are done; the rows are its documents."""

    lines_seen: int = Field(description="The lines of pages.")
    imported: int = Field(description="The pages that documents got, or would get.")
    rejected: int = Field(description="The lines of documents that were rejected.")
    documents: int = Field(description="The documents that have the pages of the file.")
    missing_images: int = Field(description="The pages of these documents whose image the volume lacks.")
    declared: int = Field(description="The pages that these documents declare; documents without a count have none.")
    listed: int = Field(description="The pages that these documents have by their lines.")
    in_files: int | None = Field(
        description="The pages in the image files of these documents, as far as they could be counted; null without "
        "the option verifyImages."
    )
    unreadable_images: int | None = Field(
        description="IMAGE_UNREADABLE: the pages of these documents whose image could not be opened; null without the "
        "option verifyImages."
    )
    without_images: int | None = Field(
        description="NO_IMAGES: documents of the volume's data file that have no pages; null until the import or check "
        "has ended, and without a data file."
    )


class ComparedImport(ResponseModel):
    """An import of the same volume whose file was compared, in the generation that it had then."""

    import_id: int
    generation: int


class PageReconciliation(ResponseModel):
    """The comparison of an image load file's pages with the ranges and page counts of its data file."""

    is_current: bool = Field(
        description="Whether all imports that were compared are as they were: completed, and in the same generation. "
        "After a retry of the data file the pages are compared again by themselves."
    )
    generation: int = Field(description="The generation of this import that was compared.")
    compared: list[ComparedImport] = Field(
        description="The data files, and the image load files imported before for the same data file; without any, "
        "only the page keys were looked at."
    )
    findings: int = Field(
        description="PAGES_MISSING, PAGE_OF_OTHER_DOCUMENT, PAGE_KEY_GAP and PAGE_COUNT_DIFFERS, which are warnings."
    )
    finished_at: datetime
