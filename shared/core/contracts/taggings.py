"""Taggings over the API: exhibits and the tags that they get or lose."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from core.contracts.common import RequestModel, ResponseModel, RowId, TagName

MAX_TAGGED_EXHIBITS, MAX_TAGS = 1_000, 50


class TaggingRequest(RequestModel):
    """Every combination of these exhibits and tags. All exhibits must belong to one case."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"exhibitIds": [17, 18], "tags": ["Hot", "Hot\\Really Hot"]}]}
    )

    exhibit_ids: list[RowId] = Field(min_length=1, max_length=MAX_TAGGED_EXHIBITS)
    tags: list[TagName] = Field(
        min_length=1, max_length=MAX_TAGS, description=r"A nested tag is named by its full path: Hot\Really Hot."
    )


class TaggingsMade(ResponseModel):
    """The result of adding taggings. A tagging that existed already is kept unchanged and not counted as created."""

    exhibits: int = Field(description="The number of different exhibits in the request.")
    tags: int = Field(description="The number of different tags in the request.")
    created: int = Field(description="The number of taggings that were created.")


class TaggingsRemoved(ResponseModel):
    """The result of removing taggings."""

    removed: int = Field(description="The number of taggings that existed and were removed.")
