"""Models of the list of exhibits, and of the list of an exhibit's files."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.contracts.common import NextCursor, ResponseModel, with_fields
from core.contracts.exhibits import PARENT, VERSION, DocumentDate
from core.exhibit_fields import LISTED_TEXTS


@with_fields(dict.fromkeys(LISTED_TEXTS, (str | None, ...)))
class ExhibitSummary(ResponseModel):
    """An exhibit in a list."""

    id: int
    control_number: str
    bates_begin: str | None
    bates_end: str | None
    parent_control_number: str | None = Field(description=PARENT)
    title: str | None
    file_name: str | None
    document_date: DocumentDate | None
    import_id: int = Field(description="The import that created the exhibit.")
    has_native: bool = Field(description="As the filter `hasNative`.")
    has_text: bool = Field(description="As the filter `hasText`.")
    page_count: int = Field(description="How many pages `GET /exhibits/{exhibitId}/pages` lists; 0: no images.")
    custodians: list[str] | None = Field(default=None, description="Their names, by name; null unless included.")
    tags: list[str] | None = Field(default=None, description="Their names, by name; null unless included.")
    version: int = Field(description=VERSION)


class ExhibitPage(ResponseModel):
    """A page of exhibits, in the byte order of their control numbers, or in reverse.

    With filters, each page searches a part of the case: one with `next` may have fewer items than `limit`, or none.
    """

    items: list[ExhibitSummary]
    next: NextCursor
    prev: str | None = Field(
        default=None,
        description="The cursor of the page before; send it as `before`. null on the first page. With "
        "`from` and filters, that page may be empty.",
    )
    searched: int | None = Field(
        default=None,
        description="Of a page that may be short because its search ended: in about how many exhibits it searched. "
        "null for others.",
    )
    total: int | None = Field(
        default=None, description="How many exhibits match the filters, on all pages; null unless `count` is true."
    )
    total_is_lower_bound: bool = Field(
        default=False,
        description="Whether more may match than `total`: with filters, a part of a large case is counted, and 100,000 "
        "exhibits at most.",
    )


class ExhibitKeyList(ResponseModel):
    """Control numbers at equal distances in the list of exhibits, which say where in it a page begins."""

    items: list[str] = Field(
        description="The control number of the first exhibit of the list, or from `from` on, and of every `every`-th "
        "after it. With the cursor of a response, those that follow it. With filters, a response with "
        "`next` may be empty."
    )
    next: NextCursor


FileKind = Literal["native", "text", "image", "page"]
FileState = Literal["stored", "missing", "path_only"]


class ExhibitFile(ResponseModel):
    """A file of an exhibit, and where it can be downloaded from."""

    kind: FileKind = Field(
        description="`native` or `text`; `image`: the file of a page; `page`: a page of a file that has several."
    )
    page: int | None = Field(description="The number of the page within the exhibit, from 1; null for other kinds.")
    page_in_file: int | None = Field(description="For the kind `page`: the page within the file, from 1.")
    path: str | None = Field(
        description="The path within its volume; without a file, the path as the load file has it; null for a text in "
        "cells."
    )
    volume_id: int | None = Field(description="The volume that has the file, or lacks it; null without a volume.")
    size: int | None = Field(description="The size in bytes; null if there is no file.")
    sha256: str | None = Field(description="SHA-256 of the file, in hexadecimal digits; null if it is not known.")
    media_type: str | None = Field(
        description="The type with which the URL responds, by the extension of the path. Types that a browser shows "
        "without running anything are shown; all others, HTML and SVG among them, are downloaded as "
        "`application/octet-stream`."
    )
    state: FileState = Field(
        description="`stored`: the file or text is there; `missing`: its volume lacks it, or was deleted; `path_only`: "
        "the path was loaded without a volume, and whether the bucket has a file of it shows when the URL is used."
    )
    url: str | None = Field(
        description="The URL to get the file from; null for a missing file, for a path that leads out of the case's "
        "files, and for a text in cells, which `GET /exhibits/{exhibitId}/text` returns."
    )
    expires_in_seconds: int | None = Field(description="How long the URL is valid; null without one.")


class ExhibitFileList(ResponseModel):
    """A page of the files of an exhibit: native, text, then the images by page."""

    items: list[ExhibitFile]
    next: NextCursor
