"""Jobs that tag all documents which match filters. Times are UTC."""

from __future__ import annotations

from typing import Any, Self

from pydantic import ConfigDict, Field, model_validator

from core.contracts.common import (
    Name,
    NextCursor,
    PrevCursor,
    RequestModel,
    ResponseModel,
    TagName,
    Total,
    UtcTimestamp,
)
from core.contracts.exhibit_queries import ExhibitSelection
from core.contracts.taggings import MAX_TAGS
from core.statuses import TaggingJobStatus

_PATH = r"A nested tag is named by its full path: Hot\Really Hot."


class NewTaggingJob(RequestModel):
    """The documents of a case, by the filters of `GET /exhibits`, and the tags that each of them gets and loses."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"case": "Smith v. Jones", "query": {"custodian": ["Ann Lee"]}, "add": ["Hot"], "remove": []}]
        }
    )

    case: Name = Field(description="The name of the case.")
    query: ExhibitSelection = Field(description="The documents; {} selects the whole case.")
    add: list[TagName] = Field(default_factory=list, max_length=MAX_TAGS, description=f"Tags to add. {_PATH}")
    remove: list[TagName] = Field(default_factory=list, max_length=MAX_TAGS, description=f"Tags to remove. {_PATH}")

    @model_validator(mode="after")
    def _has_tags(self) -> Self:
        if not self.add and not self.remove:
            raise ValueError("send a tag to add or to remove")
        return self


class TaggingJobSummary(ResponseModel):
    """A tagging job in a list."""

    id: int
    case: str
    status: TaggingJobStatus
    add: list[str] = Field(description="The tags that the documents get.")
    remove: list[str] = Field(description="The tags that the documents lose.")
    expected: int | None = Field(
        description="How many documents matched at the request; null if one search does not count them."
    )
    expected_is_lower_bound: bool = Field(description="Whether counting stopped at `expected`: more may match.")
    tagged: int = Field(description="Documents that matched when the job reached them; it tagged each.")
    created: int = Field(description="Tags that documents got; one that a document had before is not counted.")
    removed: int = Field(description="Tags that the job removed from documents.")
    remaining: int | None = Field(
        description="Documents that matched at the end of the job and lacked a tag that it adds, or had one that it "
        "removes: they were added or changed while it ran. A job with the same filters tags them. null until the "
        "status is `completed`."
    )
    created_by: str
    created_at: UtcTimestamp
    finished_at: UtcTimestamp | None


class TaggingJob(TaggingJobSummary):
    """A tagging job."""

    query: dict[str, Any] = Field(description="The filters of the request.")
    imports_beside: list[int] = Field(
        description="Imports of the case, at most 100, that were writing or being undone while the remaining documents "
        "were counted; `remaining` may lack documents of them."
    )


class TaggingJobPage(ResponseModel):
    """A page of tagging jobs, newest first."""

    items: list[TaggingJobSummary]
    next: NextCursor
    prev: PrevCursor
    total: Total = None
