"""Productions as the API takes and gives them; times UTC."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from core.bates import MAX_DIGITS, MAX_PREFIX, PREFIX, Numbering
from core.contracts.common import Given, Name, Next, RowId, TagName, Taken, UtcMoment
from core.field_mapping import SYNONYMS, normalised
from core.saga import SagaStepStatus
from core.statuses import DocumentStatus, ProductionStatus
from core.volume import HEADER

MAX_EXHIBITS_BY_ID, MAX_PROPERTIES = 10_000, 200
VOLUME = r"^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$"
# A reader takes a column of such a name for the field: as an id it would stand in for the Bates number.
_FIELDS = {synonym: field for field, names in SYNONYMS.items() if field != "document_date" for synonym in names}
_OURS = frozenset(map(normalised, HEADER))


def _is_a_property(name: str) -> str:
    if normalised(name) in _FIELDS:
        raise ValueError(f"a column of this name would be read as {_FIELDS[normalised(name)]}")
    if normalised(name) in _OURS:
        raise ValueError("every production has a column of this name already")
    return name


PropertyName = Annotated[Name, AfterValidator(_is_a_property)]


class ExhibitSelection(Taken):
    """Exhibits of the case by what they are linked to; both conditions must hold, and none means all of the case."""

    custodian: str | None = Field(default=None, min_length=1, max_length=255, description="Those that this one held.")
    tag: TagName | None = Field(default=None, description="Those that carry this tag.")


class NewProduction(Taken):
    """What is to be handed over, under which numbers: either `exhibitIds` or a `query`."""

    case: Name
    volume: str = Field(max_length=64, pattern=VOLUME, description="The volume; several productions may share one.")
    prefix: str = Field(
        max_length=MAX_PREFIX, pattern=PREFIX, description="What Bates numbers begin with; it ends in no digit."
    )
    digits: int = Field(ge=1, le=MAX_DIGITS, description="How many digits follow; the same for a prefix and case.")
    start_at: int | None = Field(
        default=None, ge=1, le=10**MAX_DIGITS - 1, description="The first number of a prefix that is new to the case."
    )
    numbering: Numbering = Field(
        default=Numbering.DOCUMENT, strict=False, description="page: as many numbers as the document has pages."
    )
    exhibit_ids: Annotated[list[RowId], Field(min_length=1, max_length=MAX_EXHIBITS_BY_ID)] | None = None
    query: ExhibitSelection | None = Field(default=None, description="{} is the whole case.")
    properties: list[PropertyName] = Field(
        default_factory=list,
        max_length=MAX_PROPERTIES,
        description="Columns of the original load file to hand over too, by name; tags never are.",
    )

    @model_validator(mode="after")
    def _selects_in_one_way(self) -> Self:
        if (self.exhibit_ids is None) == (self.query is None):
            raise ValueError("give either exhibitIds or query")
        if len(set(map(normalised, self.properties))) < len(self.properties):
            raise ValueError("properties: a name is there twice; names are compared without case, spaces and signs")
        return self


class ProductionStep(Given):
    """How far a step got; `reason` says why it, or what undoes it, failed."""

    name: str
    status: SagaStepStatus
    reason: str | None
    updated_at: UtcMoment


class Production(Given):
    """A set of exhibits that is handed over as one. `leftToDo` says what somebody has to see to."""

    id: int
    case: str
    volume: str
    prefix: str
    digits: int
    numbering: Numbering
    status: ProductionStatus
    cancel_requested: bool
    failed_step: str | None
    reason: str | None
    documents: int | None = Field(description="How many; null until their numbers are reserved.")
    first_bates: str | None
    last_bates: str | None
    folder: str = Field(description="Where in the bucket the volume is; complete once the production is confirmed.")
    steps: list[ProductionStep]
    left_to_do: list[str]
    created_at: UtcMoment
    updated_at: UtcMoment


class ProductionSummary(Given):
    """A production in a list."""

    id: int
    case: str
    volume: str
    status: ProductionStatus
    documents: int | None
    first_bates: str | None
    last_bates: str | None
    created_at: UtcMoment


class ProductionPage(Given):
    """A page of productions, newest first."""

    items: list[ProductionSummary]
    next: Next


class ProducedDocument(Given):
    """An exhibit's numbers in a production; `position` is its place in the volume, from 0."""

    position: int
    exhibit_id: int
    control_number: str
    bates_begin: str
    bates_end: str
    status: DocumentStatus


class ProducedDocumentPage(Given):
    """A page of a production's documents, in the order of their numbers."""

    items: list[ProducedDocument]
    next: Next
