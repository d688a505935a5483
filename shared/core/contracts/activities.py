"""Activities: who did what to which object and when. Times are UTC."""

from __future__ import annotations

from pydantic import Field

from core.contracts.common import NextCursor, ResponseModel, UserName, UtcTimestamp

Detail = int | bool | str | None


class Activity(ResponseModel):
    """Something that was done."""

    id: int
    at: UtcTimestamp
    user_id: str | None = Field(description="The user who did it; null: the application, without a request.")
    user_name: UserName
    action: str = Field(
        description="What was done, such as `import.run`. Later versions add actions: show one that you do not know "
        "as it is."
    )
    object_type: str = Field(description="The type of the object: the part of `action` before the dot.")
    object_id: int = Field(description="The id of the object; of a device, your own number.")
    case_id: int | None = Field(description="The id of the case; null for what belongs to the whole tenant.")
    case: str | None = Field(description="The name of the case.")
    summary: dict[str, Detail] = Field(description="Ids, counts and codes, by name.")


class ActivityPage(ResponseModel):
    """A page of activities, newest first. None is ever changed or removed."""

    items: list[Activity]
    next: NextCursor
