"""Models of productions. Times are UTC."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from core.contracts.common import (
    Name,
    NextCursor,
    PrevCursor,
    ProductionFinding,
    RequestModel,
    ResponseModel,
    RowId,
    Total,
    UserName,
    UtcTimestamp,
)
from core.contracts.exhibit_queries import ExhibitSelection
from core.exhibit_dates import DATE_FIELDS
from core.load_file.field_mapping import find_field, is_last_choice
from core.load_file.header_names import FAMILY_PROPERTIES, TIME_FIELDS, normalise_name
from core.productions.bates import MAX_DIGITS, MAX_PREFIX, PREFIX, Numbering
from core.productions.volume import HEADER, TEXT_COLUMNS
from core.saga import SagaStepStatus
from core.statuses import DocumentStatus, ProductionStatus

MAX_EXHIBITS_BY_ID, MAX_PROPERTIES = 10_000, 200
VOLUME = r"^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$"
_RESERVED = frozenset(map(normalise_name, HEADER))


def _require_property(name: str) -> str:
    field = find_field(name)
    fine = (None, *DATE_FIELDS, *TIME_FIELDS.values(), *TEXT_COLUMNS, *FAMILY_PROPERTIES)
    # Each production has a column of every field of which a name can be the last choice.
    if field not in fine and not is_last_choice(name):
        # As an id, it would replace the Bates number.
        raise ValueError(f"a reader would map a column of this name to {field}; omit it")
    if normalise_name(name) in _RESERVED:
        raise ValueError("every production has a column of this name; omit it")
    return name


PropertyName = Annotated[Name, AfterValidator(_require_property)]


class NewProduction(RequestModel):
    """A production to create: the exhibits, by `exhibitIds`, `controlNumbers` or `query`, and their Bates numbers."""

    case: Name = Field(description="The name of the case.")
    volume: str = Field(
        max_length=64, pattern=VOLUME, description="The name of the volume; several productions may share one."
    )
    prefix: str = Field(
        max_length=MAX_PREFIX,
        pattern=PREFIX,
        description="The prefix of the Bates numbers; it must not end in a digit.",
    )
    digits: int = Field(
        ge=1,
        le=MAX_DIGITS,
        description="The number of digits after the prefix; the same for all productions of a case with this prefix.",
    )
    start_at: int | None = Field(
        default=None,
        ge=1,
        le=10**MAX_DIGITS - 1,
        description="The first number, if the case does not use the prefix yet.",
    )
    numbering: Numbering = Field(
        default=Numbering.DOCUMENT,
        strict=False,
        description="One number for each document, or for each page: pages of images are counted in the images, and a "
        "document without them has the page count of its load file.",
    )
    slip_sheets: bool = Field(
        default=False,
        description="Whether a document without images gets one number and a slip sheet, which bears it. Requires "
        "`numbering` `page`.",
    )
    exhibit_ids: Annotated[list[RowId], Field(min_length=1, max_length=MAX_EXHIBITS_BY_ID)] | None = Field(
        default=None, description="The exhibits to produce."
    )
    control_numbers: Annotated[list[Name], Field(min_length=1, max_length=MAX_EXHIBITS_BY_ID)] | None = Field(
        default=None, description="The exhibits to produce, by their control numbers, compared byte for byte."
    )
    include_families: bool = Field(
        default=False, description="Whether all members of the families of these exhibits are produced too."
    )
    query: ExhibitSelection | None = Field(
        default=None,
        description="The exhibits to produce, evaluated when the numbers are reserved; {} selects the whole case.",
    )
    properties: list[PropertyName] = Field(
        default_factory=list,
        max_length=MAX_PROPERTIES,
        description="The names of additional columns of the original load file to include. Tags are never included.",
    )

    @model_validator(mode="after")
    def _selects_in_one_way(self) -> Self:
        if sum(each is not None for each in (self.exhibit_ids, self.control_numbers, self.query)) != 1:
            raise ValueError("send one of exhibitIds, controlNumbers and query")
        if self.slip_sheets and self.numbering is not Numbering.PAGE:
            raise ValueError("slipSheets: send it with numbering page")
        if len(set(map(normalise_name, self.properties))) < len(self.properties):
            raise ValueError("properties: a name is repeated; names are compared without case, spaces and punctuation")
        return self


class ProductionCheck(ResponseModel):
    """What a production would be if it were requested now; other productions may change its numbers."""

    documents: int
    families: int = Field(description="Families of which two or more members are produced.")
    with_pages: int = Field(description="Documents that have pages of an image load file.")
    files: int = Field(description="Natives, texts and images of the volume, without those whose pages are uncounted.")
    numbers: int | None = Field(description="How many numbers it needs; null if pages remain to be counted.")
    expected_numbers: int = Field(
        description="How many numbers it needs if images that remain to be counted have the pages that are listed."
    )
    first_bates: str | None
    last_bates: str | None
    expected_last_bates: str | None = Field(
        description="The last of the expected numbers; null if the digits do not suffice."
    )
    findings: list[ProductionFinding]
    uncounted_images: int = Field(description="Documents whose images are counted when the numbers are reserved.")
    unchecked_files: int = Field(
        description="Files that were not looked up in the bucket: there are too many, or time was up."
    )


class ProductionStep(ResponseModel):
    """A step of a production."""

    name: str = Field(description="`begin`, `reserve`, `copy`, `confirm` or `notify`.")
    status: SagaStepStatus
    reason: str | None = Field(description="The reason why the step or its compensation failed.")
    done: int | None = Field(description="How many documents `copy` has copied; null for the other steps.")
    total: int | None = Field(
        description="How many documents `copy` has to copy; null for the other steps, and before it begins."
    )
    updated_at: UtcTimestamp


class Production(ResponseModel):
    """A set of exhibits that is delivered under Bates numbers as one volume."""

    id: int
    case_id: int
    case: str
    volume: str
    prefix: str
    digits: int
    numbering: Numbering
    slip_sheets: bool
    status: ProductionStatus
    cancel_requested: bool = Field(description="Whether the production is cancelled before its next step.")
    failed_step: str | None
    reason: str | None = Field(
        description="The reason of the failure, and what to do. It names documents by their control numbers."
    )
    documents: int | None = Field(description="The number of documents; null until their numbers are reserved.")
    first_bates: str | None
    last_bates: str | None
    folder: str = Field(description="The prefix of the volume in the bucket; complete once `status` is `confirmed`.")
    warnings: list[ProductionFinding] = Field(description="What was noticed before the numbers were reserved.")
    manifest_sha256: str | None = Field(description="SHA-256 of `MANIFEST.csv`; null until it is written.")
    steps: list[ProductionStep]
    remaining_actions: list[str] = Field(description="What an operator must do if `status` is `needs_attention`.")
    created_by: str = Field(description="The user who requested the production.")
    created_by_name: UserName
    created_at: UtcTimestamp
    updated_at: UtcTimestamp


class ProductionSummary(ResponseModel):
    """A production in a list."""

    id: int
    case_id: int
    case: str
    volume: str
    status: ProductionStatus
    documents: int | None = Field(description="The number of documents; null until their numbers are reserved.")
    first_bates: str | None
    last_bates: str | None
    created_by: str = Field(description="The user who requested the production.")
    created_by_name: UserName
    created_at: UtcTimestamp


class ProductionPage(ResponseModel):
    """A page of productions, newest first."""

    items: list[ProductionSummary]
    next: NextCursor
    prev: PrevCursor
    total: Total = None


class ProducedFile(ResponseModel):
    """A file of a production's volume."""

    path: str = Field(description="The path within the volume.")
    size: int = Field(description="The size in bytes.")
    sha256: str = Field(description="SHA-256 of the file.")
    url: str = Field(description="GET downloads the file, under the last part of its path.")


class ProducedFilePage(ResponseModel):
    """A page of the files of a volume: manifest and load files, then the files of the documents in their order."""

    items: list[ProducedFile]
    expires_in_seconds: int = Field(description="How long the URLs are valid.")
    next: NextCursor


class BatesRange(ResponseModel):
    """Consecutive Bates numbers."""

    first: str
    last: str


class BatesPrefix(ResponseModel):
    """A prefix of a case's productions."""

    prefix: str
    digits: int = Field(description="The number of digits after the prefix.")
    next_number: int = Field(description="The number that the next production begins with, unless one is under way.")
    next_bates: str | None = Field(description="The next number as it is printed; null if the digits are used up.")
    void_ranges: list[BatesRange] = Field(
        description="Numbers of cancelled productions, in their order: they are never given again."
    )


class BatesPrefixPage(ResponseModel):
    """A page of prefixes, in their order."""

    items: list[BatesPrefix]
    next: NextCursor


class ProducedDocument(ResponseModel):
    """A document of a production."""

    position: int = Field(description="The document's position in the volume, from 0.")
    exhibit_id: int
    control_number: str
    bates_begin: str
    bates_end: str
    pages: int | None = Field(description="The pages of its images; null if they were not counted.")
    status: DocumentStatus


class ProducedDocumentPage(ResponseModel):
    """A page of a production's documents, in the order of their Bates numbers."""

    items: list[ProducedDocument]
    next: NextCursor
    prev: PrevCursor
